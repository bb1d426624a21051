//! The buffers of each processor over time: how full they were, where none is, and what was lost.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use base::readable::count::counted;
use conversion::survey::loss::LossKind;

use super::axis::{Axis, BINS};
use super::source::Source;

/// Lanes that are shown.
const MOST_LANES: usize = 64;
/// Lanes that are added up, whatever a damaged file says of its processors.
const MOST_KEPT: usize = 4096;
/// Rows of losses that are shown.
const MOST_LOSSES: usize = 20;
/// Kinds that are counters of the recording.
const COUNTERS: [LossKind; 3] = [LossKind::EventsLost, LossKind::BuffersLost, LossKind::RealTimeBuffersLost];
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

/// A known or possible gap.
#[derive(Debug)]
pub(super) struct Loss {
    /// Its kind.
    pub kind: String,
    /// Its processor, where that is known.
    pub cpu: Option<i64>,
    /// When it begins and ends, where that is known.
    pub span: (Option<i64>, Option<i64>),
    /// How much was lost, where that is known.
    pub count: Option<i64>,
    /// What is counted.
    pub unit: String,
    /// Whether it is certain.
    pub is_certain: bool,
    /// Whether it is a counter of the recording, which every input has.
    pub is_counter: bool,
    /// What says so.
    pub evidence: String,
    /// What else there is to know.
    pub note: Option<String>,
}

impl Loss {
    /// How much was lost, where that is known.
    pub(super) fn amount(&self) -> Option<String> {
        self.count.and_then(|count| u64::try_from(count).ok()).map(|count| counted(count, &self.unit))
    }

    fn absent_buffers(&self) -> u64 {
        let is_end = self.kind == LossKind::TruncatedTail.as_str() && self.unit == "buffers";
        self.count.filter(|_| is_end).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    }
}

/// All lanes, and what was lost.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// By input and processor.
    pub shown: Vec<Lane>,
    /// How many more there are.
    pub more: usize,
    /// Gaps: certain ones first.
    pub losses: Vec<Loss>,
    /// How many more there are.
    pub more_losses: u64,
    /// What may have been lost, by what is counted: how much, as far as it is known, and in how many rows it is not.
    possible: BTreeMap<String, (u64, u64)>,
    /// Buffers that sessions wrote and the inputs lack at their ends.
    pub absent_buffers: u64,
}

