//! The buffers of each processor over time: how full they were, where none is, and what was lost.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use base::readable::count::counted;
use conversion::read_columns;
use conversion::sidecar::buffers::BufferRow;
use conversion::sidecar::{InputFacts, LossRow};
use conversion::survey::loss::LossKind;

use super::axis::{Axis, BINS};
use crate::source::Source;

/// Lanes that are shown.
const MOST_LANES: usize = 64;
/// Lanes that are added up, whatever a damaged file says of its processors.
const MOST_KEPT: usize = 4096;
/// Rows of losses that are shown.
const MOST_LOSSES: usize = 20;
/// Names of what losses count.
const MOST_UNITS: usize = 16;
/// Parts in a thousand that a buffer has.
const FULL: u64 = 1000;

/// The buffers of one processor of one input.
#[derive(Debug)]
pub(super) struct Lane {
    /// The input, by its place among them.
    pub input: usize,
    /// The processor; `None` where all share the buffers.
    pub cpu: Option<i64>,
    /// Buffers.
    pub buffers: u64,
    /// Events in them.
    pub events: u64,
    /// How full they were on the average, in thousandths.
    pub fill: u64,
    /// For each part of the time how full the fullest buffer was that reaches into it, in thousandths; 0 where none does.
    pub bins: Vec<u64>,
    /// What was lost in each part of the time.
    pub lost: Vec<Lost>,
    /// Known gaps.
    pub gaps: u64,
    /// Possible gaps.
    pub possible_gaps: u64,
    /// Bytes in buffers, and what these have room for.
    used: u64,
    room: u64,
}

/// What is known of losses in a part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lost {
    /// Nothing.
    #[default]
    Nothing,
    /// Something may have been lost.
    Possible,
    /// Something was lost.
    Certain,
}

/// All lanes, and what was lost.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// By input and processor.
    pub shown: Vec<Lane>,
    /// How many more there are.
    pub more: usize,
    /// Gaps: certain ones first.
    pub losses: Vec<LossRow>,
    /// How many more there are.
    pub more_losses: u64,
    /// What may have been lost, by what is counted: how much, as far as it is known, and in how many rows it is not.
    possible: BTreeMap<Cow<'static, str>, (u64, u64)>,
    /// Buffers that sessions wrote and the inputs lack at their ends.
    pub absent_buffers: u64,
}

read_columns! {
    /// A buffer.
    struct Buffer<'b> of BufferRow<'static> {
        source: &'b str,
        cpu: Option<i64>,
        used_bytes: u64,
        events: u64,
        first_time_ns: Option<i64>,
        last_time_ns: Option<i64>,
    }
}

/// Reads the buffers and the gaps.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn lanes(source: &Source<'_>, axis: &Axis, inputs: &[InputFacts]) -> Result<Lanes> {
    let mut by_key = BTreeMap::<(usize, Option<i64>), Lane>::new();
    let mut keys = BTreeSet::new();
    let place = |name: &str| inputs.iter().position(|input| input.session.source == name).unwrap_or(0);
    source.sidecar::<Buffer<'_>>(|buffer| {
        let key @ (input, cpu) = (place(buffer.source), buffer.cpu);
        keys.insert(key);
        if by_key.len() >= MOST_KEPT && !by_key.contains_key(&key) {
            return;
        }
        let lane = by_key.entry(key).or_insert_with(|| Lane::new(input, cpu));
        let room = inputs.get(input).map_or(0, |input| u64::from(input.session.buffer_size));
        let span = buffer.first_time_ns.zip(buffer.last_time_ns);
        lane.add(axis, room, buffer.used_bytes, buffer.events, span);
    })?;
    let mut lanes = Lanes::default();
    source.sidecar::<LossRow>(|loss| {
        if loss.count == Some(0) {
            return;
        }
        lanes.add_possible(&loss);
        lanes.absent_buffers = lanes.absent_buffers.saturating_add(absent_buffers(&loss));
        let key = (place(&loss.source), loss.cpu.map(i64::from));
        if let Some(lane) = loss.cpu.and_then(|_| by_key.get_mut(&key)) {
            lane.lose(axis, &loss);
        }
        lanes.keep(loss);
    })?;
    lanes.more = keys.len().saturating_sub(MOST_LANES);
    lanes.shown = by_key.into_values().take(MOST_LANES).collect();
    lanes.shown.iter_mut().for_each(Lane::settle);
    Ok(lanes)
}

/// Buffers that the session wrote and the end of an input lacks.
fn absent_buffers(loss: &LossRow) -> u64 {
    let is_end = loss.kind == LossKind::TruncatedTail && loss.unit == "buffers";
    loss.count.filter(|_| is_end).unwrap_or(0)
}

impl Lanes {
    /// What may have been lost: `possibly 2 buffers`; `None` where nothing says so.
    pub(super) fn possible(&self) -> Option<String> {
        let amounts = self.possible.iter().map(|(unit, (count, unknown))| match (count, unknown) {
            (0, _) => unit.to_string(),
            (count, 0) => counted(*count, unit),
            (count, _) => format!("at least {}", counted(*count, unit)),
        });
        let amounts: Vec<String> = amounts.collect();
        (!amounts.is_empty()).then(|| format!("possibly {}", amounts.join(", ")))
    }

