//! The header event (hook 0000) and the other group-0 events.

use super::kernel::{Kernel, perfinfo64, system32, system64};
use super::payload::{Guid, OnDisk, Payload, payload};
use super::{FREQUENCY, START, T0};

/// TIME_ZONE_INFORMATION, 0xAC bytes. Dates are the eight words of a SYSTEMTIME.
#[derive(Clone, Debug, Default)]
pub struct TimeZone {
    /// Minutes; UTC = local + bias.
    pub bias: i32,
    /// At most 31 UTF-16 units.
    pub standard_name: String,
    pub standard_date: [u16; 8],
    pub standard_bias: i32,
    /// At most 31 UTF-16 units.
    pub daylight_name: String,
    pub daylight_date: [u16; 8],
    pub daylight_bias: i32,
}

impl TimeZone {
    fn write(&self, to: Payload) -> Payload {
        let to = fixed_utf16(to.i32(self.bias), &self.standard_name);
        let to = self.standard_date.iter().fold(to, |to, &word| to.u16(word)).i32(self.standard_bias);
        let to = fixed_utf16(to, &self.daylight_name);
        self.daylight_date.iter().fold(to, |to, &word| to.u16(word)).i32(self.daylight_bias)
    }
}

/// 32 UTF-16 units, zero-filled.
fn fixed_utf16(to: Payload, text: &str) -> Payload {
    let units = text.encode_utf16().count();
    assert!(units < 32, "a time zone's name has 31 UTF-16 units");
    to.utf16(text).zeros(2 * (32 - units))
}

/// The header event, with the fields of TRACE_LOGFILE_HEADER.
#[derive(Clone, Debug)]
pub struct Header {
    /// 8: 64-bit layout and SYSTEM64 header; 4: 32-bit layout and SYSTEM32. [`Header::layout32`] sets both widths.
    layout: u8,
    /// Bytes; 0x1000.
    pub buffer_size: u32,
    /// Windows major and minor, then file layout major and minor; 10.0, 1.5.
    pub version: [u8; 4],
    /// OS build; 26100.
    pub build: u32,
    /// 1.
    pub processors: u32,
    /// FILETIME, 0 = not closed; ten seconds after [`START`].
    pub end_time: i64,
    /// 100 ns units; 156250.
    pub timer_resolution: u32,
    pub maximum_file_size: u32,
    /// 1, sequential.
    pub log_file_mode: u32,
    /// The number of buffers in the file unless set.
    pub buffers_written: Option<u32>,
    /// 1.
    pub start_buffers: u32,
    /// 8, or 4 in the 32-bit layout.
    pub pointer_size: u32,
    pub events_lost: u32,
    /// 3000.
    pub cpu_mhz: u32,
    /// The words in the places of LoggerName and LogFileName, which are not names on disk; 0.
    pub name_words: [u64; 2],
    pub time_zone: TimeZone,
    /// FILETIME; one hour before [`START`].
    pub boot_time: i64,
    /// Ticks per second; [`FREQUENCY`].
    pub frequency: i64,
    /// FILETIME at the header event; [`START`].
    pub start_time: i64,
    /// ReservedFlags: 1 QPC (default), 2 system time, 3 CPU cycles, 0 before Vista.
    pub clock: u32,
    pub buffers_lost: u32,
    /// `synth`.
    pub session: String,
    /// `C:\synth.etl`.
    pub file: String,
    /// Raw time of the header event; [`T0`].
    pub time: i64,
    pub tid: u32,
    pub pid: u32,
}

/// The header of a small closed 64-bit trace of one CPU, see the defaults of [`Header`]'s fields.
pub fn header() -> Header {
    Header {
        layout: 8,
        buffer_size: 0x1000,
        version: [10, 0, 1, 5],
        build: 26_100,
        processors: 1,
        end_time: START + 10 * 10_000_000,
        timer_resolution: 156_250,
        maximum_file_size: 0,
        log_file_mode: 1,
        buffers_written: None,
        start_buffers: 1,
        pointer_size: 8,
        events_lost: 0,
        cpu_mhz: 3000,
        name_words: [0, 0],
        time_zone: TimeZone::default(),
        boot_time: START - 3600 * 10_000_000,
        frequency: FREQUENCY,
        start_time: START,
        clock: 1,
        buffers_lost: 0,
        session: "synth".to_owned(),
        file: "C:\\synth.etl".to_owned(),
        time: T0,
        tid: 0,
        pid: 0,
    }
}

