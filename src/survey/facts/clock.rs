//! How the ticks of a file became times, and how far the times can be trusted.

use crate::survey::disorder::Disorder;
use crate::survey::result::FileSurvey;

/// The clock of a file. Times are Unix nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockFacts {
    /// The path relative to the input named by the user, with `/`.
    pub source: String,
    /// The type as declared, 0 to 3.
    pub clock_type: u32,
    /// The clock that the ticks really are of.
    pub clock: &'static str,
    /// Ticks per second of the performance counter.
    pub perf_frequency: i64,
    /// Processor speed in MHz, where recorded.
    pub cpu_mhz: Option<u32>,
    /// `unix_ns = base_ns + floor((ticks - first_ticks) * numerator / denominator)`; `None` without a usable frequency.
    pub ticks_to_ns: Option<(i64, i64)>,
    /// The tick at [`ClockFacts::base_ns`].
    pub first_ticks: i64,
    /// What the conversion starts from.
    pub base_ns: i64,
    /// The name of the pair of tick and time in use.
    pub anchor: &'static str,
    /// The header event's instant by `StartTime`.
    pub start_anchor_ns: i64,
    /// The header event's instant by `BootTime`, where that is recorded and used by the clock.
    pub boot_anchor_ns: Option<i64>,
    /// The smallest distance between two different times.
    pub resolution_ns: Option<i64>,
    /// Minutes to add to local time for UTC.
    pub time_zone_bias_min: i32,
    /// Name of the time zone, where recorded.
    pub time_zone_name: Option<String>,
    /// Whether the times follow when somebody sets the system clock.
    pub sees_clock_adjustments: bool,
    /// `good`, `coarse`, `adjustable` or `unreliable`.
    pub quality: &'static str,
    /// How far the events are from being in order.
    pub disorder: Disorder,
    /// Events that took the time of another.
    pub inherited_times: u64,
}

impl ClockFacts {
    /// The clock of a file.
    pub(super) fn of(file: &FileSurvey) -> Self {
        let (clock, header) = (&file.clock, file.clock.parameters());
        let zone = &file.session.time_zone_name;
        ClockFacts {
            source: file.name.clone(),
            clock_type: header.clock_type,
            clock: clock.kind().name(),
            perf_frequency: header.perf_frequency,
            cpu_mhz: (header.cpu_mhz != 0).then_some(header.cpu_mhz),
            ticks_to_ns: clock.ratio(),
            first_ticks: clock.anchor_ticks().0,
            base_ns: clock.anchor_ns().0,
            anchor: clock.anchor().name(),
            start_anchor_ns: header.start_time.to_unix().0,
            boot_anchor_ns: clock.boot_anchor_ns().map(|anchor| anchor.0),
            resolution_ns: clock.resolution_ns(),
            time_zone_bias_min: file.session.time_zone_bias_min,
            time_zone_name: Some(zone.clone()).filter(|name| !name.is_empty()),
            sees_clock_adjustments: clock.sees_adjustments(),
            quality: clock.quality(),
            disorder: file.disorder,
            inherited_times: file.buffers.iter().map(|buffer| u64::from(buffer.inherited)).sum(),
        }
    }

    /// How far the anchor at boot time lies behind the one at the start.
    pub fn anchor_difference_ns(&self) -> Option<i64> {
        Some(self.boot_anchor_ns?.saturating_sub(self.start_anchor_ns))
    }
}
