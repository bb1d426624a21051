//! Raw clock ticks to Unix nanoseconds, in exact integer arithmetic.
//!
//! A session records with one of three clocks, named in its header event. Every time in the file is a tick count
//! of that clock; what turns it into a point in time is the pair taken when the session started: the tick of the
//! header event and `StartTime`, the same instant on the system clock. With `d` the distance to that tick,
//!
//! ```text
//! unix_ns = base_ns + floor(d * numerator / denominator)
//! ```
//!
//! once per event, never accumulated, so there is no drift and order survives. A machine whose clock is known to be off
//! has the distance added to `base_ns`. The published procedure uses
//! doubles; the two differ by a few 100 ns at most, and [`Clock::double_formula`] measures by how much.

use crate::words;
use serde::{Deserialize, Serialize};

/// A time as it stands in the file: ticks of the session's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticks(pub i64);

/// Nanoseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnixNanos(pub i64);

/// 100 ns intervals since 1601-01-01 UTC.
#[doc(alias = "FILETIME")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileTime(pub i64);

/// 1970-01-01 UTC as a [`FileTime`].
pub const UNIX_EPOCH: FileTime = FileTime(116_444_736_000_000_000);

/// No Windows that writes ETL ran before this system time (1972); a QPC tick of this size takes decades.
const EARLIEST_SYSTEM_TIME: i64 = 0x01A0_0000_0000_0000;

/// How far the header event's tick may lie from `StartTime` and still prove that the ticks are system time: an hour.
const SAME_INSTANT: u64 = 36_000_000_000;

/// The first Windows whose system-time sessions use the precise clock: Windows 10.
const FIRST_PRECISE_BUILD: u32 = 10240;

impl FileTime {
    /// The same instant in Unix nanoseconds, saturated at the limits of `i64`.
    pub fn to_unix(self) -> UnixNanos {
        UnixNanos(saturate(self.unix_ns()).0)
    }

    fn unix_ns(self) -> i128 {
        (i128::from(self.0) - i128::from(UNIX_EPOCH.0)) * 100
    }
}

/// The clock a session recorded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockKind {
    /// The performance counter: monotonic, blind to adjustments of the system clock.
    Qpc,
    /// The system clock: follows adjustments, also backward.
    SystemTime,
    /// The processor's cycle counter: unreliable across frequency changes and sleep states.
    CpuCycle,
}

impl ClockKind {
    /// The name used in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            ClockKind::Qpc => "qpc",
            ClockKind::SystemTime => "system_time",
            ClockKind::CpuCycle => "cpu_cycle",
        }
    }
}

/// Which pair of tick and time the conversion hangs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClockAnchor {
    /// The tick of the header event and `StartTime`: the documented procedure.
    #[default]
    Start,
    /// Tick 0 and `BootTime`, which follows later adjustments of the system clock.
    Boot,
}

words! { ClockAnchor {
    Start = "start": "The start time of the session, as Windows does",
    Boot = "boot": "The boot time, which follows later corrections of the system clock",
} }

/// What is special about one converted time; `None` of this means exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeStatus {
    /// The event has no time of its own and took that of the event before it.
    Inherited,
    /// The exact value lies outside of `i64` nanoseconds.
    Saturated,
    /// There is no usable frequency: one tick was counted as one nanosecond.
    Unscaled,
}

impl TimeStatus {
    /// All values, in their order.
    pub const ALL: [TimeStatus; 3] = [TimeStatus::Inherited, TimeStatus::Saturated, TimeStatus::Unscaled];

    /// The name used in the column `time_status`.
    pub fn name(self) -> &'static str {
        match self {
            TimeStatus::Inherited => "inherited",
            TimeStatus::Saturated => "saturated",
            TimeStatus::Unscaled => "unscaled",
        }
    }
}

