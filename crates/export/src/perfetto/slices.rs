//! Slices: activities, and operations on files, each on a lane of its process.

use base::error::Result;
use base::guid::Guid;
use base::progress::stop_if_cancelled;

use super::lanes::{Group, Lanes};
use super::packets::{Packets, Sequence, id};
use super::pauses::{SLICE_BEGIN, SLICE_END, TRACK_EVENT, TRACK_UUID, TYPE};
use super::tracks::Tracks;
use crate::cut::cut;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::pairs::{self, Mark};
use crate::protobuf::Message;

/// Fields of `TrackEvent`.
const DEBUG_ANNOTATIONS: u64 = 4;
const CATEGORIES: u64 = 22;
const EVENT_NAME: u64 = 23;
/// Fields of `DebugAnnotation`.
const UINT: u64 = 3;
const TEXT: u64 = 6;
const ANNOTATION_NAME: u64 = 10;
/// Bytes of a name.
const MOST_NAME: usize = 256;

/// Writes the activities whose start is asked for, a group of lanes for each provider in a process; how many.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read, or the packets cannot be written.
pub(super) fn activities(
    opened: &Opened<'_>,
    packets: &mut Packets<'_, '_>,
    tracks: &mut Tracks,
    exported: &mut Exported,
) -> Result<u64> {
    let found = pairs::activities(opened)?;
    found.warn("activities", exported);
    let mut slices = Slices::new("activity", packets, tracks);
    for (start, stop) in found.iter() {
        stop_if_cancelled(opened.source.progress())?;
        let provider = found.provider(start).unwrap_or("Activities");
        let related = start.detail.0;
        let mut event = slices.begin(found.name(start).unwrap_or("Activity"), start);
        event = said(event, "activity_id", Some(&start.key.activity.to_string()));
        event = said(event, "related_activity_id", related.map(|related| related.to_string()).as_deref());
        if stop.process != start.process {
            event = number(event, "stop_process_id", stop.process);
        }
        if stop.thread != start.thread {
            event = number(event, "stop_thread_id", stop.thread);
        }
        let own: Vec<Guid> = [start.key.activity].into_iter().chain(related).collect();
        slices.put(provider, start, stop.time, &own, event)?;
    }
    Ok(slices.done(exported))
}

/// Writes the operations on files whose begin is asked for and whose end is recorded, a group of lanes for each process; how many.
///
/// # Errors
/// As [`activities`].
pub(super) fn file_operations(
    opened: &Opened<'_>,
    packets: &mut Packets<'_, '_>,
    tracks: &mut Tracks,
    exported: &mut Exported,
) -> Result<u64> {
    let found = pairs::file_operations(opened, exported)?;
    let mut slices = Slices::new("file", packets, tracks);
    for (begin, end) in found.pairs.iter() {
        stop_if_cancelled(opened.source.progress())?;
        let mut event = slices.begin(found.pairs.name(begin).unwrap_or("Operation"), begin);
        event = said(event, "path", found.path(begin));
        event = number(event, "offset", begin.detail.offset);
        event = number(event, "bytes", begin.detail.bytes.and_then(|bytes| i64::try_from(bytes).ok()));
        // The lower half is the number as Windows defines it.
        let status = end.detail.status.map(|status| format!("{:#010x}", status & i64::from(u32::MAX)));
        event = said(event, "status", status.as_deref());
        slices.put("File I/O", begin, end.time, &[], event)?;
    }
    Ok(slices.done(exported))
}

struct Slices<'a, 'p, 'o> {
    category: &'static str,
    packets: &'a mut Packets<'p, 'o>,
    tracks: &'a mut Tracks,
    lanes: Lanes,
    /// The tracks of the lanes.
    uuids: Vec<u64>,
    count: u64,
    left_out: u64,
}

impl<'a, 'p, 'o> Slices<'a, 'p, 'o> {
    fn new(category: &'static str, packets: &'a mut Packets<'p, 'o>, tracks: &'a mut Tracks) -> Slices<'a, 'p, 'o> {
        Slices { category, packets, tracks, lanes: Lanes::default(), uuids: Vec::new(), count: 0, left_out: 0 }
    }

    /// An event that begins a slice, with its process and thread.
    fn begin<D>(&self, name: &str, begin: &Mark<D>) -> Message {
        let event = Message::default().value(TYPE, SLICE_BEGIN).bytes(CATEGORIES, self.category.as_bytes());
        let event = event.bytes(EVENT_NAME, cut(name, MOST_NAME).as_bytes());
        number(number(event, "process_id", begin.process), "thread_id", begin.thread)
    }

    /// Writes a slice.
    fn put<D>(&mut self, name: &str, begin: &Mark<D>, to: i64, activities: &[Guid], event: Message) -> Result<()> {
        let pid = id(begin.process);
        let group: Group = (begin.machine, pid, begin.key.provider.filter(|_| !activities.is_empty()));
        let Some(lane) = self.lanes.place(group, (begin.time, to), activities) else {
            self.left_out = self.left_out.saturating_add(1);
            return Ok(());
        };
        let track = if let Some(track) = self.uuids.get(lane) {
            *track
        } else {
            let track = self.tracks.add(self.packets, begin.machine, pid, cut(name, MOST_NAME))?;
            self.uuids.push(track);
            track
        };
        let end = Message::default().value(TYPE, SLICE_END);
        for (time, event) in [(begin.time, event), (to, end)] {
            let fields = Message::default().message(TRACK_EVENT, &event.value(TRACK_UUID, track));
            self.packets.put(Sequence::Tracks, begin.machine, Some(time), fields)?;
        }
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    fn done(self, exported: &mut Exported) -> u64 {
        let what = match self.category {
            "file" => "operations on files are left out: too many overlap",
            _ => "activities are left out: too many overlap",
        };
        exported.warn_of(self.left_out, what);
        self.count
    }
}

/// Adds an annotation with a text, where there is one.
fn said(event: Message, name: &str, text: Option<&str>) -> Message {
    let Some(text) = text else { return event };
    event.message(DEBUG_ANNOTATIONS, &annotation(name).bytes(TEXT, text.as_bytes()))
}

/// Adds an annotation with a number, where there is one that is not negative.
fn number(event: Message, name: &str, number: Option<i64>) -> Message {
    let Some(number) = number.and_then(|number| u64::try_from(number).ok()) else { return event };
    event.message(DEBUG_ANNOTATIONS, &annotation(name).value(UINT, number))
}

fn annotation(name: &str) -> Message {
    Message::default().bytes(ANNOTATION_NAME, name.as_bytes())
}
