//! `clock`: one row per input file, how its ticks became times and how far the times can be trusted.

use super::SidecarFacts;
use super::table::Table;
use crate::clock::{Clock, ClockFacts};
use crate::convert::job::FileCounts;
use crate::dataset::{EncodeOptions, FileEntry, Staging};
use crate::error::Result;
use crate::survey::streams::{Disorder, disorder};
use crate::survey::{FileSurvey, Session};

struct Row<'a> {
    file: &'a FileSurvey,
    session: &'a Session,
    clock: &'a Clock,
    facts: &'a ClockFacts,
    disorder: Disorder,
    counts: Option<&'a FileCounts>,
}

pub(super) fn write(staging: &Staging, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let rows = facts.files.iter().enumerate().map(|(input, file)| Row {
        file,
        session: &file.session,
        clock: &file.clock,
        facts: file.clock.facts(),
        disorder: disorder(file),
        counts: facts.file_counts.get(input),
    });
    table().write(staging, encode, rows)
}

fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("clock")
        .text("source", |row| Some(&row.file.name))
        .uint32("clock_type", |row| Some(row.facts.clock_type))
        .text("clock", |row| Some(row.clock.kind().name()))
        .int64("perf_frequency", |row| Some(row.facts.perf_frequency))
        .uint32("cpu_mhz", |row| (row.facts.cpu_mhz != 0).then_some(row.facts.cpu_mhz))
        // unix_ns = base_ns + floor((ticks - first_ticks) * numerator / denominator)
        .int64("ticks_to_ns_numerator", |row| Some(row.clock.ratio()?.0))
        .int64("ticks_to_ns_denominator", |row| Some(row.clock.ratio()?.1))
        .int64("first_ticks", |row| Some(row.clock.origin().0))
        .int64("base_ns", |row| Some(row.clock.base_ns().0))
        .text("anchor", |row| Some(row.clock.anchor().name()))
        .int64("start_anchor_ns", |row| Some(row.start_anchor_ns()))
        .int64("boot_anchor_ns", Row::boot_anchor_ns)
        .int64("anchor_difference_ns", |row| Some(row.boot_anchor_ns()?.saturating_sub(row.start_anchor_ns())))
        .int64("resolution_ns", |row| row.clock.resolution_ns())
        .int64("time_zone_bias_min", |row| Some(i64::from(row.session.time_zone_bias_min)))
        .text("time_zone_name", |row| Some(row.session.time_zone_name.as_str()).filter(|name| !name.is_empty()))
        .text("quality", |row| Some(row.clock.quality()))
        .count("disorder_in_buffer", |row| Some(row.disorder.in_buffer))
        .count("disorder_between_buffers", |row| Some(row.disorder.between_buffers))
        .count("disorder_in_file", |row| Some(row.disorder.in_file))
        .int64("largest_step_back_ns", |row| Some(row.disorder.largest_step_back_ns))
        .count("ties", |row| Some(row.counts?.ties))
        .count("inherited_times", |row| Some(row.file.buffers.iter().map(|buffer| u64::from(buffer.inherited)).sum()))
        .count("saturated_times", |row| Some(row.counts?.saturated_times))
        .int64("double_formula_max_error_ns", |row| Some(row.counts?.double_formula_error_ns))
}

impl Row<'_> {
    fn start_anchor_ns(&self) -> i64 {
        self.facts.start_time.to_unix().0
    }

    /// The header event's instant by `BootTime`, where that is recorded and used by the clock.
    fn boot_anchor_ns(&self) -> Option<i64> {
        let anchor = self.clock.boot_anchor_ns().filter(|_| self.facts.boot_time.0 != 0);
        anchor.map(|anchor| anchor.0)
    }
}