impl Header {
    setters! {
        buffer_size: u32, version: [u8; 4], build: u32, processors: u32, end_time: i64, timer_resolution: u32,
        maximum_file_size: u32, log_file_mode: u32, start_buffers: u32, pointer_size: u32, events_lost: u32,
        cpu_mhz: u32, name_words: [u64; 2], time_zone: TimeZone, boot_time: i64, frequency: i64, start_time: i64,
        clock: u32, buffers_lost: u32, time: i64, tid: u32, pid: u32,
    }

    /// 32-bit layout, SYSTEM32 header, PointerSize 4.
    #[must_use]
    pub fn layout32(mut self) -> Self {
        self.layout = 4;
        self.pointer_size = 4;
        self
    }

    /// Another BuffersWritten than the true one.
    #[must_use]
    pub fn buffers_written(mut self, count: u32) -> Self {
        self.buffers_written = Some(count);
        self
    }

    /// As after a crash or while the session runs: EndTime and BuffersWritten 0.
    #[must_use]
    pub fn not_closed(self) -> Self {
        self.end_time(0).buffers_written(0)
    }

    #[must_use]
    pub fn session(mut self, name: &str) -> Self {
        name.clone_into(&mut self.session);
        self
    }

    #[must_use]
    pub fn file(mut self, name: &str) -> Self {
        name.clone_into(&mut self.file);
        self
    }

    /// The event; `buffers` is what BuffersWritten says unless it was set.
    pub fn event(&self, buffers: u32) -> Kernel {
        let event = if self.layout == 8 { system64(0x0000, self.time) } else { system32(0x0000, self.time) };
        event.tid(self.tid).pid(self.pid).payload(self.logfile_header(buffers))
    }

    fn logfile_header(&self, buffers: u32) -> Payload {
        let head = payload().u32(self.buffer_size).bytes(&self.version).u32(self.build).u32(self.processors);
        let head = head.i64(self.end_time).u32(self.timer_resolution).u32(self.maximum_file_size);
        let head = head.u32(self.log_file_mode).u32(self.buffers_written.unwrap_or(buffers)).u32(self.start_buffers);
        let head = head.u32(self.pointer_size).u32(self.events_lost).u32(self.cpu_mhz);
        let head = self.name_words.iter().fold(head, |head, &word| self.word(head, word));
        let head = self.time_zone.write(head).zeros(4);
        let head = head.i64(self.boot_time).i64(self.frequency).i64(self.start_time);
        head.u32(self.clock).u32(self.buffers_lost).wstr(&self.session).wstr(&self.file)
    }

    fn word(&self, to: Payload, word: u64) -> Payload {
        if self.layout == 8 { to.u64(word) } else { to.u32(u32::try_from(word).expect("32-bit layout")) }
    }
}

/// Hook 0050, version 0: partition type, offset of the QPC from the root partition's, partition and parent.
pub fn partition_info(time: i64, kind: u32, qpc_offset: i64, partition: Guid, parent: Guid) -> Kernel {
    let body = payload().u16(0).u16(0).u32(kind).i64(qpc_offset).guid(partition).guid(parent);
    system64(0x0050, time).payload(body)
}

/// Hook 0052: raw time of the last drop per CPU, 0 = none.
pub fn last_dropped(time: i64, times: &[i64]) -> Kernel {
    let count = u32::try_from(times.len()).expect("few CPUs");
    perfinfo64(0x0052, time).payload(times.iter().fold(payload().u32(count).u32(0), |body, &time| body.i64(time)))
}

/// Hook 0042: build lab text.
pub fn build_lab(time: i64, text: &str) -> Kernel {
    perfinfo64(0x0042, time).payload(payload().astr(text))
}

/// Hook 0040: the debug id of a traced binary.
pub fn debug_id(time: i64, signature: Guid, age: u32, pdb: &str) -> Kernel {
    perfinfo64(0x0040, time).payload(payload().guid(signature).u32(age).astr(pdb))
}

/// Hook 0005 (masks in force after this point) or 0020 (at the end); kernel event version 0x0050_0006.
pub fn group_masks(hook: u16, time: i64, masks: [u32; 8]) -> Kernel {
    system64(hook, time).payload(masks.iter().fold(payload(), |body, &mask| body.u32(mask)).u32(0x0050_0006))
}

/// Hook 0008: rundown complete, no payload.
pub fn rundown_complete(time: i64) -> Kernel {
    perfinfo64(0x0008, time)
}

/// The first event of a file, as bytes, for buffers that are put together by hand.
impl OnDisk for Header {
    fn on_disk(&self) -> Vec<u8> {
        self.event(1).on_disk()
    }
}
