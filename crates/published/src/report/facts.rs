//! All that a report shows, as plain data.

use base::error::Result;
use base::progress::Progress;
use columnar::output::manifest::CommitRecord;

use super::axis::Axis;
use super::collections::{Collections, collections};
use super::cpu::{CpuUsage, usage};
use super::executed::{Executed, Leaves, most_executed};
use super::failures::exceptions;
use super::files::{Files, files};
use super::flame::{Flame, flame};
use super::interrupts::{Interrupts, interrupts};
use super::io::{disk, network};
use super::lanes::{Lanes, lanes};
use super::packets::{Packets, packets};
use super::pauses::{Pauses, pauses};
use super::processes::{Processes, processes};
use super::providers::{Providers, providers};
use super::recorded::{Recorded, recorded};
use super::samples::{CpuSamples, samples};
use super::starts::Starts;
use super::tally::{Most, Ranked};
use super::waits::{Waits, waits};
use super::zoom::Slice;
use crate::PublishedTrace;
use crate::frames::Modules;
use crate::source::Source;
use crate::symbols::{StoredNames, root_of};
use crate::who::Who;

/// What is known of a trace.
#[derive(Debug)]
pub struct Facts {
    /// Its manifest.
    pub(super) record: CommitRecord,
    /// What it says of its recording.
    pub(super) recorded: Recorded,
    /// Its time.
    pub(super) axis: Axis,
    /// Events by provider.
    pub(super) providers: Providers,
    /// Buffers and losses.
    pub(super) lanes: Lanes,
    /// Time on processors.
    pub(super) usage: Option<CpuUsage>,
    /// What interrupted threads.
    pub(super) interrupts: Interrupts,
    /// Time off processors.
    pub(super) waits: Option<Waits>,
    /// Nanoseconds of waits by stack.
    pub(super) wait_stacks: Option<Flame>,
    /// Samples of the profiler.
    pub(super) samples: Option<CpuSamples>,
    /// The same by function, where the name of any is known.
    pub(super) executed: Option<Executed>,
    /// The same by stack.
    pub(super) sample_stacks: Option<Flame>,
    /// Bytes of disk operations, and in slices of the time.
    pub(super) disk: Option<(Ranked, Vec<Slice>)>,
    /// Files and disks.
    pub(super) files: Files,
    /// Bytes over the network.
    pub(super) network: Option<Ranked>,
    /// Packets by component.
    pub(super) packets: Option<Packets>,
    /// Pauses of .NET.
    pub(super) pauses: Option<Pauses>,
    /// Garbage collections of .NET.
    pub(super) collections: Option<Collections>,
    /// Exceptions of .NET by type.
    pub(super) exceptions: Option<Ranked>,
    /// Processes by name.
    pub(super) processes: Processes,
    /// Processes that started.
    pub(super) starts: Starts,
    /// Spans of processes and threads that there was no room for.
    pub(super) left_out: u64,
}

impl Facts {
    /// Whether anything of the inputs could not be read, or is not there: as
    /// [of a conversion](conversion::convert::Report::is_damaged).
    pub fn is_damaged(&self) -> bool {
        self.record.events.has_damage() || self.lanes.absent_buffers > 0
    }
}

/// Reads a trace, a batch of rows at a time, with the names of functions that the trace has and those that lie beside it.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be read;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn facts(trace: &PublishedTrace, progress: &dyn Progress) -> Result<Facts> {
    let source = Source::open(trace, progress)?;
    let recorded = recorded(&source)?;
    let (first, last) = recorded.span.unwrap_or((0, 0));
    let axis = Axis::new(first, last);
    let who = Who::read(&source)?;
    let most = Most::OF_A_PAGE;
    let mut starts = Starts::read(&source, &axis, &who)?;
    let (waits, of_waits) = waits(&source, &axis, &who, &mut starts, most)?;
    // Addresses stand in events of the kernel's profiler, and in stacks.
    let has_addresses = source.has_events("Kernel-PerfInfo") || of_waits.has_stacks();
    let modules = if has_addresses { Modules::read(&source)? } else { Modules::default() };
    let names = StoredNames::beside(&root_of(&trace.folder()), modules.ids(), progress)?;
    let wait_stacks = flame(&source, &modules, &names, &of_waits, most)?;
    drop(of_waits);
    let mut leaves = (!names.is_empty()).then(Leaves::default);
    let (samples, of_samples) = samples(&source, &axis, &who, &modules, &mut starts, most, leaves.as_mut())?;
    let executed = most_executed(&source, &modules, &names, leaves.unwrap_or_default(), most)?;
    let sample_stacks = flame(&source, &modules, &names, &of_samples, most)?;
    drop(of_samples);
    let interrupts = interrupts(&source, &modules)?;
    Ok(Facts {
        providers: providers(&source, &axis)?,
        lanes: lanes(&source, &axis, &recorded.inputs)?,
        usage: usage(&source, &axis, &who, &interrupts, &recorded.inputs, &mut starts, most)?,
        interrupts,
        waits,
        wait_stacks,
        samples,
        executed,
        sample_stacks,
        disk: disk(&source, &axis, &who, &mut starts, most)?,
        files: files(&source, most)?,
        network: network(&source, &axis, &who, most)?,
        packets: packets(&source, most)?,
        pauses: pauses(&source, &axis, &who, most)?,
        collections: collections(&source, &axis, &who, most)?,
        exceptions: exceptions(&source)?,
        processes: processes(&source, &axis)?,
        starts,
        left_out: who.left_out(),
        axis,
        recorded,
        record: source.record,
    })
}
