//! What a trace says of its recording: sessions, machine, clocks, findings, advice.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::{AnswerRow, InputFacts, IssueRow, StreamRow};
use conversion::survey::{IssueCode, Severity};

use crate::source::Source;

/// Inputs that are shown.
const MOST_INPUTS: usize = 16;
/// Kinds of findings, and pieces of advice, that are shown.
const MOST_FINDINGS: usize = 24;

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

/// What is unusual, by kind.
#[derive(Debug)]
pub(super) struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub code: IssueCode,
    /// How often it was found.
    pub rows: u64,
    /// The first message.
    pub message: String,
}

/// All of that.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// The inputs.
    pub inputs: Vec<InputFacts>,
    /// How many more inputs there are.
    pub more_inputs: usize,
    /// The machine, where the trace describes it.
    pub machine: Option<Machine>,
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

/// Reads the facts of a trace from its sidecar.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn recorded(source: &Source<'_>) -> Result<Recorded> {
    let mut recorded = Recorded { inputs: source.tables().inputs()?, machine: machine(source)?, ..Recorded::default() };
    recorded.more_inputs = recorded.inputs.len().saturating_sub(MOST_INPUTS);
    source.sidecar::<StreamSpan>(|stream| {
        let Some((first, last)) = stream.first_time_ns.zip(stream.last_time_ns) else { return };
        let (earliest, latest) = recorded.span.unwrap_or((first, last));
        recorded.span = Some((first.min(earliest), last.max(latest)));
    })?;
    source.sidecar::<Unanswered>(|row| recorded.unanswered.extend(row.needed.map(|needed| (row.question, needed))))?;
    let mut findings = BTreeMap::<(Reverse<Severity>, IssueCode), Finding>::new();
    source.sidecar::<Issue<'_>>(|issue| {
        if issue.severity == Severity::Advice {
            return recorded.advise(issue.message);
        }
        let finding = findings.entry((Reverse(issue.severity), issue.code)).or_insert_with(|| Finding {
            severity: issue.severity,
            code: issue.code,
            rows: 0,
            message: issue.message.to_owned(),
        });
        finding.rows = finding.rows.saturating_add(1);
    })?;
    recorded.more_findings = findings.len().saturating_sub(MOST_FINDINGS);
    recorded.findings = findings.into_values().take(MOST_FINDINGS).collect();
    Ok(recorded)
}

impl Recorded {
    /// The inputs that are shown.
    pub(super) fn shown(&self) -> &[InputFacts] {
        self.inputs.get(..MOST_INPUTS).unwrap_or(&self.inputs)
    }

    fn advise(&mut self, message: &str) {
        if self.advice.len() < MOST_FINDINGS && !self.advice.iter().any(|known| known == message) {
            self.advice.push(message.to_owned());
        }
    }
}

read_columns! {
    /// The first and the last time of a stream.
    struct StreamSpan of StreamRow {
        first_time_ns: Option<i64>,
        last_time_ns: Option<i64>,
    }
}

read_columns! {
    /// A question, and what to record for it where the trace does not answer it.
    struct Unanswered of AnswerRow {
        question: String,
        needed: Option<String>,
    }
}

read_columns! {
    /// Something unusual.
    struct Issue<'b> of IssueRow {
        severity: Severity,
        code: IssueCode,
        message: &'b str,
    }
}

read_columns! {
    /// An event that describes the machine.
    struct SystemConfig<'b> {
        event: Option<&'b str> = "event_name",
        name: Option<&'b str> = "ComputerName",
        domain: Option<&'b str> = "DomainName",
        mhz: Option<i64> = "MHz",
        memory_mib: Option<i64> = "MemSize",
    }
}

fn machine(source: &Source<'_>) -> Result<Option<Machine>> {
    let mut machine: Option<Machine> = None;
    source.events::<SystemConfig<'_>>("Kernel-SystemConfig", |row| {
        if machine.is_some() || row.event != Some("SystemConfig/CPU") {
            return;
        }
        let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let SystemConfig { mhz, memory_mib, .. } = row;
        machine = Some(Machine { name: text(row.name), domain: text(row.domain), mhz, memory_mib });
    })?;
    Ok(machine)
}
