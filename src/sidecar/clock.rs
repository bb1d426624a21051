//! `clock`: one row per input file, how its ticks became times and how far the times can be trusted.

use super::SidecarFacts;
use super::table::Table;
use crate::convert::job::InputCounts;
use crate::dataset::EncodeOptions;
use crate::error::Result;
use crate::output::{FileEntry, LocalFolder};
use crate::survey::facts::ClockFacts;

/// A clock, and what pass 2 counted of its times; without it the columns are NULL.
pub(super) struct Row<'a> {
    pub clock: &'a ClockFacts,
    pub counts: Option<&'a InputCounts>,
}

pub(super) fn write(staging: &LocalFolder, facts: &SidecarFacts<'_>, encode: &EncodeOptions) -> Result<Vec<FileEntry>> {
    let files = facts.facts.iter().enumerate();
    let rows = files.map(|(input, file)| Row { clock: &file.clock, counts: facts.file_counts.get(input) });
    table().write(staging, encode, rows)
}

pub(super) fn table<'a>() -> Table<Row<'a>> {
    Table::<Row<'a>>::new("clock")
        .text("source", |row| Some(&row.clock.source))
        .uint32("clock_type", |row| Some(row.clock.clock_type))
        .text("clock", |row| Some(row.clock.clock))
        .int64("perf_frequency", |row| Some(row.clock.perf_frequency))
        .uint32("cpu_mhz", |row| row.clock.cpu_mhz)
        .int64("ticks_to_ns_numerator", |row| Some(row.clock.ticks_to_ns?.0))
        .int64("ticks_to_ns_denominator", |row| Some(row.clock.ticks_to_ns?.1))
        .int64("first_ticks", |row| Some(row.clock.first_ticks))
        .int64("base_ns", |row| Some(row.clock.base_ns))
        .text("anchor", |row| Some(row.clock.anchor))
        .int64("start_anchor_ns", |row| Some(row.clock.start_anchor_ns))
        .int64("boot_anchor_ns", |row| row.clock.boot_anchor_ns)
        .int64("anchor_difference_ns", |row| row.clock.anchor_difference_ns())
        // Nothing is added to the times of a file.
        .int64("offset_ns", |_| Some(0))
        .int64("resolution_ns", |row| row.clock.resolution_ns)
        .int64("time_zone_bias_min", |row| Some(i64::from(row.clock.time_zone_bias_min)))
        .text("time_zone_name", |row| row.clock.time_zone_name.as_deref())
        .bool("sees_clock_adjustments", |row| Some(row.clock.sees_clock_adjustments))
        .text("quality", |row| Some(row.clock.quality))
        .count("disorder_in_buffer", |row| Some(row.clock.disorder.in_buffer))
        .count("disorder_between_buffers", |row| Some(row.clock.disorder.between_buffers))
        .count("disorder_in_file", |row| Some(row.clock.disorder.in_file))
        .int64("largest_step_back_ns", |row| Some(row.clock.disorder.largest_step_back_ns))
        .int64("largest_step_forward_ns", |row| Some(row.clock.disorder.largest_step_forward_ns))
        .count("ties", |row| Some(row.counts?.ties))
        .count("inherited_times", |row| Some(row.clock.inherited_times))
        .count("saturated_times", |row| Some(row.counts?.saturated_times))
        .int64("double_formula_max_error_ns", |row| Some(row.counts?.double_formula_error_ns))
}
