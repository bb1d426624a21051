//! The processes of a trace, as `inspect` shows them.

use serde::Serialize;

use crate::sidecar::dimensions::ProcessRow;

/// Processes that are listed one by one.
const MOST_PROCESSES: usize = 10_000;

/// The processes of a trace.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Processes {
    /// The first of them, by id and time.
    pub processes: Vec<InspectedProcess>,
    /// How many ran while the trace was recorded.
    pub process_count: u64,
    /// How many had ended before: only their objects were left.
    pub defunct_count: u64,
}

/// A span of a process id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InspectedProcess {
    /// The id.
    pub process_id: u32,
    /// Id of the process that started it.
    pub parent_process_id: Option<u32>,
    /// File name of its image.
    pub image_name: Option<String>,
    /// Command line.
    pub command_line: Option<String>,
    /// When it started, where the trace records it.
    pub started_ns: Option<i64>,
    /// When it ended, where that was seen.
    pub ended_ns: Option<i64>,
    /// From when on the id meant it.
    pub from_ns: i64,
    /// Until when.
    pub to_ns: i64,
    /// Whether it had ended before the trace was recorded.
    pub is_defunct: bool,
}

impl From<ProcessRow<'_>> for InspectedProcess {
    fn from(row: ProcessRow<'_>) -> Self {
        InspectedProcess {
            process_id: row.process_id,
            parent_process_id: row.parent_process_id,
            image_name: row.image_name.map(str::to_owned),
            command_line: row.command_line.map(str::to_owned),
            started_ns: row.started_ns,
            ended_ns: row.ended_ns,
            from_ns: row.from_ns,
            to_ns: row.to_ns,
            is_defunct: row.is_defunct.unwrap_or_default(),
        }
    }
}

impl Processes {
    /// Adds the next one.
    pub fn add(&mut self, process: impl Into<InspectedProcess>) {
        let process = process.into();
        let count = if process.is_defunct { &mut self.defunct_count } else { &mut self.process_count };
        *count = count.saturating_add(1);
        if self.processes.len() < MOST_PROCESSES {
            self.processes.push(process);
        }
    }
}