/// What the header event says about the session's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockParameters {
    /// `ReservedFlags`: 1 QPC, 2 system time, 3 CPU cycles, 0 the default of the system.
    pub clock_type: u32,
    /// Ticks per second of the performance counter.
    pub perf_frequency: i64,
    /// Processor speed in MHz.
    pub cpu_mhz: u32,
    /// `StartTime`.
    pub start_time: FileTime,
    /// `BootTime`.
    pub boot_time: FileTime,
    /// The tick of the header event.
    pub first_ticks: Ticks,
    /// Length of a timer tick in 100 ns.
    pub timer_resolution: u32,
    /// The build of the recording system.
    pub os_build: u32,
    /// Whether a process recorded its own events.
    pub is_private: bool,
}

/// The conversion from ticks of one file to Unix nanoseconds.
///
/// Written to a file as what it was made from, so that no ratio can be read that none was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ClockOrigin", from = "ClockOrigin")]
pub struct Clock {
    parameters: ClockParameters,
    kind: ClockKind,
    anchor: ClockAnchor,
    anchor_ticks: i64,
    anchor_ns: i128,
    /// Nanoseconds per tick, as a reduced fraction.
    numerator: i64,
    denominator: i64,
    unscaled: bool,
    /// Nanoseconds in `anchor_ns` that the user has added.
    offset_ns: i64,
}

/// What a clock is made from.
#[derive(Serialize, Deserialize)]
struct ClockOrigin {
    parameters: ClockParameters,
    anchor: ClockAnchor,
    #[serde(default, skip_serializing_if = "is_zero")]
    offset_ns: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it like this")]
fn is_zero(offset_ns: &i64) -> bool {
    *offset_ns == 0
}

impl From<Clock> for ClockOrigin {
    fn from(clock: Clock) -> Self {
        ClockOrigin { parameters: clock.parameters, anchor: clock.anchor, offset_ns: clock.offset_ns }
    }
}

impl From<ClockOrigin> for Clock {
    fn from(origin: ClockOrigin) -> Self {
        Clock::new(origin.parameters, origin.anchor).moved_by(origin.offset_ns)
    }
}

impl Clock {
    /// Settles the clock of a file. A declared type that the header event's tick contradicts is ignored; see
    /// [`Clock::declared_type_ignored`].
    pub fn new(parameters: ClockParameters, anchor: ClockAnchor) -> Self {
        let kind = actual_clock(&parameters);
        let (ns, ticks) = match kind {
            ClockKind::Qpc => (1_000_000_000, parameters.perf_frequency),
            ClockKind::SystemTime => (100, 1),
            ClockKind::CpuCycle => (1000, i64::from(parameters.cpu_mhz)),
        };
        let unscaled = ticks <= 0;
        let (numerator, denominator) = if unscaled { (1, 1) } else { reduce(ns, ticks) };
        let first = parameters.first_ticks.0;
        let (anchor_ticks, anchor_ns) = match (kind, anchor) {
            // The ticks are themselves the time; the header's pair is not needed.
            (ClockKind::SystemTime, _) => (first, FileTime(first).unix_ns()),
            (_, ClockAnchor::Start) => (first, parameters.start_time.unix_ns()),
            (_, ClockAnchor::Boot) => (0, parameters.boot_time.unix_ns()),
        };
        Clock { parameters, kind, anchor, anchor_ticks, anchor_ns, numerator, denominator, unscaled, offset_ns: 0 }
    }

    /// The clock with so many nanoseconds added to all its times, besides those that were added before.
    #[must_use]
    pub fn moved_by(self, offset_ns: i64) -> Self {
        let anchor_ns = self.anchor_ns + i128::from(offset_ns);
        Clock { anchor_ns, offset_ns: self.offset_ns.saturating_add(offset_ns), ..self }
    }

    /// Nanoseconds that are added to all times.
    pub fn offset_ns(&self) -> i64 {
        self.offset_ns
    }

    /// The instant of a system time that the machine recorded beside its ticks.
    pub fn system_time(&self, time: FileTime) -> UnixNanos {
        UnixNanos(saturate(time.unix_ns() + i128::from(self.offset_ns)).0)
    }

