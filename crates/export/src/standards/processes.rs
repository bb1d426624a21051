//! Processes by id and time.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::ProcessRow;

use super::action::Whom;
use crate::cut::cut;
use crate::opened::Opened;

/// Processes that are kept, and bytes of one text of theirs.
const MOST_PROCESSES: usize = 1 << 16;
const MOST_TEXT: usize = 4096;
/// Bytes of all texts together.
const MOST_BYTES: usize = 64 << 20;

read_columns! {
    /// A span of a process id.
    struct ProcessSpan<'b> of ProcessRow<'static> {
        process_id: i64,
        parent_process_id: Option<i64>,
        image_name: Option<&'b str>,
        image_path: Option<&'b str>,
        command_line: Option<&'b str>,
        user_sid: Option<&'b str>,
        started_ns: Option<i64>,
        from_ns: i64,
        to_ns: i64,
        machine: i64,
    }
}

#[derive(Debug)]
struct Process {
    from: i64,
    to: i64,
    parent: Option<i64>,
    started: Option<i64>,
    name: Option<String>,
    path: Option<String>,
    command_line: Option<String>,
    user: Option<String>,
}

/// The processes of a trace.
#[derive(Debug, Default)]
pub(super) struct Processes {
    spans: HashMap<(i64, i64), Vec<Process>>,
    count: usize,
    bytes: usize,
    /// Those that there was no room for.
    pub(super) left_out: u64,
}

impl Processes {
    /// Reads them from the sidecar.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read.
    pub(super) fn read(opened: &Opened<'_>) -> Result<Processes> {
        let mut processes = Processes::default();
        opened.source.sidecar::<ProcessSpan<'_>>(|row| processes.add(&row))?;
        processes.spans.values_mut().for_each(|spans| spans.sort_by_key(|span| (span.from, span.to)));
        Ok(processes)
    }

    fn add(&mut self, row: &ProcessSpan<'_>) {
        let texts = [row.image_name, row.image_path, row.command_line, row.user_sid];
        let [name, path, command_line, user] = texts.map(|text| text.map(|text| cut(text, MOST_TEXT).to_owned()));
        let lengths = [&name, &path, &command_line, &user].map(|text| text.as_ref().map_or(0, String::len));
        self.bytes = lengths.into_iter().fold(self.bytes, usize::saturating_add);
        if self.count >= MOST_PROCESSES || self.bytes > MOST_BYTES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.count = self.count.saturating_add(1);
        let ProcessSpan { from_ns: from, to_ns: to, parent_process_id: parent, started_ns: started, .. } = *row;
        let process = Process { from, to, parent, started, name, path, command_line, user };
        self.spans.entry((row.machine, row.process_id)).or_default().push(process);
    }

    /// A process that had an id at a time.
    pub(super) fn at(&self, machine: i64, id: i64, time: i64) -> Whom<'_> {
        let spans = self.spans.get(&(machine, id)).map_or(&[][..], Vec::as_slice);
        let behind = spans.partition_point(|span| span.from <= time);
        let span = behind.checked_sub(1).and_then(|at| spans.get(at)).filter(|span| time < span.to);
        let Some(span) = span else { return Whom { id, ..Whom::default() } };
        Whom {
            id,
            name: span.name.as_deref(),
            path: span.path.as_deref(),
            command_line: span.command_line.as_deref(),
            user: span.user.as_deref(),
            parent: span.parent,
            started: span.started,
        }
    }
}
