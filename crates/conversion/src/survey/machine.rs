//! Which files are of one machine, started once: only there an id of one file means what it means in another.
//!
//! | fact | of one machine | why it distinguishes |
//! |---|---|---|
//! | what is added to its times | equal | its clock was off by as much for all that it recorded |
//! | when the system was started | no file at more than five seconds from the next | setting the clock moves it by as much; between two starts there is more |
//! | ticks per second of the performance counter | equal | they are fixed when the system starts |
//! | build of the system | equal | a running system keeps it |
//!
//! A fact that is not recorded says nothing: such a file is of the machine of the others where the fact names one only,
//! and else of none of them. Files of two machines that nothing distinguishes count as of one.
//!
//! Not asked: the size of a pointer, which is that of the process where it recorded itself, the number of processors, which may grow, and
//! their speed, of which processors may have several.

use etl::layout::logfile::mode;

use super::result::FileSurvey;

/// How far apart, in 100 ns, starts of the system are that may be one. The time of the start is that of the clock less the time since, and
/// so moves when the clock is set; where that is more in the middle of a recording, ids go unexplained and are not mixed up.
/// Observed: recordings of one start that lie days apart have the same, and 34 s from one start to the next.
pub const SAME_BOOT: u64 = 50_000_000;

/// What distinguishes machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MachineFacts {
    offset_ns: i64,
    /// In 100 ns.
    booted: Option<i64>,
    frequency: Option<i64>,
    build: Option<i64>,
}

/// A fact, and how far apart values may be that are the same.
type Test = (fn(&MachineFacts) -> Option<i64>, u64);

const TESTS: [Test; 4] = [
    (|facts| Some(facts.offset_ns), 0),
    (|facts| facts.booted, SAME_BOOT),
    (|facts| facts.frequency, 0),
    (|facts| facts.build, 0),
];

impl MachineFacts {
    fn of(file: &FileSurvey) -> Self {
        let session = &file.session;
        let is_recorded = |value: &i64| *value > 0;
        // Programs that record themselves or write traces anew describe an older system than the one that they run on.
        let is_of_system = !session.has_mode(mode::PRIVATE_LOGGER) && !session.has_mode(mode::RELOG);
        MachineFacts {
            offset_ns: file.clock.offset_ns(),
            booted: Some(session.boot_time.0).filter(is_recorded),
            frequency: Some(session.perf_frequency).filter(is_recorded),
            build: Some(i64::from(session.os_build)).filter(is_recorded).filter(|_| is_of_system),
        }
    }
}

/// The machine of each file of a recording: numbers from 0, in the order in which files have them first.
pub fn machines(files: &[FileSurvey]) -> Vec<u16> {
    numbers(&files.iter().map(MachineFacts::of).collect::<Vec<_>>())
}

fn numbers(facts: &[MachineFacts]) -> Vec<u16> {
    let all: Vec<usize> = (0..facts.len()).collect();
    let mut machines = TESTS.iter().fold(vec![all], |machines, test| {
        machines.into_iter().flat_map(|files| distinguished(facts, files, test)).collect()
    });
    machines.iter_mut().for_each(|files| files.sort_unstable());
    machines.sort_unstable();
    let mut numbers = vec![0; facts.len()];
    for (machine, files) in (0..=u16::MAX).zip(&machines) {
        files.iter().for_each(|&file| numbers[file] = machine);
    }
    numbers
}

/// Files in which a fact does not differ.
fn distinguished(facts: &[MachineFacts], files: Vec<usize>, (fact, same): &Test) -> Vec<Vec<usize>> {
    let fact_of = |file: &usize| fact(&facts[*file]);
    let (mut known, mut unknown): (Vec<usize>, Vec<usize>) =
        files.into_iter().partition(|file| fact_of(file).is_some());
    known.sort_by_key(fact_of);
    let is_same = |a: &usize, b: &usize| fact_of(a).zip(fact_of(b)).is_some_and(|(a, b)| a.abs_diff(b) <= *same);
    let mut apart: Vec<Vec<usize>> = known.chunk_by(is_same).map(Vec::from).collect();
    match &mut *apart {
        [only] => only.append(&mut unknown),
        _ if unknown.is_empty() => {}
        _ => apart.push(unknown),
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 10_000_000;

    fn booted(seconds: i64) -> MachineFacts {
        MachineFacts {
            offset_ns: 0,
            booted: (seconds > 0).then_some(seconds * SECOND),
            frequency: Some(10_000_000),
            build: Some(19045),
        }
    }

    #[track_caller]
    fn t(files: &[MachineFacts], expected: &[u16]) {
        assert_eq!(numbers(files), expected);
    }

    #[test]
    fn files_of_other_offsets_are_of_other_machines() {
        let moved = |offset_ns| MachineFacts { offset_ns, ..booted(1000) };
        t(&[moved(0), moved(0)], &[0, 0]);
        // In the order of the files, not of the offsets.
        t(&[moved(5), moved(0), moved(-1), moved(5)], &[0, 1, 2, 0]);
    }

    #[test]
    fn a_system_that_was_started_again_is_another_one() {
        t(&[booted(1000), booted(1005), booted(1010)], &[0, 0, 0]);
        t(&[booted(1040), booted(1000), booted(1006)], &[0, 1, 2]);
        let late = MachineFacts { booted: Some(1005 * SECOND + 1), ..booted(0) };
        t(&[booted(1000), late], &[0, 1]);
        t(&[MachineFacts { booted: Some(i64::MAX), ..booted(0) }, booted(1)], &[0, 1]);
    }

    #[test]
    fn what_is_not_recorded_distinguishes_nothing() {
        let nothing = MachineFacts::default();
        t(&[nothing, booted(1000), nothing, booted(1001)], &[0, 0, 0, 0]);
        t(&[nothing, nothing], &[0, 0]);
        // Of which of the two it is, nobody knows.
        t(&[booted(0), booted(1000), booted(2000), booted(0)], &[0, 1, 2, 0]);
    }

    #[test]
    fn what_a_start_fixes_distinguishes_systems_that_started_together() {
        let (slow, old) = (
            MachineFacts { frequency: Some(3_117_777), ..booted(1000) },
            MachineFacts { build: Some(17763), ..booted(1000) },
        );
        t(&[booted(1000), slow, old, slow, booted(1001)], &[0, 1, 2, 1, 0]);
        let relogged = MachineFacts { build: None, ..booted(1000) };
        t(&[booted(1000), relogged], &[0, 0]);
        t(&[booted(1000), relogged, old], &[0, 1, 2]);
    }

    #[test]
    fn no_file_is_of_no_machine() {
        t(&[], &[]);
    }
}