    /// The instant of a tick, and what is special about it.
    #[inline]
    pub fn convert(&self, ticks: Ticks) -> (UnixNanos, Option<TimeStatus>) {
        let (ns, saturated) = match self.convert_small(ticks) {
            Some(ns) => (ns, false),
            None => saturate(self.convert_wide(ticks)),
        };
        let status = match (saturated, self.unscaled) {
            (true, _) => Some(TimeStatus::Saturated),
            (false, true) => Some(TimeStatus::Unscaled),
            (false, false) => None,
        };
        (UnixNanos(ns), status)
    }

    /// What is special about the time that [`Clock::convert`] gives for a tick, once that time is known.
    #[inline]
    pub fn status_of(&self, ticks: Ticks, time: UnixNanos) -> Option<TimeStatus> {
        match time.0 {
            i64::MIN | i64::MAX => self.convert(ticks).1,
            _ => self.unscaled.then_some(TimeStatus::Unscaled),
        }
    }

    /// Nanoseconds in a span of the performance counter, rounded down, whatever the session's clock is. `None` without a
    /// usable frequency, or when the span does not fit.
    pub fn counter_span_ns(&self, ticks: u64) -> Option<i64> {
        let frequency = u128::try_from(self.parameters.perf_frequency).ok().filter(|&frequency| frequency > 0)?;
        i64::try_from(u128::from(ticks) * 1_000_000_000 / frequency).ok()
    }

    /// The instant of a tick.
    #[inline]
    pub fn to_unix(&self, ticks: Ticks) -> UnixNanos {
        self.convert(ticks).0
    }

    /// The conversion in 64 bits, or `None` where it could overflow. With `d = q * den + r` the value is
    /// `q * num + floor(r * num / den)`, the same number as in [`Clock::convert_wide`].
    #[inline]
    fn convert_small(&self, ticks: Ticks) -> Option<i64> {
        let distance = ticks.0.checked_sub(self.anchor_ticks)?;
        let base = i64::try_from(self.anchor_ns).ok()?;
        let scaled = if self.denominator == 1 {
            distance.checked_mul(self.numerator)?
        } else {
            let (quotient, rest) = (distance.div_euclid(self.denominator), distance.rem_euclid(self.denominator));
            let part = rest.checked_mul(self.numerator)? / self.denominator;
            quotient.checked_mul(self.numerator)?.checked_add(part)?
        };
        base.checked_add(scaled)
    }

    fn convert_wide(&self, ticks: Ticks) -> i128 {
        let distance = i128::from(ticks.0) - i128::from(self.anchor_ticks);
        self.anchor_ns + (distance * i128::from(self.numerator)).div_euclid(i128::from(self.denominator))
    }

    /// The documented conversion in doubles, to measure how far it is off; `None` where it is exact (a clock of 10 MHz
    /// needs no scaling at all) or impossible.
    pub fn double_formula(&self) -> Option<DoubleFormula> {
        let scale = match self.kind {
            _ if self.unscaled => return None,
            ClockKind::Qpc if self.parameters.perf_frequency == 10_000_000 => return None,
            ClockKind::Qpc => 10_000_000.0 / to_double(self.parameters.perf_frequency),
            ClockKind::SystemTime => 1.0,
            ClockKind::CpuCycle => 10.0 / f64::from(self.parameters.cpu_mhz),
        };
        let base =
            self.parameters.start_time.0.wrapping_sub(truncate(scale * to_double(self.parameters.first_ticks.0)));
        let is_own = (self.anchor == ClockAnchor::Start || self.kind == ClockKind::SystemTime) && self.offset_ns == 0;
        Some(DoubleFormula { scale, base, exact: Clock::new(self.parameters, ClockAnchor::Start), is_own })
    }

    /// What the header event says of it.
    pub fn parameters(&self) -> &ClockParameters {
        &self.parameters
    }

    /// The clock that the ticks really are of.
    pub fn kind(&self) -> ClockKind {
        self.kind
    }

    /// The declared type, when the ticks contradict it.
    pub fn declared_type_ignored(&self) -> Option<u32> {
        let declared = match self.parameters.clock_type {
            0 => return None,
            1 => Some(ClockKind::Qpc),
            2 => Some(ClockKind::SystemTime),
            3 => Some(ClockKind::CpuCycle),
            _ => None,
        };
        (declared != Some(self.kind)).then_some(self.parameters.clock_type)
    }

