//! One view of an event, whatever its header family.

use base::guid::Guid;
use serde::{Deserialize, Serialize};

use super::items::Items;
use super::walk::RawEvent;
use crate::layout::header::{
    ClassicHeader, CompactHeader, EventHeader, HeaderFamily, InstanceHeader, KernelHeader, ObsoleteTimedHeader,
    SystemHeader, event_flags,
};

/// What the file says about all of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileContext {
    /// Pointer size of the recording system, for events that do not say.
    pub pointer_size: u8,
    /// Whether the session lived in one process, so that CPU times are processor times.
    pub private_session: bool,
}

/// CPU time of the writing thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuTime {
    /// Not recorded.
    None,
    /// Kernel and user time in timer ticks.
    KernelUser(u32, u32),
    /// Ticks of a private session.
    Processor(u64),
}

/// The instance part of a classic header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The instance.
    pub id: u32,
    /// Its parent.
    pub parent_id: u32,
    /// The class of the parent.
    pub parent_guid: Guid,
}

/// The parts of a WPP message header that no other family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// Number of the message in its session.
    pub sequence: Option<u32>,
    /// Component that stands in the place of the message class.
    pub component_id: Option<u32>,
}

/// An event with the fields of all header families; `None` is "this header has no such field".
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// The writing thread.
    pub thread_id: Option<u32>,
    /// The writing process.
    pub process_id: Option<u32>,
    /// The severity.
    pub level: Option<u8>,
    /// The task.
    pub task: Option<u16>,
    /// The event log channel.
    pub channel: Option<u8>,
    /// Bit mask of the categories.
    pub keywords: Option<u64>,
    /// The activity; zero for none.
    pub activity_id: Guid,
    /// CPU time of the writing thread.
    pub cpu_time: CpuTime,
    /// The instance part.
    pub instance: Option<Instance>,
    /// The WPP part.
    pub message: Option<MessageInfo>,
    /// The number of a timed header.
    pub number: Option<u32>,
    /// Performance counters of a kernel header, 8 bytes each.
    pub counters: &'a [u8],
    /// The PEBS index of a kernel header: 8 bytes, or none.
    pub pebs_index: &'a [u8],
    /// Extended data items.
    pub items: Items<'a>,
    /// Whether the chain of items breaks off, so that nobody knows where the payload starts.
    pub items_damaged: bool,
    /// Whether the payload is one UTF-16 string.
    pub string_only: bool,
    /// Everything behind header and items.
    pub payload: &'a [u8],
}

/// The number of a thread or process that stands for none.
const NO_ID: u32 = u32::MAX;

pub(super) fn known_id(id: u32) -> Option<u32> {
    (id != NO_ID).then_some(id)
}

impl<'a> Event<'a> {
    /// Reads the header of an event.
    #[inline]
    pub fn of(raw: &RawEvent<'a>, file: &FileContext) -> Event<'a> {
        // Filled in place: copying the bare event field by field costs as much as reading the header.
        let mut event = Event {
            thread_id: None,
            process_id: None,
            level: None,
            task: None,
            channel: None,
            keywords: None,
            activity_id: Guid::ZERO,
            cpu_time: CpuTime::None,
            instance: None,
            message: None,
            number: None,
            counters: &[],
            pebs_index: &[],
            items: Items::default(),
            items_damaged: false,
            string_only: false,
            payload: raw.bytes.get(raw.family.header_len()..).unwrap_or_default(),
        };
        match raw.family {
            family if family.is_event() => event.read_event_header(raw, file),
            family if family.is_kernel() => event.read_hook_header(raw),
            family if family.is_classic() => event.read_full_header(raw, file),
            HeaderFamily::Message => event.read_message_header(raw),
            HeaderFamily::Timed => {
                event.number = raw.header::<ObsoleteTimedHeader>().map(|header| header.event_id.get());
            }
            _ => {}
        }
        event
    }

    #[inline]
    fn read_event_header(&mut self, raw: &RawEvent<'a>, file: &FileContext) {
        let Some(header) = raw.header::<EventHeader>() else { return };
        let flags = header.flags.get();
        self.thread_id = known_id(header.thread_id.get());
        self.process_id = known_id(header.process_id.get());
        self.level = Some(header.level);
        self.task = Some(header.task.get());
        self.channel = Some(header.channel);
        self.keywords = Some(header.keywords.get());
        self.activity_id = Guid(header.activity_id);
        self.string_only = flags & event_flags::STRING_ONLY != 0;
        if flags & event_flags::NO_CPUTIME == 0 {
            let private = file.private_session || flags & event_flags::PRIVATE_SESSION != 0;
            self.cpu_time = cpu_time(header.cpu_time.get(), private);
        }
        let items = Items::of(raw);
        if !items.is_empty() {
            match items.clone().payload() {
                Some(payload) => (self.items, self.payload) = (items, payload),
                None => self.items_damaged = true,
            }
        }
    }

    #[inline]
    fn read_hook_header(&mut self, raw: &RawEvent<'a>) {
        use HeaderFamily::{PerfInfo32, PerfInfo64, System32, System64};
        let Some(hook) = raw.header::<KernelHeader>() else { return };
        let (counters, rest) = self.payload.split_at_checked(8 * hook.counters()).unwrap_or_default();
        let pebs_len = if hook.has_pebs_index() { 8 } else { 0 };
        (self.pebs_index, self.payload) = rest.split_at_checked(pebs_len).unwrap_or_default();
        self.counters = counters;
        if matches!(raw.family, PerfInfo32 | PerfInfo64) {
            return;
        }
        if let Some(header) = raw.header::<CompactHeader>() {
            self.thread_id = known_id(header.thread_id.get());
            self.process_id = known_id(header.process_id.get());
        }
        if let Some(header) = raw.header::<SystemHeader>().filter(|_| matches!(raw.family, System32 | System64)) {
            self.cpu_time = CpuTime::KernelUser(header.kernel_time.get(), header.user_time.get());
        }
    }

    #[inline]
    fn read_full_header(&mut self, raw: &RawEvent<'a>, file: &FileContext) {
        let Some(header) = raw.header::<ClassicHeader>() else { return };
        self.thread_id = known_id(header.thread_id.get());
        self.process_id = known_id(header.process_id.get());
        self.level = Some(header.level);
        self.cpu_time = cpu_time(header.cpu_time.get(), file.private_session);
        self.instance = raw.header::<InstanceHeader>().filter(|_| raw.family.is_instance()).map(|header| Instance {
            id: header.instance_id.get(),
            parent_id: header.parent_instance_id.get(),
            parent_guid: Guid(header.parent_guid),
        });
    }

    #[inline]
    fn read_message_header(&mut self, raw: &RawEvent<'a>) {
        let Some(options) = raw.message() else { return };
        let (thread, process) = options.thread_and_process.unzip();
        self.thread_id = thread.and_then(known_id);
        self.process_id = process.and_then(known_id);
        self.message = Some(MessageInfo { sequence: options.sequence, component_id: options.component_id });
        self.payload = options.rest;
    }
}

fn cpu_time(raw: u64, private: bool) -> CpuTime {
    if private {
        return CpuTime::Processor(raw);
    }
    let [kernel, user]: [[u8; 4]; 2] = zerocopy::transmute!(raw.to_le_bytes());
    CpuTime::KernelUser(u32::from_le_bytes(kernel), u32::from_le_bytes(user))
}
