//! What a trace says of its recording: sessions, machine, clocks, findings, advice.

use std::collections::BTreeMap;

use base::error::Result;

use super::source::Source;

/// Inputs that are shown.
const MOST_INPUTS: usize = 16;
/// Kinds of findings, and pieces of advice, that are shown.
const MOST_FINDINGS: usize = 24;

/// One input's session.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// What the input is called.
    pub source: String,
    /// Its bytes.
    pub size: Option<u64>,
    /// Its BLAKE3 hash.
    pub blake3: Option<String>,
    /// The session's name.
    pub logger: Option<String>,
    /// The file that it was told to write.
    pub log_file: Option<String>,
    /// Version and build of the recording system.
    pub system: String,
    /// Bits of its addresses.
    pub bits: Option<u64>,
    /// Its processors.
    pub processors: Option<u64>,
    /// Bytes of a buffer.
    pub buffer_size: Option<u64>,
    /// Buffers.
    pub buffers: Option<u64>,
    /// Modes by name.
    pub modes: Vec<String>,
    /// Kernel flags by name.
    pub flags: Vec<String>,
    /// When it started, when it ended, when the system booted.
    pub times: [Option<i64>; 3],
    /// Lost events and buffers.
    pub lost: [Option<u64>; 2],
    /// Why nobody knows what was lost.
    pub unknown_because: Option<String>,
    /// Whether the session was closed.
    pub is_closed: bool,
}

/// The machine that recorded.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// Its name.
    pub name: Option<String>,
    /// Its domain.
    pub domain: Option<String>,
    /// The clock rate of its processors.
    pub mhz: Option<i64>,
    /// Memory in MiB.
    pub memory_mib: Option<i64>,
}

/// The clock of an input.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The input.
    pub source: String,
    /// Which clock.
    pub kind: String,
    /// How far it can be trusted.
    pub quality: String,
    /// The least difference that it shows.
    pub resolution_ns: Option<u64>,
    /// Minutes by which UTC is later than local time.
    pub bias_min: Option<i64>,
    /// The time zone.
    pub zone: Option<String>,
    /// Events that are earlier than the one before them, in their buffer and between buffers.
    pub disorder: Option<u64>,
    /// The largest of these steps, and the longest pause.
    pub steps_ns: [Option<u64>; 2],
}

/// What is unusual, by kind.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// How bad it is.
    pub severity: String,
    /// What it is.
    pub code: String,
    /// How often it was found.
    pub rows: u64,
    /// The first message.
    pub message: String,
}

/// All of that.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// By input.
    pub sessions: Vec<Session>,
    /// How many more inputs there are.
    pub more_inputs: usize,
    /// The machine, where the trace tells of it.
    pub machine: Option<Machine>,
    /// By input.
    pub clocks: Vec<Clock>,
    /// Findings, gravest first.
    pub findings: Vec<Finding>,
    /// How many more kinds there are.
    pub more_findings: usize,
    /// Advice: messages.
    pub advice: Vec<String>,
    /// Questions that the trace does not answer, and what to record for them.
    pub unanswered: Vec<(String, String)>,
    /// The first and the last time of the streams.
    pub span: Option<(i64, i64)>,
}

/// Reads what the sidecar tells.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn recorded(source: &Source<'_>) -> Result<Recorded> {
    let mut recorded = Recorded {
        sessions: sessions(source)?,
        machine: machine(source)?,
        clocks: clocks(source)?,
        ..Recorded::default()
    };
    recorded.more_inputs = recorded.sessions.len().saturating_sub(MOST_INPUTS);
    recorded.clocks.truncate(MOST_INPUTS);
    source.sidecar("streams", &["first_time_ns", "last_time_ns"], |batch, row| {
        let Some((first, last)) = batch.integer(0, row).zip(batch.integer(1, row)) else { return };
        let (earliest, latest) = recorded.span.unwrap_or((first, last));
        recorded.span = Some((first.min(earliest), last.max(latest)));
    })?;
    source.sidecar("answers", &["question", "needed"], |batch, row| {
        let text = |column| batch.text(column, row).map(str::to_owned);
        recorded.unanswered.extend(text(0).zip(text(1)));
    })?;
    let mut findings = BTreeMap::<(u8, String), Finding>::new();
    source.sidecar("issues", &["severity", "code", "message"], |batch, row| {
        let text = |column| batch.text(column, row).unwrap_or_default();
        let rank = match text(0) {
            "advice" => return recorded.advise(text(2)),
            "error" => 0,
            "warning" => 1,
            _ => 2,
        };
        let finding = findings.entry((rank, text(1).to_owned())).or_default();
        finding.rows = finding.rows.saturating_add(1);
        if finding.rows == 1 {
            text(0).clone_into(&mut finding.severity);
            text(1).clone_into(&mut finding.code);
            text(2).clone_into(&mut finding.message);
        }
    })?;
    recorded.more_findings = findings.len().saturating_sub(MOST_FINDINGS);
    recorded.findings = findings.into_values().take(MOST_FINDINGS).collect();
    Ok(recorded)
}

