//! What a run says of itself in the summary.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base::calendar::rfc3339_of;
use base::resources::peak_memory;
use serde::Serialize;

/// Version of the form of the summary: another one where a field goes or means something else, the same where one is added.
pub const FORMAT_VERSION: u32 = 1;

/// A run, from its start to its end.
#[derive(Debug, Serialize)]
pub struct RunFacts {
    /// The version of the form of the summary.
    pub format_version: u32,
    /// The version of the program.
    pub tool_version: &'static str,
    /// What the caller calls it.
    pub run_id: Option<String>,
    /// RFC 3339 in UTC.
    pub started: String,
    /// RFC 3339 in UTC; by the clock of the system, which somebody may set meanwhile.
    pub ended: String,
    /// By a clock that nobody sets.
    pub duration_ms: u64,
    /// The exit code; 0 is success.
    pub exit_code: u8,
    /// The most memory that the process held at a time; `None` where the system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// When it started and ended.
    #[serde(skip)]
    times: (SystemTime, SystemTime),
    #[serde(skip)]
    begun: Instant,
}

impl RunFacts {
    /// A run that starts now.
    pub fn start(run_id: Option<&str>) -> Self {
        let now = SystemTime::now();
        let started = rfc3339_of(now);
        RunFacts {
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            run_id: run_id.map(str::to_owned),
            ended: started.clone(),
            started,
            duration_ms: 0,
            exit_code: 0,
            peak_memory_bytes: None,
            times: (now, now),
            begun: Instant::now(),
        }
    }

    /// It ends now, with this code.
    pub fn end(&mut self, exit_code: u8) {
        self.times.1 = SystemTime::now();
        self.ended = rfc3339_of(self.times.1);
        self.duration_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.peak_memory_bytes = peak_memory();
        self.exit_code = exit_code;
    }

    /// When it started and ended, in milliseconds since 1970.
    pub fn unix_ms(&self) -> (u64, u64) {
        let ms = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let ms = |time| u64::try_from(ms(time)).unwrap_or(u64::MAX);
        (ms(self.times.0), ms(self.times.1))
    }
}
