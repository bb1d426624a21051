//! The processes of a trace, as `inspect` shows them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::readable::count::{Count, counted};
use conversion::inspect::{InspectedProcess, Processes};

use super::fold::Width;
use super::text_table::{Align, TextTable};

/// Names that a page shows; the rest is a number.
const SHOWN: usize = 20;

/// Ids that a line shows.
const SHOWN_IDS: usize = 4;

/// What stands for a name that is not recorded.
const NO_NAME: &str = "(no name)";

/// A line for each name: first those of which a process started or ended meanwhile. `time`: of the first and the last event.
pub(super) fn table(all: &Processes, time: Option<(i64, i64)>, width: Width) -> String {
    let mut by_name = BTreeMap::<&str, Named>::new();
    for process in all.processes.iter().filter(|process| !process.is_defunct) {
        by_name.entry(process.image_name.as_deref().unwrap_or(NO_NAME)).or_default().add(process, time);
    }
    let mut names: Vec<(&str, Named)> = by_name.into_iter().collect();
    names.sort_by_key(|(name, named)| (Reverse(named.started + named.ended), Reverse(named.ids.len()), *name));
    let mut table = TextTable::new([
        ("PROCESS", Align::Left),
        ("COUNT", Align::Right),
        ("STARTED", Align::Right),
        ("ENDED", Align::Right),
        ("IDS", Align::Left),
    ]);
    for (name, named) in names.iter().take(SHOWN) {
        let numbers = [named.ids.len() as u64, named.started, named.ended];
        let [count, started, ended] = numbers.map(|number| Count(number).to_string());
        table.row([(*name).to_owned(), count, started, ended, named.ids()]);
    }
    let defunct = match all.defunct_count {
        0 => String::new(),
        defunct => format!("    and {} defunct: they had ended before\n", Count(defunct)),
    };
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("    and {}\n", counted(more as u64, "more names")),
    };
    table.render(width) + &more + &defunct
}

/// The processes of one name.
#[derive(Debug, Default)]
struct Named {
    ids: Vec<u32>,
    /// How many started, and how many ended, while the trace was recorded.
    started: u64,
    ended: u64,
}

impl Named {
    fn add(&mut self, process: &InspectedProcess, time: Option<(i64, i64)>) {
        let is_within = |ns: Option<i64>| ns.zip(time).is_some_and(|(ns, (first, last))| (first..=last).contains(&ns));
        self.ids.push(process.process_id);
        self.started += u64::from(is_within(process.started_ns));
        self.ended += u64::from(is_within(process.ended_ns));
    }

    fn ids(&self) -> String {
        let shown = self.ids.iter().take(SHOWN_IDS).map(u32::to_string).collect::<Vec<_>>().join(", ");
        match self.ids.len().saturating_sub(SHOWN_IDS) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(process_id: u32, name: &str, started: Option<i64>, ended: Option<i64>) -> InspectedProcess {
        let image_name = Some(name.to_owned()).filter(|name| !name.is_empty());
        InspectedProcess { process_id, image_name, started_ns: started, ended_ns: ended, ..InspectedProcess::default() }
    }

    #[test]
    fn names_that_came_or_went_are_first() {
        let mut all = Processes::default();
        (0..6).for_each(|number| all.add(process(10 + number, "svchost.exe", Some(5), None)));
        all.add(process(4, "System", None, None));
        all.add(process(77, "app.exe", Some(150), Some(200)));
        all.add(process(78, "app.exe", Some(99), Some(201)));
        all.add(process(9, "", None, None));
        all.add(InspectedProcess { is_defunct: true, ..process(99, "gone.exe", None, Some(50)) });
        let expected = "  PROCESS      COUNT  STARTED  ENDED  IDS\n  \
                          app.exe          2        1      1  77, 78\n  \
                          svchost.exe      6        0      0  10, 11, 12, 13 and 2 more\n  \
                          (no name)        1        0      0  9\n  \
                          System           1        0      0  4\n    \
                          and 1 defunct: they had ended before\n";
        assert_eq!(table(&all, Some((100, 200)), Width::UNBOUNDED), expected);
        assert_eq!((all.process_count, all.defunct_count), (10, 1));
    }

    #[test]
    fn names_beyond_some_are_a_number() {
        let mut all = Processes::default();
        (0..25).for_each(|number| all.add(process(number, &format!("p{number:02}.exe"), None, None)));
        let table = table(&all, None, Width::UNBOUNDED);
        assert_eq!(table.lines().count(), 1 + SHOWN + 1);
        assert!(table.ends_with("    and 5 more names\n"), "{table}");
    }
}