    /// The anchor in use.
    pub fn anchor(&self) -> ClockAnchor {
        self.anchor
    }

    /// The tick at which the conversion yields [`Clock::anchor_ns`].
    pub fn anchor_ticks(&self) -> Ticks {
        Ticks(self.anchor_ticks)
    }

    /// The instant of [`Clock::anchor_ticks`].
    pub fn anchor_ns(&self) -> UnixNanos {
        UnixNanos(saturate(self.anchor_ns).0)
    }

    /// Nanoseconds per tick as a reduced fraction; `None` without a usable frequency.
    pub fn ratio(&self) -> Option<(i64, i64)> {
        (!self.unscaled).then_some((self.numerator, self.denominator))
    }

    /// Whether distinct ticks can fall into one nanosecond, so that the tick itself must be kept.
    pub fn is_finer_than_ns(&self) -> bool {
        self.denominator > self.numerator
    }

    /// The header event's instant by `BootTime`; `None` where that is not recorded, and for system time, where no anchor
    /// is used.
    pub fn boot_anchor_ns(&self) -> Option<UnixNanos> {
        (self.kind != ClockKind::SystemTime && self.parameters.boot_time.0 != 0)
            .then(|| Clock::new(self.parameters, ClockAnchor::Boot).moved_by(self.offset_ns))
            .map(|boot| boot.to_unix(self.parameters.first_ticks))
    }

    /// The smallest distance between two different times, in nanoseconds, rounded up.
    pub fn resolution_ns(&self) -> Option<i64> {
        match self.kind {
            ClockKind::SystemTime if !self.is_precise() => Some(i64::from(self.parameters.timer_resolution) * 100),
            _ => self.ratio().map(|(ns, ticks)| ns.div_euclid(ticks) + i64::from(ns.rem_euclid(ticks) != 0)),
        }
    }

    /// How far the clock can be trusted: `good`, `coarse`, `adjustable` or `unreliable`.
    pub fn quality(&self) -> &'static str {
        match self.kind {
            _ if self.unscaled => "unreliable",
            ClockKind::Qpc => "good",
            ClockKind::SystemTime if self.is_precise() => "adjustable",
            ClockKind::SystemTime => "coarse",
            ClockKind::CpuCycle => "unreliable",
        }
    }

    /// Whether system time has finer steps than the timer's ticks. The library that records for a process reads the time
    /// that the kernel keeps up to date with every tick.
    fn is_precise(&self) -> bool {
        self.parameters.os_build >= FIRST_PRECISE_BUILD && !self.parameters.is_private
    }

    /// Whether the times follow when somebody sets the system clock. The counters run on: their times are those of a
    /// clock that was never adjusted.
    pub fn sees_adjustments(&self) -> bool {
        self.kind == ClockKind::SystemTime
    }
}

/// The conversion that the documentation gives, in doubles: file time = base + scale * tick.
#[derive(Clone, Debug)]
pub struct DoubleFormula {
    scale: f64,
    base: i64,
    exact: Clock,
    /// Whether that is the clock which the formula is of.
    is_own: bool,
}

impl DoubleFormula {
    /// What the formula gives minus the exact value, in nanoseconds, both in whole units of 100 ns; 0 for a time beyond the
    /// limits of 64 bits, where there is nothing to compare. `time` is what the clock gives for the tick.
    #[inline]
    pub fn error_ns(&self, ticks: Ticks, time: UnixNanos) -> i64 {
        let is_known = self.is_own && !matches!(time.0, i64::MIN | i64::MAX);
        let (exact, None) = (if is_known { (time, None) } else { self.exact.convert(ticks) }) else { return 0 };
        let formula = self.base.wrapping_add(truncate(self.scale * to_double(ticks.0)));
        let exact = exact.0.div_euclid(100).wrapping_add(UNIX_EPOCH.0);
        formula.saturating_sub(exact).saturating_mul(100)
    }
}

