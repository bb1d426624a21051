//! What is known of each input of a recording: the rows that describe it.

use std::collections::HashMap;

use super::clock::{self, ClockRow};
use super::sessions::{self, SessionRow};
use super::streams::{self, StreamRow};
use crate::survey::{FileFacts, FileSurvey};

/// An input: its session, its clock and its streams of buffers. The same whether an input was surveyed or the sidecar of a
/// published trace was read, but that times of [`Time`](super::Time) have microseconds in a sidecar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputFacts {
    /// The session.
    pub session: SessionRow,
    /// The clock.
    pub clock: ClockRow,
    /// The streams.
    pub streams: Vec<StreamRow>,
}

impl InputFacts {
    /// The facts of an input that was surveyed.
    pub fn of(file: &FileSurvey, facts: &FileFacts) -> InputFacts {
        InputFacts {
            session: sessions::row(file, facts),
            clock: clock::row(file, None),
            streams: streams::rows(facts).collect(),
        }
    }

    /// The facts of inputs by their rows, a clock for each session. The streams of inputs that are called the same are left out: nobody knows of which each
    /// is.
    pub fn of_rows(sessions: Vec<SessionRow>, clocks: Vec<ClockRow>, streams: Vec<StreamRow>) -> Vec<InputFacts> {
        let mut of_source: HashMap<String, Option<usize>> = HashMap::new();
        for (session, place) in sessions.iter().zip(0..) {
            of_source.entry(session.source.clone()).and_modify(|known| *known = None).or_insert(Some(place));
        }
        let inputs = sessions.into_iter().zip(clocks);
        let inputs = inputs.map(|(session, clock)| InputFacts { session, clock, streams: Vec::new() });
        let mut inputs: Vec<InputFacts> = inputs.collect();
        for stream in streams {
            let place = of_source.get(&stream.source).copied().flatten();
            if let Some(input) = place.and_then(|place| inputs.get_mut(place)) {
                input.streams.push(stream);
            }
        }
        inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_go_to_the_input_that_they_name() {
        let session = |source: &str| SessionRow { source: source.to_owned(), ..SessionRow::default() };
        let stream =
            |source: &str, cpu| StreamRow { source: source.to_owned(), cpu: Some(cpu), ..StreamRow::default() };
        let streams = vec![stream("b", 1), stream("a", 2), stream("b", 3), stream("c", 4), stream("d", 5)];
        let inputs =
            InputFacts::of_rows(["a", "b", "d", "d"].map(session).to_vec(), vec![ClockRow::default(); 4], streams);
        let cpus = |input: &InputFacts| input.streams.iter().filter_map(|stream| stream.cpu).collect::<Vec<_>>();
        assert_eq!(inputs.iter().map(cpus).collect::<Vec<_>>(), [vec![2], vec![1, 3], vec![], vec![]]);
    }
}
