//! Processes and threads of a profile, and times since its begin.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::dimensions::{ProcessRow, ThreadRow};
use fxprof_processed_profile::{ProcessHandle, Profile, ThreadHandle, Timestamp};

use crate::opened::Opened;

/// Names of threads and begins of processes that are kept.
const MOST_KEPT: usize = 1 << 18;

/// The processes and threads that have anything.
#[derive(Debug)]
pub(super) struct Threads {
    start: i64,
    processes: HashMap<(i64, Option<i64>), ProcessHandle>,
    handles: HashMap<(ProcessHandle, Option<i64>), ThreadHandle>,
    known: Known,
}

/// What the sidecar says of processes and threads.
#[derive(Debug, Default)]
struct Known {
    /// When processes began, by machine and id.
    begins: BTreeMap<(i64, i64), (i64, Option<String>)>,
    /// Names of threads, by machine and id.
    names: HashMap<(i64, i64), String>,
}

read_columns! {
    /// A process.
    struct Begin<'b> of ProcessRow<'static> {
        process_id: i64,
        image_name: Option<&'b str>,
        from_ns: i64,
        machine: i64,
    }
}

read_columns! {
    /// A thread.
    struct ThreadName<'b> of ThreadRow<'static> {
        thread_id: i64,
        name: Option<&'b str>,
        machine: i64,
    }
}

impl Threads {
    /// None yet, of a profile that starts at a time.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the sidecar cannot be read.
    pub(super) fn of(opened: &Opened<'_>, start: i64) -> Result<Threads> {
        let mut known = Known::default();
        opened.source.sidecar::<Begin<'_>>(|row| {
            if known.begins.len() < MOST_KEPT {
                let name = row.image_name.map(str::to_owned);
                // Of an id that several had, the one that was first.
                known.begins.entry((row.machine, row.process_id)).or_insert((row.from_ns, name));
            }
        })?;
        opened.source.sidecar::<ThreadName<'_>>(|row| {
            if let Some(name) = row.name.filter(|name| !name.is_empty() && known.names.len() < MOST_KEPT) {
                known.names.insert((row.machine, row.thread_id), name.to_owned());
            }
        })?;
        Ok(Threads { start, processes: HashMap::new(), handles: HashMap::new(), known })
    }

    /// A time as the profile has it: what is before its start is at its start.
    pub(super) fn at(&self, time: i64) -> Timestamp {
        let since = time.checked_sub(self.start).and_then(|since| u64::try_from(since).ok());
        Timestamp::from_nanos_since_reference(since.unwrap_or(0))
    }

    /// A thread of a process, or where none is named the one that stands for the process.
    pub(super) fn thread(
        &mut self,
        profile: &mut Profile,
        (machine, process): (i64, Option<i64>),
        thread: Option<i64>,
    ) -> ThreadHandle {
        let handle = self.process(profile, machine, process);
        if let Some(known) = self.handles.get(&(handle, thread)) {
            return *known;
        }
        let made = profile.add_thread(handle, number(thread), self.at(self.start), thread.is_none());
        let name = thread.and_then(|thread| self.known.names.get(&(machine, thread)));
        let name = match (name, thread) {
            (Some(name), Some(id)) => format!("{name} ({id})"),
            (_, Some(id)) => format!("Thread {id}"),
            (_, None) => "Process".to_owned(),
        };
        profile.set_thread_name(made, &name);
        self.handles.insert((handle, thread), made);
        made
    }

    /// A process, which has a thread that stands for it where it has none yet.
    pub(super) fn of_process(&mut self, profile: &mut Profile, machine: i64, process: Option<i64>) -> ProcessHandle {
        if !self.processes.contains_key(&(machine, process)) {
            self.thread(profile, (machine, process), None);
        }
        self.process(profile, machine, process)
    }

    fn process(&mut self, profile: &mut Profile, machine: i64, process: Option<i64>) -> ProcessHandle {
        if let Some(known) = self.processes.get(&(machine, process)) {
            return *known;
        }
        let begin = process.and_then(|process| self.known.begins.get(&(machine, process)));
        let name = match (begin.and_then(|(_, name)| name.as_deref()), process) {
            (Some(name), _) => name.to_owned(),
            (None, Some(id)) => format!("process {id}"),
            (None, None) => "no process recorded".to_owned(),
        };
        let handle = profile.add_process(&name, number(process), self.at(begin.map_or(self.start, |(from, _)| *from)));
        self.processes.insert((machine, process), handle);
        handle
    }
}

/// An id as the profile has it; 0 where none is known.
fn number(id: Option<i64>) -> u32 {
    id.and_then(|id| u32::try_from(id).ok()).unwrap_or(0)
}