    fn add_possible(&mut self, loss: &LossRow) {
        // What is counted has few names; a damaged table is not held at length. That a counter was not recorded says nothing of a loss.
        if loss.is_certain
            || loss.is_counter()
            || self.possible.len() >= MOST_UNITS && !self.possible.contains_key(&loss.unit)
        {
            return;
        }
        let (count, unknown) = self.possible.entry(loss.unit.clone()).or_default();
        match loss.count {
            Some(more) => *count = count.saturating_add(more),
            None => *unknown = unknown.saturating_add(1),
        }
    }

    /// Keeps the first certain ones; of others as many as there is room for.
    fn keep(&mut self, loss: LossRow) {
        let place = if loss.is_certain {
            self.losses.iter().take_while(|kept| kept.is_certain).count()
        } else {
            self.losses.len()
        };
        self.losses.insert(place, loss);
        if self.losses.len() > MOST_LOSSES {
            self.losses.pop();
            self.more_losses = self.more_losses.saturating_add(1);
        }
    }
}

impl Lane {
    fn new(input: usize, cpu: Option<i64>) -> Lane {
        Lane {
            input,
            cpu,
            buffers: 0,
            events: 0,
            fill: 0,
            bins: vec![0; BINS],
            lost: vec![Lost::Nothing; BINS],
            gaps: 0,
            possible_gaps: 0,
            used: 0,
            room: 0,
        }
    }

    fn add(&mut self, axis: &Axis, room: u64, used: u64, events: u64, span: Option<(i64, i64)>) {
        self.buffers = self.buffers.saturating_add(1);
        self.events = self.events.saturating_add(events);
        self.used = self.used.saturating_add(used);
        self.room = self.room.saturating_add(room);
        let fill = thousandths(used, room).max(1);
        let Some((from, to)) = span else { return };
        axis.spread(from, to.saturating_add(1), |bin, _| {
            if let Some(fullest) = self.bins.get_mut(bin) {
                *fullest = fill.max(*fullest);
            }
        });
    }

    fn lose(&mut self, axis: &Axis, loss: &LossRow) {
        let lost = if loss.is_certain { Lost::Certain } else { Lost::Possible };
        let gaps = if loss.is_certain { &mut self.gaps } else { &mut self.possible_gaps };
        *gaps = gaps.saturating_add(1);
        let (Some(from), Some(to)) = (loss.from_time_ns, loss.to_time_ns) else { return };
        axis.spread(from, to.max(from).saturating_add(1), |bin, _| {
            if let Some(worst) = self.lost.get_mut(bin) {
                *worst = lost.max(*worst);
            }
        });
    }

    fn settle(&mut self) {
        self.fill = thousandths(self.used, self.room);
    }
}

/// A part of a whole, at most all of it.
fn thousandths(part: u64, whole: u64) -> u64 {
    let thousandths = u128::from(part) * u128::from(FULL) / u128::from(whole.max(1));
    u64::try_from(thousandths).unwrap_or(FULL).min(FULL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_has_the_fullest_buffer_of_each_part() {
        let axis = Axis::new(0, 1599);
        let mut lane = Lane::new(0, Some(1));
        lane.add(&axis, 1000, 500, 3, Some((0, 15)));
        lane.add(&axis, 1000, 900, 4, Some((12, 12)));
        lane.add(&axis, 1000, 72, 0, None);
        lane.settle();
        assert_eq!((&lane.bins[..4], lane.buffers, lane.events, lane.fill), (&[500, 900, 0, 0][..], 3, 7, 490));
        assert_eq!((thousandths(5, 0), thousandths(u64::MAX, u64::MAX)), (1000, 1000));
    }

    #[test]
    fn certain_losses_come_first() {
        let axis = Axis::new(0, 1599);
        let loss = |is_certain, from, to| LossRow {
            source: String::new(),
            kind: LossKind::SequenceGap,
            cpu: Some(0),
            from_time_ns: Some(from),
            to_time_ns: Some(to),
            from_buffer: None,
            to_buffer: None,
            count: None,
            unit: "buffers".into(),
            is_lower_bound: false,
            is_certain,
            evidence: String::new(),
            note: None,
        };
        let mut lane = Lane::new(0, Some(0));
        lane.lose(&axis, &loss(true, 10, 19));
        lane.lose(&axis, &loss(false, 0, 29));
        assert_eq!(lane.lost[..4], [Lost::Possible, Lost::Certain, Lost::Possible, Lost::Nothing]);
        let mut lanes = Lanes::default();
        (0..30_i64).for_each(|number| lanes.keep(loss(number % 2 == 1, number, number)));
        let certain: Vec<bool> = lanes.losses.iter().map(|loss| loss.is_certain).collect();
        assert_eq!(lanes.possible(), None, "none was added up");
        for (count, is_certain) in [(Some(2), false), (Some(3), false), (Some(9), true)] {
            lanes.add_possible(&LossRow { count, ..loss(is_certain, 0, 0) });
        }
        assert_eq!(lanes.possible().as_deref(), Some("possibly 5 buffers"));
        lanes.add_possible(&loss(false, 0, 0));
        lanes.add_possible(&LossRow { unit: "events".into(), ..loss(false, 0, 0) });
        lanes.add_possible(&LossRow { unit: "files".into(), kind: LossKind::EventsLost, ..loss(false, 0, 0) });
        assert_eq!(lanes.possible().as_deref(), Some("possibly at least 5 buffers, events"));
        assert_eq!((certain, lanes.more_losses), ([vec![true; 15], vec![false; 5]].concat(), 10));
    }
}
