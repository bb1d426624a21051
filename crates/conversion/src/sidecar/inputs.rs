//! What is known of each input of a recording: the rows that describe it.

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

    /// The facts of inputs by their rows. Rows that name no session are left out.
    pub fn of_rows(sessions: Vec<SessionRow>, clocks: Vec<ClockRow>, streams: Vec<StreamRow>) -> Vec<InputFacts> {
        let mut inputs: Vec<InputFacts> = sessions
            .into_iter()
            .zip(clocks)
            .map(|(session, clock)| InputFacts { session, clock, streams: Vec::new() })
            .collect();
        let mut at = 0;
        for stream in streams {
            // Both tables are in the order of the inputs.
            let is_of = |input: &InputFacts| input.session.source == stream.source;
            let ahead = inputs.get(at..).unwrap_or_default().iter().position(is_of);
            let Some(place) = ahead.map(|ahead| at + ahead).or_else(|| inputs.iter().position(is_of)) else { continue };
            at = place;
            inputs[place].streams.push(stream);
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
        let streams = vec![stream("b", 1), stream("a", 2), stream("b", 3), stream("c", 4)];
        let inputs = InputFacts::of_rows(
            vec![session("a"), session("b")],
            vec![ClockRow::default(), ClockRow::default()],
            streams,
        );
        let cpus = |input: &InputFacts| input.streams.iter().filter_map(|stream| stream.cpu).collect::<Vec<_>>();
        assert_eq!(inputs.iter().map(cpus).collect::<Vec<_>>(), [vec![2], vec![1, 3]]);
    }
}
