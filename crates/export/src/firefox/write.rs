//! A profile from a trace to its bytes.

use std::time::Duration;

use base::error::{Error, ErrorKind, Result};
use base::progress::stop_if_cancelled;
use conversion::plan::Filter;
use fxprof_processed_profile::{CpuDelta, MarkerTiming, Profile, ReferenceTimestamp, SamplingInterval};
use published::sampling::Sampling;

use super::chosen::Chosen;
use super::events::Target;
use super::frames::Frames;
use super::heaps::draw_heaps;
use super::kinds::Kind;
use super::markers::Markers;
use super::processor::draw_processor_time;
use super::threads::Threads;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::profile::{Amount, Code, Records, Weights};
use crate::request::Of;

/// Samples of a profile that there is room for, and waits: the viewer, as this, holds all of them.
const MOST_RECORDS: usize = 1 << 20;
/// What the viewer is told of a trace that does not say how far its samples are apart: it scales its graphs by it.
const USUAL_INTERVAL: u64 = 1_000_000;

/// Writes a trace for the Firefox Profiler: samples, and waits and other events as markers, of the processes that are
/// [chosen](Chosen::of).
///
/// # Errors
/// [`ErrorKind::Usage`] when there are more samples or waits than there is room for;
/// [`ErrorKind::Output`] when the trace cannot be read, or the file cannot be written.
pub(crate) fn firefox(opened: &Opened<'_>, filter: &Filter, output: &mut Output<'_>) -> Result<Exported> {
    let chosen = Chosen::of(opened, filter)?;
    let (mut exported, mut weights) = (Exported::default(), Weights::default());
    let is_wanted = |amount: &Amount<'_>| chosen.has(amount.machine, amount.process);
    let mut read = |of| Records::read(opened, of, MOST_RECORDS, &mut weights, &mut exported, is_wanted);
    let [samples, waits] = [read(Of::Samples)?, read(Of::Waits)?];
    exported.events = samples.len().saturating_add(waits.len());
    weights.warn(&mut exported);
    let code = Code::of(opened, &mut weights, &mut exported)?;
    let start = opened.source.start_ns()?;
    let each = Sampling::of(&opened.source)?.interval();
    let since_epoch = Duration::from_nanos(u64::try_from(start).unwrap_or(0));
    let reference = ReferenceTimestamp::from_duration_since_unix_epoch(since_epoch);
    let apart = SamplingInterval::from_nanos(each.unwrap_or(USUAL_INTERVAL));
    let mut profile = Profile::new(opened.name(), reference, apart);
    profile.set_os_name("Windows");
    let mut threads = Threads::of(opened, start)?;
    let mut markers = Markers::of(&mut profile);
    let mut drawn = Drawn {
        frames: Frames::of(&code, &mut profile),
        opened,
        weights: &weights,
        profile: &mut profile,
        threads: &mut threads,
    };
    drawn.samples(&samples, each)?;
    drawn.waits(&waits, &mut markers)?;
    drop((samples, waits));
    let mut target = Target {
        opened,
        chosen: &chosen,
        profile: &mut profile,
        threads: &mut threads,
        markers: &mut markers,
        count: 0,
    };
    target.read(&mut exported)?;
    draw_processor_time(opened, &chosen, &mut profile, &mut threads, each, &mut exported)?;
    draw_heaps(opened, &chosen, &mut profile, &mut threads, &mut exported)?;
    stop_if_cancelled(opened.source.progress())?;
    serde_json::to_writer(output, &profile)
        .map_err(|cause| Error::new(ErrorKind::Output, "the export cannot be written").caused_by(cause))?;
    Ok(exported)
}

/// What is drawn of samples and waits.
struct Drawn<'a, 't> {
    opened: &'a Opened<'t>,
    weights: &'a Weights,
    frames: Frames<'a>,
    profile: &'a mut Profile,
    threads: &'a mut Threads,
}

impl Drawn<'_, '_> {
    /// Adds samples; `each`: the nanoseconds on a processor that a sample stands for.
    fn samples(&mut self, records: &Records, each: Option<u64>) -> Result<()> {
        let delta = each.map_or(CpuDelta::ZERO, CpuDelta::from_nanos);
        for (thread, records) in records.by_thread() {
            stop_if_cancelled(self.opened.source.progress())?;
            let Some(process) = self.weights.processes.get(thread.process) else { continue };
            let handle = self.threads.thread(self.profile, (process.machine, process.id), thread.id);
            for record in records {
                let stack = self.frames.stack(self.profile, handle, record.place);
                self.profile.add_sample(handle, self.threads.at(record.time), stack, delta, 1);
            }
        }
        Ok(())
    }

    /// Adds waits, each with the stack at which its thread waited.
    fn waits(&mut self, records: &Records, markers: &mut Markers) -> Result<()> {
        for (thread, records) in records.by_thread() {
            stop_if_cancelled(self.opened.source.progress())?;
            let Some(process) = self.weights.processes.get(thread.process) else { continue };
            let handle = self.threads.thread(self.profile, (process.machine, process.id), thread.id);
            for record in records {
                let length = i64::try_from(record.amount).unwrap_or(i64::MAX);
                let from = self.threads.at(record.time.saturating_sub(length));
                let timing = MarkerTiming::Interval(from, self.threads.at(record.time));
                let marker = markers.add(self.profile, handle, timing, Kind::Wait, &[]);
                let stack = self.frames.stack(self.profile, handle, record.place);
                if let Some(marker) = marker {
                    self.profile.set_marker_stack(handle, marker, stack);
                }
            }
        }
        Ok(())
    }
}