/// Reads the buffers and the gaps. `inputs`: what inputs are called, and how many bytes a buffer of each has.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
pub(super) fn lanes(source: &Source<'_>, axis: &Axis, inputs: &[(String, u64)]) -> Result<Lanes> {
    let mut by_key = BTreeMap::<(usize, Option<i64>), Lane>::new();
    let mut keys = BTreeSet::new();
    let place = |name: Option<&str>| inputs.iter().position(|(input, _)| Some(input.as_str()) == name).unwrap_or(0);
    let columns = ["source", "cpu", "used_bytes", "events", "first_time_ns", "last_time_ns"];
    source.sidecar("buffers", &columns, |batch, row| {
        let number = |column| batch.integer(column, row);
        let amount = |column| number(column).and_then(|amount| u64::try_from(amount).ok()).unwrap_or(0);
        let (input, cpu) = (place(batch.text(0, row)), number(1));
        keys.insert((input, cpu));
        if by_key.len() >= MOST_KEPT && !by_key.contains_key(&(input, cpu)) {
            return;
        }
        let lane = by_key.entry((input, cpu)).or_insert_with(|| Lane::new(input, cpu));
        let room = inputs.get(input).map_or(0, |(_, room)| *room);
        lane.add(axis, room, amount(2), amount(3), number(4).zip(number(5)));
    })?;
    let mut lanes = Lanes::default();
    let columns =
        ["source", "kind", "cpu", "from_time_ns", "to_time_ns", "count", "unit", "is_certain", "evidence", "note"];
    source.sidecar("lost_events", &columns, |batch, row| {
        let text = |column| batch.text(column, row).unwrap_or_default().to_owned();
        let loss = Loss {
            kind: text(1),
            cpu: batch.integer(2, row),
            span: (batch.integer(3, row), batch.integer(4, row)),
            count: batch.integer(5, row),
            unit: text(6),
            is_certain: batch.boolean(7, row).unwrap_or(false),
            is_counter: COUNTERS.iter().any(|kind| batch.text(1, row) == Some(kind.as_str())),
            evidence: text(8),
            note: batch.text(9, row).map(str::to_owned),
        };
        if loss.count == Some(0) {
            return;
        }
        lanes.add_possible(&loss);
        lanes.absent_buffers = lanes.absent_buffers.saturating_add(loss.absent_buffers());
        let key = (place(batch.text(0, row)), loss.cpu);
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

impl Lanes {
    /// What may have been lost: `possibly 2 buffers`; `None` where nothing says so.
    pub(super) fn possible(&self) -> Option<String> {
        let amounts = self.possible.iter().map(|(unit, (count, unknown))| match (count, unknown) {
            (0, _) => unit.clone(),
            (count, 0) => counted(*count, unit),
            (count, _) => format!("at least {}", counted(*count, unit)),
        });
        let amounts: Vec<String> = amounts.collect();
        (!amounts.is_empty()).then(|| format!("possibly {}", amounts.join(", ")))
    }

    fn add_possible(&mut self, loss: &Loss) {
        // What is counted has few names; a damaged table is not held at length. That a counter was not recorded says nothing of a loss.
        if loss.is_certain
            || loss.is_counter
            || self.possible.len() >= MOST_UNITS && !self.possible.contains_key(&loss.unit)
        {
            return;
        }
        let (count, unknown) = self.possible.entry(loss.unit.clone()).or_default();
        match loss.count.and_then(|count| u64::try_from(count).ok()) {
            Some(more) => *count = count.saturating_add(more),
            None => *unknown = unknown.saturating_add(1),
        }
    }

    /// Keeps the first certain ones; of others as many as there is room for.
    fn keep(&mut self, loss: Loss) {
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

    fn lose(&mut self, axis: &Axis, loss: &Loss) {
        let lost = if loss.is_certain { Lost::Certain } else { Lost::Possible };
        let gaps = if loss.is_certain { &mut self.gaps } else { &mut self.possible_gaps };
        *gaps = gaps.saturating_add(1);
        let (Some(from), Some(to)) = loss.span else { return };
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
        let loss = |is_certain, from, to| Loss {
            kind: String::new(),
            cpu: Some(0),
            span: (Some(from), Some(to)),
            count: None,
            unit: String::new(),
            is_certain,
            is_counter: false,
            evidence: String::new(),
            note: None,
        };
        let mut lane = Lane::new(0, Some(0));
        lane.lose(&axis, &loss(true, 10, 19));
        lane.lose(&axis, &loss(false, 0, 29));
        assert_eq!(lane.lost[..4], [Lost::Possible, Lost::Certain, Lost::Possible, Lost::Nothing]);
        let mut lanes = Lanes::default();
        (0..30).for_each(|number| lanes.keep(loss(number % 2 == 1, number, number)));
        let certain: Vec<bool> = lanes.losses.iter().map(|loss| loss.is_certain).collect();
        assert_eq!(lanes.possible(), None, "none was added up");
        for (count, is_certain) in [(Some(2), false), (Some(3), false), (Some(9), true)] {
            lanes.add_possible(&Loss { count, unit: "buffers".to_owned(), ..loss(is_certain, 0, 0) });
        }
        assert_eq!(lanes.possible().as_deref(), Some("possibly 5 buffers"));
        lanes.add_possible(&Loss { unit: "buffers".to_owned(), ..loss(false, 0, 0) });
        lanes.add_possible(&Loss { unit: "events".to_owned(), ..loss(false, 0, 0) });
        lanes.add_possible(&Loss { unit: "files".to_owned(), is_counter: true, ..loss(false, 0, 0) });
        assert_eq!(lanes.possible().as_deref(), Some("possibly at least 5 buffers, events"));
        assert_eq!((certain, lanes.more_losses), ([vec![true; 15], vec![false; 5]].concat(), 10));
    }
}