impl Recorded {
    /// The inputs that are shown.
    pub(super) fn shown(&self) -> &[Session] {
        self.sessions.get(..MOST_INPUTS).unwrap_or(&self.sessions)
    }

    fn advise(&mut self, message: &str) {
        if self.advice.len() < MOST_FINDINGS && !self.advice.iter().any(|known| known == message) {
            self.advice.push(message.to_owned());
        }
    }
}

fn sessions(source: &Source<'_>) -> Result<Vec<Session>> {
    let columns = [
        "source",
        "size",
        "blake3",
        "logger_name",
        "log_file_name",
        "os_version",
        "os_build",
        "pointer_size",
        "cpu_count",
        "buffer_size",
        "buffers_found",
        "log_file_mode_names",
        "enable_flag_names",
        "start_time",
        "end_time",
        "boot_time",
        "events_lost",
        "buffers_lost",
        "loss_unknown_because",
        "closed",
    ];
    let mut sessions = Vec::new();
    source.sidecar("sessions", &columns, |batch, row| {
        let text = |column| batch.text(column, row).map(str::to_owned);
        let amount = |column| batch.integer(column, row).and_then(|amount| u64::try_from(amount).ok());
        let build = amount(6).map(|build| format!(" build {build}")).unwrap_or_default();
        sessions.push(Session {
            source: text(0).unwrap_or_default(),
            size: amount(1),
            blake3: text(2),
            logger: text(3),
            log_file: text(4),
            system: format!("Windows {}{build}", text(5).unwrap_or_default()),
            bits: amount(7).map(|bytes| bytes.saturating_mul(8)),
            processors: amount(8),
            buffer_size: amount(9),
            buffers: amount(10),
            modes: batch.texts(11, row).unwrap_or_default(),
            flags: batch.texts(12, row).unwrap_or_default(),
            times: [13, 14, 15].map(|column| batch.time_ns(column, row)),
            lost: [amount(16), amount(17)],
            unknown_because: text(18),
            is_closed: batch.boolean(19, row).unwrap_or(false),
        });
    })?;
    Ok(sessions)
}

fn machine(source: &Source<'_>) -> Result<Option<Machine>> {
    let mut machine: Option<Machine> = None;
    let columns = ["event_name", "ComputerName", "DomainName", "MHz", "MemSize"];
    source.events("Kernel-SystemConfig", &columns, |batch, row| {
        if machine.is_some() || batch.text(0, row) != Some("SystemConfig/CPU") {
            return;
        }
        let text = |column| batch.text(column, row).filter(|text| !text.is_empty()).map(str::to_owned);
        let (mhz, memory_mib) = (batch.integer(3, row), batch.integer(4, row));
        machine = Some(Machine { name: text(1), domain: text(2), mhz, memory_mib });
    })?;
    Ok(machine)
}

fn clocks(source: &Source<'_>) -> Result<Vec<Clock>> {
    let columns = [
        "source",
        "clock",
        "quality",
        "resolution_ns",
        "time_zone_bias_min",
        "time_zone_name",
        "disorder_in_buffer",
        "disorder_between_buffers",
        "largest_step_back_ns",
        "largest_step_forward_ns",
    ];
    let mut clocks = Vec::new();
    source.sidecar("clock", &columns, |batch, row| {
        let text = |column| batch.text(column, row).map(str::to_owned);
        let amount = |column| batch.integer(column, row).and_then(|amount| u64::try_from(amount).ok());
        clocks.push(Clock {
            source: text(0).unwrap_or_default(),
            kind: text(1).unwrap_or_default(),
            quality: text(2).unwrap_or_default(),
            resolution_ns: amount(3),
            bias_min: batch.integer(4, row),
            zone: text(5),
            disorder: amount(6).zip(amount(7)).map(|(within, between)| within.saturating_add(between)),
            steps_ns: [amount(8), amount(9)],
        });
    })?;
    Ok(clocks)
}
