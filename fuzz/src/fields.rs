//! Where the known fields of a trace stand, by the published layouts and nothing of the program.

/// A field of a buffer header or an event header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, behind that of the header.
    pub name: &'static str,
    /// The buffer, counted from 0.
    pub buffer: usize,
    /// File offset.
    pub at: usize,
    /// Bytes.
    pub len: usize,
}

/// A buffer of a trace and its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSpan {
    /// Where the buffer lies in the file.
    pub bytes: std::ops::Range<usize>,
    /// Where the events of an uncompressed buffer lie in the file, without alignment.
    pub events: Vec<std::ops::Range<usize>>,
}

/// Name, offset and length of a field.
type Layout = [(&'static str, usize, usize)];

const HEADER: usize = 0x48;

const BUFFER: &Layout = &[
    ("buffer.BufferSize", 0, 4),
    ("buffer.SavedOffset", 4, 4),
    ("buffer.CurrentOffset", 8, 4),
    ("buffer.ReferenceCount", 12, 4),
    ("buffer.TimeStamp", 16, 8),
    ("buffer.SequenceNumber", 24, 8),
    ("buffer.ClockType", 32, 8),
    ("buffer.ProcessorIndex", 40, 2),
    ("buffer.LoggerId", 42, 2),
    ("buffer.State", 44, 4),
    ("buffer.Offset", 48, 4),
    ("buffer.BufferFlag", 52, 2),
    ("buffer.BufferType", 54, 2),
    ("buffer.StartTime", 56, 8),
    ("buffer.StartPerfClock", 64, 8),
];

const EVENT: &Layout = &[
    ("event.Size", 0, 2),
    ("event.HeaderType", 2, 1),
    ("event.MarkerFlags", 3, 1),
    ("event.Flags", 4, 2),
    ("event.EventProperty", 6, 2),
    ("event.ThreadId", 8, 4),
    ("event.ProcessId", 12, 4),
    ("event.TimeStamp", 16, 8),
    ("event.ProviderId", 24, 16),
    ("event.Id", 40, 2),
    ("event.Version", 42, 1),
    ("event.Channel", 43, 1),
    ("event.Level", 44, 1),
    ("event.Opcode", 45, 1),
    ("event.Task", 46, 2),
    ("event.Keyword", 48, 8),
    ("event.ProcessorTime", 56, 8),
    ("event.ActivityId", 64, 16),
    ("event.Payload", 80, 8),
    ("event.Payload", 88, 8),
];

const SYSTEM: &Layout = &[
    ("system.Version", 0, 2),
    ("system.HeaderType", 2, 1),
    ("system.MarkerFlags", 3, 1),
    ("system.Size", 4, 2),
    ("system.HookId", 6, 2),
    ("system.ThreadId", 8, 4),
    ("system.ProcessId", 12, 4),
    ("system.SystemTime", 16, 8),
    ("system.KernelTime", 24, 4),
    ("system.UserTime", 28, 4),
];

/// The header event's own payload, behind its SYSTEM header; the layout for 64 bits.
const LOGFILE: &Layout = &[
    ("logfile.BufferSize", 32, 4),
    ("logfile.Version", 36, 4),
    ("logfile.ProviderVersion", 40, 4),
    ("logfile.NumberOfProcessors", 44, 4),
    ("logfile.EndTime", 48, 8),
    ("logfile.TimerResolution", 56, 4),
    ("logfile.MaximumFileSize", 60, 4),
    ("logfile.LogFileMode", 64, 4),
    ("logfile.BuffersWritten", 68, 4),
    ("logfile.StartBuffers", 72, 4),
    ("logfile.PointerSize", 76, 4),
    ("logfile.EventsLost", 80, 4),
    ("logfile.CpuSpeedInMHz", 84, 4),
    ("logfile.LoggerName", 88, 8),
    ("logfile.LogFileName", 96, 8),
    ("logfile.TimeZone", 104, 8),
    ("logfile.BootTime", 280, 8),
    ("logfile.PerfFreq", 288, 8),
    ("logfile.StartTime", 296, 8),
    ("logfile.ReservedFlags", 304, 4),
    ("logfile.BuffersLost", 308, 4),
    ("logfile.Names", 312, 8),
];

const COMPACT: &Layout = &[
    ("compact.Version", 0, 2),
    ("compact.HeaderType", 2, 1),
    ("compact.MarkerFlags", 3, 1),
    ("compact.Size", 4, 2),
    ("compact.HookId", 6, 2),
    ("compact.ThreadId", 8, 4),
    ("compact.ProcessId", 12, 4),
    ("compact.SystemTime", 16, 8),
];

const PERFINFO: &Layout = &[
    ("perfinfo.Version", 0, 2),
    ("perfinfo.HeaderType", 2, 1),
    ("perfinfo.MarkerFlags", 3, 1),
    ("perfinfo.Size", 4, 2),
    ("perfinfo.HookId", 6, 2),
    ("perfinfo.SystemTime", 8, 8),
    ("perfinfo.Payload", 16, 8),
];

const CLASSIC: &Layout = &[
    ("classic.Size", 0, 2),
    ("classic.HeaderType", 2, 1),
    ("classic.MarkerFlags", 3, 1),
    ("classic.Opcode", 4, 1),
    ("classic.Level", 5, 1),
    ("classic.Version", 6, 2),
    ("classic.ThreadId", 8, 4),
    ("classic.ProcessId", 12, 4),
    ("classic.TimeStamp", 16, 8),
    ("classic.Guid", 24, 16),
    ("classic.ProcessorTime", 40, 8),
    ("classic.Payload", 48, 8),
];

const MESSAGE: &Layout = &[
    ("message.Size", 0, 2),
    ("message.Reserved", 2, 1),
    ("message.MarkerFlags", 3, 1),
    ("message.Number", 4, 2),
    ("message.OptionFlags", 6, 2),
    ("message.Options", 8, 8),
];

const OPAQUE: &Layout = &[("opaque.Size", 0, 2), ("opaque.HeaderType", 2, 1), ("opaque.MarkerFlags", 3, 1)];

/// What the header of an event looks like, and where in it the size stands.
fn layout(event: &[u8]) -> Option<(&'static Layout, usize)> {
    Some(match (*event.get(3)?, event[2]) {
        (0x90, _) => (MESSAGE, 0),
        (0xC0, 0x01 | 0x02) => (SYSTEM, 4),
        (0xC0, 0x03 | 0x04) => (COMPACT, 4),
        (0xC0, 0x10 | 0x11) => (PERFINFO, 4),
        (0xC0, 0x0A | 0x0B | 0x14 | 0x15) => (CLASSIC, 0),
        (0xC0, 0x12 | 0x13) => (EVENT, 0),
        (0xC0, 0x0C..=0x0F) => (OPAQUE, 0),
        _ => return None,
    })
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The buffers of a whole trace, as long as each says where the next one is.
pub fn buffers(trace: &[u8]) -> Vec<BufferSpan> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(size) = number(trace, at).map(u32::from_le_bytes) {
        let Some(end) = at.checked_add(size as usize).filter(|&end| size as usize >= HEADER && end <= trace.len())
        else {
            break;
        };
        found.push(BufferSpan { bytes: at..end, events: events(trace, at..end) });
        at = end;
    }
    found
}

fn events(trace: &[u8], buffer: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let start = buffer.start;
    let used = number(trace, start + 48).map_or(0, u32::from_le_bytes) as usize;
    let is_compressed = trace[start + 52] & 0x40 != 0;
    let (mut events, mut at) = (Vec::new(), HEADER);
    while !is_compressed && at < used.min(buffer.len()) {
        let event = &trace[start + at..buffer.end];
        let size = layout(event).and_then(|(_, size_at)| number(event, size_at)).map_or(0, u16::from_le_bytes);
        if size < 4 || usize::from(size) > event.len() {
            break;
        }
        events.push(start + at..start + at + usize::from(size));
        at = (at + usize::from(size)).next_multiple_of(8);
    }
    events
}

/// All known fields of a trace: those of each buffer header, those of each event's header, and those of the header event.
pub fn fields(trace: &[u8]) -> Vec<Field> {
    let mut all = Vec::new();
    for (buffer, span) in buffers(trace).into_iter().enumerate() {
        add(&mut all, BUFFER, buffer, span.bytes.start..span.bytes.end);
        for (number, event) in span.events.into_iter().enumerate() {
            let is_header = (buffer, number) == (0, 0);
            let (layout, _) = layout(&trace[event.clone()]).unwrap_or((OPAQUE, 0));
            add(&mut all, layout, buffer, event.clone());
            if is_header {
                add(&mut all, LOGFILE, buffer, event);
            }
        }
    }
    all
}

fn add(all: &mut Vec<Field>, layout: &Layout, buffer: usize, span: std::ops::Range<usize>) {
    let within = layout.iter().filter(|(_, at, len)| at + len <= span.len());
    all.extend(within.map(|&(name, at, len)| Field { name, buffer, at: span.start + at, len }));
}

/// Numbers at which something may turn, for a field of so many bytes that has this value.
pub fn turning_points(old: u64, width: usize) -> [u64; 16] {
    let bits = (8 * width.min(8)) as u32;
    let most = u64::MAX >> (64 - bits);
    let half = most >> 1;
    let fixed = [0, 1, 2, 7, 8, most, most - 1, half, half + 1, 0x48];
    let near = [old.wrapping_add(1), old.wrapping_sub(1), old.wrapping_add(8), old.wrapping_sub(8), old << 1, old >> 1];
    let mut points = fixed.into_iter().chain(near);
    std::array::from_fn(|_| points.next().unwrap_or(0) & most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_points_fit_into_the_field() {
        assert_eq!(turning_points(0xFF, 1), [0, 1, 2, 7, 8, 255, 254, 127, 128, 0x48, 0, 254, 7, 247, 254, 127]);
        assert!(turning_points(u64::MAX, 2).iter().all(|&value| value <= 0xFFFF));
        assert_eq!(turning_points(5, 8)[5], u64::MAX);
    }
    use crate::synth::{T0, buffer, event64, header, perfinfo64, trace};

    #[test]
    fn the_fields_of_a_trace_are_where_its_writer_put_them() {
        let events = buffer(0x1000).sequence(7).event(perfinfo64(0x0F22, T0 + 5).payload([1; 8]));
        let trace = trace(header().events_lost(0x0506)).buffer(events.event(event64([9; 16], 3, 0, T0 + 6)));
        let bytes = trace.to_bytes();
        let spans = buffers(&bytes);
        assert_eq!(spans.len(), 2);
        assert_eq!(spans[1].events, [0x1048..0x1060, 0x1060..0x10B0]);
        assert_eq!(spans[1].events[1].start, trace.event_position(1, 1));
        let value = |name, buffer| {
            let all = fields(&bytes);
            let field = all.iter().find(|field| (field.name, field.buffer) == (name, buffer)).expect("it is known");
            bytes[field.at..field.at + field.len].to_vec()
        };
        assert_eq!(value("buffer.SequenceNumber", 1), 7_i64.to_le_bytes());
        assert_eq!(value("perfinfo.SystemTime", 1), (T0 + 5).to_le_bytes());
        assert_eq!(value("event.ProviderId", 1), [9; 16]);
        assert_eq!(value("event.Id", 1), 3_u16.to_le_bytes());
        assert_eq!(value("logfile.EventsLost", 0), 0x0506_u32.to_le_bytes());
        assert_eq!(value("logfile.LogFileMode", 0), 1_u32.to_le_bytes());
        assert_eq!(value("logfile.StartTime", 0), crate::synth::START.to_le_bytes());
    }
}
