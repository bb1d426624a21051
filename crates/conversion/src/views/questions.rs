//! What people ask of a trace, which events answer it, and what to record for them.

use etl::event::subject::Subject;

use super::answers::ANSWERS;
use super::events::Events;

/// A question.
#[derive(Debug)]
pub struct Question {
    /// What it is called: as the view that answers it; what a part of a view answers has a name of its own.
    pub name: &'static str,
    /// The events without which there is no answer.
    pub evidence: Evidence,
    /// What to record for them.
    pub record: &'static str,
}

/// The events that answer a question.
#[derive(Debug)]
pub enum Evidence {
    /// Those that rows of its view are made of.
    Rows,
    /// The same, but a row needs an event of each of these names.
    Together(&'static [&'static str]),
    /// Those that describe subjects.
    Described(Subject),
    /// Those of a dataset that have a name: they answer a part of a view.
    Named(&'static str, &'static str),
}

impl Question {
    /// The events that its view reads, with their datasets; none of a view that reads what ids meant.
    pub fn reads(&self) -> Vec<(&'static str, Events<'static>)> {
        match self.evidence {
            Evidence::Named(dataset, name) => vec![(dataset, Events::Named(vec![name]))],
            Evidence::Described(_) => Vec::new(),
            Evidence::Rows | Evidence::Together(_) => {
                let mut found = Vec::new();
                add_sources(self.name, &mut found);
                found
            }
        }
    }
}

/// Adds the events that a view reads, and those of the views that its rows are made of; no view is made of itself.
fn add_sources(view: &str, found: &mut Vec<(&'static str, Events<'static>)>) {
    for answer in ANSWERS.iter().filter(|answer| answer.name == view) {
        let own = answer.template.sources();
        found.extend(own.filter_map(|source| Some((source.table, source.events.clone()?))));
        answer.template.views().for_each(|view| add_sources(view, found));
    }
}

/// What to record for the answer of a question.
pub fn to_record(name: &str) -> &'static str {
    QUESTIONS.iter().find(|question| question.name == name).map_or("", |question| question.record)
}

