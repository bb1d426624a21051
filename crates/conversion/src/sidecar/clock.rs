//! `clock`: one row per input, how its ticks became times and how far the times can be trusted.

use std::borrow::Cow;

use base::words::Words;

use super::row::sidecar_row;
use crate::convert::InputCounts;
use crate::survey::FileSurvey;

sidecar_row! {
    /// The clock of an input. Times are Unix nanoseconds; what the conversion counts is `None` before it.
    #[derive(Default)]
    "clock" ClockRow {
        /// The path relative to the input named by the user, with `/`.
        source: String,
        /// The type as declared, 0 to 3.
        clock_type: u32,
        /// The clock that the ticks really are of.
        clock: Cow<'static, str>,
        /// Ticks per second of the performance counter.
        perf_frequency: i64,
        /// Processor speed in MHz, where recorded.
        cpu_mhz: Option<u32>,
        /// `unix_ns = base_ns + floor((ticks - first_ticks) * numerator / denominator)`; `None` without a usable
        /// frequency.
        ticks_to_ns_numerator: Option<i64>,
        /// See [`ClockRow::ticks_to_ns_numerator`].
        ticks_to_ns_denominator: Option<i64>,
        /// The tick at [`ClockRow::base_ns`].
        first_ticks: i64,
        /// What the conversion starts from.
        base_ns: i64,
        /// The name of the pair of tick and time in use.
        anchor: Cow<'static, str>,
        /// The header event's instant by `StartTime`.
        start_anchor_ns: i64,
        /// The header event's instant by `BootTime`, where that is recorded and used by the clock.
        boot_anchor_ns: Option<i64>,
        /// How far the anchor at boot time lies behind the one at the start.
        anchor_difference_ns: Option<i64>,
        /// What was added to all times of the input, to [`ClockRow::base_ns`] and the other instants here, too.
        offset_ns: i64,
        /// The smallest distance between two different times.
        resolution_ns: Option<i64>,
        /// Minutes to add to local time for UTC.
        time_zone_bias_min: i64,
        /// Name of the time zone, where recorded.
        time_zone_name: Option<String>,
        /// Whether the times follow when somebody sets the system clock.
        sees_clock_adjustments: bool,
        /// `good`, `coarse`, `adjustable` or `unreliable`.
        quality: Cow<'static, str>,
        /// Events that are earlier than the event before them in their buffer.
        disorder_in_buffer: u64,
        /// Buffers that begin before those before them in their stream have ended.
        disorder_between_buffers: u64,
        /// Buffers that begin before the buffer before them in the file begins.
        disorder_in_file: u64,
        /// The largest step back in time within a buffer, or from the end of a stream's buffers to the next one.
        largest_step_back_ns: i64,
        /// The largest step forward in time from the end of a stream's buffers to the next one.
        largest_step_forward_ns: i64,
        /// Events whose neighbour in the order of the recording has the same time.
        ties: Option<u64>,
        /// Events that took the time of another.
        inherited_times: u64,
        /// Times beyond the limits of 64 bits.
        saturated_times: Option<u64>,
        /// The largest difference to the documented formula in doubles.
        double_formula_max_error_ns: Option<i64>,
    }
}

/// The row of an input, and what the conversion counted of its times.
pub fn row(file: &FileSurvey, counts: Option<&InputCounts>) -> ClockRow {
    let (clock, header, disorder) = (&file.clock, file.clock.parameters(), &file.disorder);
    let (numerator, denominator) = clock.ratio().unzip();
    let start_anchor_ns = clock.system_time(header.start_time).0;
    let boot_anchor_ns = clock.boot_anchor_ns().map(|anchor| anchor.0);
    ClockRow {
        source: file.name.clone(),
        clock_type: header.clock_type,
        clock: clock.kind().name().into(),
        perf_frequency: header.perf_frequency,
        cpu_mhz: (header.cpu_mhz != 0).then_some(header.cpu_mhz),
        ticks_to_ns_numerator: numerator,
        ticks_to_ns_denominator: denominator,
        first_ticks: clock.anchor_ticks().0,
        base_ns: clock.anchor_ns().0,
        anchor: clock.anchor().word().into(),
        start_anchor_ns,
        boot_anchor_ns,
        anchor_difference_ns: boot_anchor_ns.map(|boot| boot.saturating_sub(start_anchor_ns)),
        offset_ns: clock.offset_ns(),
        resolution_ns: clock.resolution_ns(),
        time_zone_bias_min: i64::from(file.session.time_zone_bias_min),
        time_zone_name: Some(file.session.time_zone_name.clone()).filter(|name| !name.is_empty()),
        sees_clock_adjustments: clock.sees_adjustments(),
        quality: clock.quality().into(),
        disorder_in_buffer: disorder.in_buffer,
        disorder_between_buffers: disorder.between_buffers,
        disorder_in_file: disorder.in_file,
        largest_step_back_ns: disorder.largest_step_back_ns,
        largest_step_forward_ns: disorder.largest_step_forward_ns,
        ties: counts.map(|counts| counts.ties),
        inherited_times: file.buffers.iter().map(|buffer| u64::from(buffer.inherited)).sum(),
        saturated_times: counts.map(|counts| counts.saturated_times),
        double_formula_max_error_ns: counts.map(|counts| counts.double_formula_error_ns),
    }
}