/// The clock the ticks are of. The header event's tick and `StartTime` are one instant: if the two agree as file
/// times, the ticks are system time, whatever was declared (a session that asks for cycles gets system time on
/// hardware without them); if the tick is no possible system time, they are not.
fn actual_clock(parameters: &ClockParameters) -> ClockKind {
    let first = parameters.first_ticks.0;
    let could_be_system_time = first >= EARLIEST_SYSTEM_TIME;
    let is_system_time = could_be_system_time && first.abs_diff(parameters.start_time.0) < SAME_INSTANT;
    match parameters.clock_type {
        _ if is_system_time => ClockKind::SystemTime,
        0 | 2 if could_be_system_time => ClockKind::SystemTime,
        3 => ClockKind::CpuCycle,
        _ => ClockKind::Qpc,
    }
}

fn reduce(a: i64, b: i64) -> (i64, i64) {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x, b / x)
}

fn saturate(value: i128) -> (i64, bool) {
    let clamped = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    (i64::try_from(clamped).expect("clamped to the range of i64"), clamped != value)
}

#[expect(clippy::cast_precision_loss, reason = "the documented formula loses exactly this precision")]
fn to_double(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, reason = "the documented formula truncates")]
fn truncate(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parameters(clock_type: u32, perf_frequency: i64, cpu_mhz: u32) -> ClockParameters {
        ClockParameters {
            clock_type,
            perf_frequency,
            cpu_mhz,
            start_time: FileTime(131_087_674_424_789_313),
            boot_time: FileTime(131_086_937_101_250_000),
            first_ticks: Ticks(5_000_000_000),
            timer_resolution: 156_250,
            os_build: 19045,
            is_private: false,
        }
    }

    fn clock(clock_type: u32, perf_frequency: i64, cpu_mhz: u32) -> Clock {
        Clock::new(parameters(clock_type, perf_frequency, cpu_mhz), ClockAnchor::Start)
    }

    /// 131087674424789313 is 2016-05-26 20:17:22.4789313 UTC.
    const START_NS: i64 = 1_464_293_842_478_931_300;

    #[test]
    fn a_tick_counts_from_the_start_of_the_session() {
        for (frequency, distance, ns) in [
            (10_000_000, 0, 0),
            (10_000_000, 1, 100),
            (10_000_000, -1, -100),
            (3_579_545, 1, 279),   // 279.365…
            (3_579_545, -1, -280), // toward the past
            (3_579_545, 3_579_545, 1_000_000_000),
            (3_000_000_000, 2, 0), // 0.67 ns
            (3_000_000_000, -1, -1),
        ] {
            let clock = clock(1, frequency, 0);
            assert_eq!(
                clock.convert(Ticks(5_000_000_000 + distance)),
                (UnixNanos(START_NS + ns), None),
                "{frequency} Hz, {distance} ticks"
            );
        }
        assert_eq!(clock(3, 0, 3592).to_unix(Ticks(5_000_003_592)), UnixNanos(START_NS + 1000));
    }

    #[test]
    fn system_time_is_the_time_itself() {
        let mut parameters = parameters(2, 10_000_000, 0);
        parameters.first_ticks = Ticks(131_087_674_424_789_313);
        parameters.start_time = FileTime(131_087_674_424_789_399);
        let clock = Clock::new(parameters, ClockAnchor::Start);
        assert_eq!(clock.kind(), ClockKind::SystemTime);
        assert_eq!(clock.to_unix(Ticks(131_087_674_424_789_313)), UnixNanos(START_NS));
        assert_eq!(clock.to_unix(Ticks(131_087_674_424_789_312)), UnixNanos(START_NS - 100));
        assert_eq!(clock.quality(), "adjustable");
        assert_eq!(clock.boot_anchor_ns(), None);
    }

    #[test]
    fn a_declared_type_that_cannot_be_true_is_overruled() {
        let with = |clock_type, first| {
            let mut parameters = parameters(clock_type, 10_000_000, 3000);
            parameters.first_ticks = Ticks(first);
            let clock = Clock::new(parameters, ClockAnchor::Start);
            (clock.kind(), clock.declared_type_ignored())
        };
        let system = 131_087_674_424_789_313;
        assert_eq!(with(0, 5_000_000_000), (ClockKind::Qpc, None));
        assert_eq!(with(0, system), (ClockKind::SystemTime, None));
        assert_eq!(with(1, 5_000_000_000), (ClockKind::Qpc, None));
        assert_eq!(with(1, system), (ClockKind::SystemTime, Some(1)));
        assert_eq!(with(2, system), (ClockKind::SystemTime, None));
        assert_eq!(with(2, 5_000_000_000), (ClockKind::Qpc, Some(2)));
        assert_eq!(with(3, 5_000_000_000), (ClockKind::CpuCycle, None));
        assert_eq!(with(3, system), (ClockKind::SystemTime, Some(3)));
        assert_eq!(with(9, 5_000_000_000), (ClockKind::Qpc, Some(9)));
        // A cycle counter of 430 days of uptime reaches the size of a file time, but not that of this StartTime.
        assert_eq!(with(3, system + 1_000_000_000_000_000), (ClockKind::CpuCycle, None));
    }

    #[test]
    fn without_a_frequency_ticks_are_kept_unscaled() {
        let clock = clock(1, 0, 0);
        assert_eq!(clock.convert(Ticks(5_000_000_007)), (UnixNanos(START_NS + 7), Some(TimeStatus::Unscaled)));
        assert_eq!(clock.ratio(), None);
        assert_eq!(clock.quality(), "unreliable");
        assert!(clock.double_formula().is_none());
    }

    #[test]
    fn spans_of_the_performance_counter_do_not_depend_on_the_clock() {
        for clock_type in 0..=3 {
            let clock = clock(clock_type, 3_000_000, 2_000);
            assert_eq!([0, 1, 3_000_000].map(|t| clock.counter_span_ns(t)), [Some(0), Some(333), Some(1_000_000_000)]);
            assert_eq!(clock.counter_span_ns(u64::MAX), None);
        }
        assert_eq!([0, -1].map(|frequency| clock(1, frequency, 0).counter_span_ns(1)), [None, None]);
    }

    #[test]
    fn times_outside_of_64_bits_saturate() {
        let clock = clock(1, 1, 0);
        assert_eq!(clock.convert(Ticks(i64::MAX)), (UnixNanos(i64::MAX), Some(TimeStatus::Saturated)));
        assert_eq!(clock.convert(Ticks(i64::MIN)), (UnixNanos(i64::MIN), Some(TimeStatus::Saturated)));
    }

    #[test]
    fn an_offset_moves_every_time_by_the_same() {
        let system_ticks = 131_087_674_424_789_313;
        let system_time = ClockParameters { first_ticks: Ticks(system_ticks), ..parameters(2, 3_000_000, 0) };
        for (clock, ticks) in [
            (clock(1, 3_000_000, 0), 5_000_000_001),
            (Clock::new(parameters(1, 3_000_000, 0), ClockAnchor::Boot), 5_000_000_001),
            (clock(3, 0, 2_000), 5_000_000_001),
            (Clock::new(system_time, ClockAnchor::Start), system_ticks + 8),
        ] {
            let moved = clock.clone().moved_by(-1_500_001);
            let (time, status) = clock.convert(Ticks(ticks));
            assert_eq!(moved.convert(Ticks(ticks)), (UnixNanos(time.0 - 1_500_001), status));
            assert_eq!(status, None);
            let error = |clock: &Clock| {
                let formula = clock.double_formula();
                formula.map(|formula| formula.error_ns(Ticks(ticks), clock.to_unix(Ticks(ticks))))
            };
            assert_eq!(error(&moved), error(&clock));
            let start = clock.parameters().start_time;
            assert_eq!(moved.system_time(start), UnixNanos(start.to_unix().0 - 1_500_001));
            assert_eq!(moved.boot_anchor_ns().map(|ns| ns.0 + 1_500_001), clock.boot_anchor_ns().map(|ns| ns.0));
            assert_eq!(moved.ratio(), clock.ratio());
            let stored: Clock = serde_json::from_str(&serde_json::to_string(&moved).unwrap()).unwrap();
            assert_eq!((stored.offset_ns(), &stored), (-1_500_001, &moved));
            assert_eq!(serde_json::to_value(&clock).unwrap().as_object().unwrap().len(), 2);
        }
        let far = clock(1, 10_000_000, 0).moved_by(i64::MAX);
        assert_eq!(far.convert(Ticks(5_000_000_000)), (UnixNanos(i64::MAX), Some(TimeStatus::Saturated)));
    }

    #[test]
    fn the_boot_anchor_hangs_on_tick_zero() {
        let clock = Clock::new(parameters(1, 10_000_000, 0), ClockAnchor::Boot);
        assert_eq!(clock.to_unix(Ticks(0)), FileTime(131_086_937_101_250_000).to_unix());
        assert_eq!(clock.boot_anchor_ns(), Some(clock.to_unix(Ticks(5_000_000_000))));
    }

    #[test]
    fn the_double_formula_is_off_where_it_is_known_to_be() {
        assert!(clock(1, 10_000_000, 0).double_formula().is_none());
        let mut parameters = parameters(2, 10_000_000, 0);
        parameters.start_time = FileTime(131_087_674_424_789_313);
        parameters.first_ticks = Ticks(131_087_674_424_789_313);
        // A double of this size counts in steps of 16: the first tick rounds up to ...312 and the last to ...328.
        let clock = Clock::new(parameters, ClockAnchor::Start);
        let error = |ticks| clock.double_formula().unwrap().error_ns(ticks, clock.to_unix(ticks));
        assert_eq!(error(Ticks(131_087_674_424_789_321)), 800);
        assert_eq!(error(Ticks(i64::MAX)), 0);
    }

    #[test]
    fn resolution_is_that_of_the_clock_in_use() {
        assert_eq!(clock(1, 10_000_000, 0).resolution_ns(), Some(100));
        assert_eq!(clock(1, 3_579_545, 0).resolution_ns(), Some(280));
        let mut old = parameters(2, 10_000_000, 0);
        old.first_ticks = Ticks(old.start_time.0);
        old.os_build = 7601;
        let old = Clock::new(old, ClockAnchor::Start);
        assert_eq!((old.resolution_ns(), old.quality()), (Some(15_625_000), "coarse"));
    }

    proptest! {
        /// A time that is known is not converted again.
        #[test]
        fn the_double_formula_is_held_against_the_exact_time(
            clock_type in 1u32..=3, frequency in 1i64.., mhz in 1u32..5000, boot: bool, first: i64, ticks: i64,
        ) {
            let parameters = ClockParameters { first_ticks: Ticks(first), ..parameters(clock_type, frequency, mhz) };
            let clock = Clock::new(parameters, if boot { ClockAnchor::Boot } else { ClockAnchor::Start });
            if let Some(formula) = clock.double_formula() {
                let converted = DoubleFormula { is_own: false, ..formula.clone() };
                let time = clock.to_unix(Ticks(ticks));
                prop_assert_eq!(formula.error_ns(Ticks(ticks), time), converted.error_ns(Ticks(ticks), time));
            }
        }

        #[test]
        fn the_short_way_is_the_long_way(frequency in 1i64.., first: i64, ticks: i64) {
            let mut parameters = parameters(1, frequency, 0);
            parameters.first_ticks = Ticks(first);
            parameters.start_time = FileTime(1);
            let clock = Clock::new(parameters, ClockAnchor::Start);
            let (time, status) = clock.convert(Ticks(ticks));
            prop_assert_eq!(clock.status_of(Ticks(ticks), time), status);
            let wide = saturate(clock.convert_wide(Ticks(ticks)));
            prop_assert_eq!(clock.to_unix(Ticks(ticks)).0, wide.0);
            if let Some(small) = clock.convert_small(Ticks(ticks)) {
                prop_assert_eq!((small, false), wide);
            }
        }

        #[test]
        fn order_survives(frequency in 1i64..10_000_000_000, a: i64, b: i64) {
            let clock = clock(1, frequency, 0);
            if a <= b {
                prop_assert!(clock.to_unix(Ticks(a)) <= clock.to_unix(Ticks(b)));
            }
        }
    }
}