/// All of them. Flags of the kernel are called as xperf and wpr call them; what each enables, and keywords, levels and events
/// of providers, stand in the schemas of this program and the pages of Windows on `EVENT_TRACE_FLAG_*`.
pub const QUESTIONS: &[Question] = &[
    Question {
        name: "processes",
        evidence: Evidence::Described(Subject::Process),
        record: "the kernel flag PROC_THREAD, or Microsoft-Windows-Kernel-Process with the keyword 0x10",
    },
    Question {
        name: "threads",
        evidence: Evidence::Described(Subject::Thread),
        record: "the kernel flag PROC_THREAD, or Microsoft-Windows-Kernel-Process with the keyword 0x20",
    },
    Question {
        name: "images",
        evidence: Evidence::Described(Subject::Image),
        record: "the kernel flag LOADER, or Microsoft-Windows-Kernel-Process with the keyword 0x40",
    },
    Question {
        name: "symbols",
        evidence: Evidence::Named("KernelTraceControl-ImageID", "ImageID/DbgID_RSDS"),
        record: "the kernel flag LOADER, and merge the trace on the machine that recorded it: `wpr -stop`, `xperf -d`, or \
                 PerfView's `merge`",
    },
    Question {
        name: "files",
        evidence: Evidence::Described(Subject::File),
        record: "the kernel flag FILENAME, or Microsoft-Windows-Kernel-File with the keyword 0x10",
    },
    Question {
        name: "methods",
        evidence: Evidence::Described(Subject::Method),
        record: "Microsoft-Windows-DotNETRuntime with the keywords JIT (0x10) and NGEN (0x20) at level 4, and \
                 Microsoft-Windows-DotNETRuntimeRundown at the end",
    },
    Question {
        name: "cpu_samples",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, LOADER and PROFILE (the profile CPU of wpr has them)",
    },
    Question {
        name: "stack_walks",
        evidence: Evidence::Rows,
        record: "stacks of the kernel: `xperf -stackwalk Profile+CSwitch+ReadyThread` (the profile CPU of wpr has them)",
    },
    Question {
        name: "cpu_intervals",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, LOADER and CSWITCH (the profile CPU of wpr has them)",
    },
    Question {
        name: "waits",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, CSWITCH and DISPATCHER (the profile CPU of wpr has them)",
    },
    Question {
        name: "interrupts",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, LOADER, DPC and INTERRUPT",
    },
    Question {
        name: "disk_io",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, DISK_IO and FILENAME (the profile DiskIO of wpr has them)",
    },
    Question {
        name: "file_io",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, FILE_IO, FILE_IO_INIT and FILENAME (the profile FileIO of wpr has them), or \
                 Microsoft-Windows-Kernel-File",
    },
    Question {
        name: "network",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD and NETWORKTRACE, or Microsoft-Windows-Kernel-Network with the keywords IPv4 \
                 (0x10) and IPv6 (0x20)",
    },
    Question {
        name: "packets",
        evidence: Evidence::Rows,
        record: "`pktmon start --capture`, or `netsh trace start capture=yes`",
    },
    Question {
        name: "image_loads",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD and LOADER, or Microsoft-Windows-Kernel-Process with the keyword 0x40",
    },
    Question {
        name: "page_faults",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD, FILENAME and HARD_FAULTS, or ALL_FAULTS for all",
    },
    Question {
        name: "registry",
        evidence: Evidence::Rows,
        record: "the kernel flags PROC_THREAD and REGISTRY (the profile Registry of wpr has them)",
    },
    Question {
        name: "gc_pauses",
        evidence: Evidence::Together(&["GarbageCollection/GCSuspendEEBegin", "GarbageCollection/GCRestartEEEnd"]),
        record: "Microsoft-Windows-DotNETRuntime with the keyword GC (0x1) at level 4",
    },
    Question {
        name: "exceptions",
        evidence: Evidence::Rows,
        record: "Microsoft-Windows-DotNETRuntime with the keyword Exception (0x8000) at level 4",
    },
    Question {
        name: "jit",
        evidence: Evidence::Together(&["CLRMethod/MethodJittingStarted", "CLRMethod/MethodLoadVerbose"]),
        record: "Microsoft-Windows-DotNETRuntime with the keyword JIT (0x10) at level 5",
    },
    Question {
        name: "http_requests",
        evidence: Evidence::Rows,
        record: "Microsoft-Windows-HttpService with the keywords for requests (0x2) and responses (0x4)",
    },
    Question {
        name: "dns_queries",
        evidence: Evidence::Rows,
        record: "Microsoft-Windows-DNS-Client with all keywords at level 4, while names are looked up",
    },
    Question {
        name: "windows_update",
        evidence: Evidence::Rows,
        record: "nothing, but convert the traces that Windows 10 and later keep in C:\\Windows\\Logs\\WindowsUpdate",
    },
    Question {
        name: "services",
        evidence: Evidence::Rows,
        record: "any kernel flag (the session lists services when it ends), or Microsoft-Windows-Services",
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_question_has_a_view_that_reads_events() {
        let mut names = BTreeSet::new();
        for question in QUESTIONS {
            assert!(names.insert(question.name), "{}", question.name);
            let is_part = matches!(question.evidence, Evidence::Named(..));
            assert_eq!(ANSWERS.iter().any(|answer| answer.name == question.name), !is_part, "{}", question.name);
            let is_reported = matches!(question.evidence, Evidence::Described(_));
            assert_eq!(question.reads().is_empty(), is_reported, "{}", question.name);
        }
    }

    #[test]
    fn what_is_needed_together_is_read() {
        for question in QUESTIONS {
            let Evidence::Together(needed) = question.evidence else { continue };
            let reads = question.reads();
            let is_read = |name: &&str| {
                reads.iter().any(|(_, events)| matches!(events, Events::Named(names) if names.contains(name)))
            };
            assert!(needed.iter().all(is_read), "{}", question.name);
        }
    }

    #[test]
    fn views_without_a_question_are_those_of_others_or_of_what_every_trace_has() {
        let asked: BTreeSet<&str> = QUESTIONS.iter().map(|question| question.name).collect();
        let answers = ANSWERS.iter().filter(|answer| !answer.is_of_frames);
        let others: Vec<&str> = answers.map(|answer| answer.name).filter(|name| !asked.contains(name)).collect();
        let of_others =
            ["off_cpu", "cpu_usage", "cpu_time", "packet_reports", "gc_pause_collections", "gc_collections"];
        assert_eq!(others, [&of_others[..], &["activities", "loss", "answers"]].concat());
    }
}
