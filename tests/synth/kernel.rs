//! Events with a hook id: SYSTEM, COMPACT and PERFINFO headers, written by the kernel.

use super::payload::{OnDisk, Payload, len16, payload};

/// How much of the header is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Thread, process, time, CPU times: 0x20 bytes.
    System,
    /// Thread, process, time: 0x18 bytes.
    Compact,
    /// Time only: 0x10 bytes.
    PerfInfo,
}

/// An event of header type 01 to 04, 10 or 11.
#[derive(Clone, Debug)]
#[allow(clippy::struct_field_names, reason = "KernelTime is the format's name")]
pub struct Kernel {
    form: Form,
    kind: u8,
    /// Byte 01: extension flags. [`Kernel::pmc`] and [`Kernel::pebs`] set their bits.
    pub extension: u8,
    extra: Payload,
    /// Group in the high byte, type in the low byte.
    pub hook: u16,
    /// Byte 00, version of the payload; 2.
    pub version: u8,
    /// Raw clock.
    pub time: i64,
    pub tid: u32,
    pub pid: u32,
    pub kernel_time: u32,
    pub user_time: u32,
    /// Total size where it shall not be the true one.
    pub size: Option<u16>,
    payload: Vec<u8>,
}

/// SYSTEM32, type 01.
pub fn system32(hook: u16, time: i64) -> Kernel {
    Kernel::new(Form::System, 0x01, hook, time)
}

/// SYSTEM64, type 02.
pub fn system64(hook: u16, time: i64) -> Kernel {
    Kernel::new(Form::System, 0x02, hook, time)
}

/// COMPACT32, type 03.
pub fn compact32(hook: u16, time: i64) -> Kernel {
    Kernel::new(Form::Compact, 0x03, hook, time)
}

/// COMPACT64, type 04.
pub fn compact64(hook: u16, time: i64) -> Kernel {
    Kernel::new(Form::Compact, 0x04, hook, time)
}

/// PERFINFO32, type 10.
pub fn perfinfo32(hook: u16, time: i64) -> Kernel {
    Kernel::new(Form::PerfInfo, 0x10, hook, time)
}

/// PERFINFO64, type 11.
pub fn perfinfo64(hook: u16, time: i64) -> Kernel {
    Kernel::new(Form::PerfInfo, 0x11, hook, time)
}

impl Kernel {
    fn new(form: Form, kind: u8, hook: u16, time: i64) -> Self {
        Self {
            form,
            kind,
            extension: 0,
            extra: payload(),
            hook,
            version: 2,
            time,
            tid: 0,
            pid: 0,
            kernel_time: 0,
            user_time: 0,
            size: None,
            payload: Vec::new(),
        }
    }

    setters! { extension: u8, version: u8, tid: u32, pid: u32, kernel_time: u32, user_time: u32 }

    /// Counters between header and payload, at most 7, and their number in the extension flags. Where PEBS is present
    /// too, the two lie in the order of the calls: their order on disk is not documented.
    #[must_use]
    pub fn pmc(mut self, counters: &[u64]) -> Self {
        let count = u8::try_from(counters.len()).ok().filter(|&count| count < 8);
        self.extension |= count.expect("the extension flags count up to 7 counters");
        self.extra = counters.iter().fold(self.extra, |extra, &counter| extra.u64(counter));
        self
    }

    /// The PEBS index between header and payload, and its extension flag.
    #[must_use]
    pub fn pebs(mut self, index: u64) -> Self {
        self.extension |= 0x80;
        self.extra = self.extra.u64(index);
        self
    }

    /// Writes another size than the true one.
    #[must_use]
    pub fn size(mut self, size: u16) -> Self {
        self.size = Some(size);
        self
    }

    #[must_use]
    pub fn payload(mut self, payload: impl Into<Vec<u8>>) -> Self {
        self.payload = payload.into();
        self
    }
}

impl OnDisk for Kernel {
    fn on_disk(&self) -> Vec<u8> {
        let header = match self.form {
            Form::System => 0x20,
            Form::Compact => 0x18,
            Form::PerfInfo => 0x10,
        };
        let size = self.size.unwrap_or_else(|| len16(header + self.extra.len() + self.payload.len()));
        let start = payload().u8(self.version).u8(self.extension).u8(self.kind).u8(0xC0).u16(size).u16(self.hook);
        let start = match self.form {
            Form::System => start.u32(self.tid).u32(self.pid).i64(self.time).u32(self.kernel_time).u32(self.user_time),
            Form::Compact => start.u32(self.tid).u32(self.pid).i64(self.time),
            Form::PerfInfo => start.i64(self.time),
        };
        start.bytes(&self.extra.0).bytes(&self.payload).into()
    }
}
