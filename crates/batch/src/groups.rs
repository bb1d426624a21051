//! Which files are of one recording (`--merge auto`): by name, session and time.
//!
//! | names | of one recording where |
//! |---|---|
//! | `x.etl`, `x.kernel.etl`, `x.clrRundown.etl`, `x.user_paged.1.etl` | the system was started at the same time, and each recorded when another did, or began at most two minutes later |
//! | `… WPR System Collector.etl`, `… WPR Event Collector.etl` | likewise |
//! | `x_1.etl`, `x_2.etl` of a session that begins a new file now and then | the session has the same name, the system was started at the same time, and each begins when the one before it has ended |
//!
//! Files whose names say that they belong together and of which anything else does not are left apart, and that is said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use conversion::convert::InputFile;
use conversion::survey::SAME_BOOT;
use etl::input::Address;
use etl::input::container::name_within;
use etl::layout::logfile::mode;
use etl::session::Session;

/// Rows say by a number of 16 bits which file of their recording they are from.
pub(crate) const MOST_MERGED: usize = 1 << 16;

/// A second in the unit of [`Facts`].
const SECOND: i64 = 10_000_000;

/// How files of a recording belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kinship {
    /// Sessions that recorded side by side.
    Companions,
    /// Files that one session wrote one after another.
    Series,
}

impl Kinship {
    /// Why, for people.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Kinship::Companions => "sessions of one recording, by name, start of the system and time",
            Kinship::Series => "files of one session, by name, session, start of the system and time",
        }
    }
}

/// What of a file shows where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    logger: String,
    /// `None` of a session without buffers for each.
    processors: Option<u32>,
    build: u32,
    frequency: i64,
    is_newfile: bool,
    is_merged: bool,
    /// In 100 ns; 0 where it is not recorded.
    booted: i64,
    started: i64,
    /// `None` of a session that was not closed.
    ended: Option<i64>,
}

impl Facts {
    pub(crate) fn of(session: &Session) -> Facts {
        Facts {
            logger: session.logger_name.to_lowercase(),
            processors: (!session.has_one_stream()).then_some(session.cpu_count),
            build: session.os_build,
            frequency: session.perf_frequency,
            is_newfile: session.has_mode(mode::NEWFILE),
            is_merged: session.has_mode(mode::RELOG),
            booted: session.boot_time.0,
            started: session.start_time.0,
            ended: session.is_closed().then_some(session.end_time.0),
        }
    }

    /// Why both cannot be of one start of one system.
    fn contradicts(&self, other: &Facts) -> Option<&'static str> {
        let processors = self.processors.zip(other.processors);
        if (self.build, self.frequency) != (other.build, other.frequency) || processors.is_some_and(|(a, b)| a != b) {
            Some("they are of different systems")
        } else if self.booted == 0 || other.booted == 0 {
            Some("nothing says when their system was started")
        } else if self.booted.abs_diff(other.booted) > SAME_BOOT {
            Some("their system was started in between")
        } else {
            None
        }
    }
}

/// Files of one recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// What they are called after: a source.
    pub(crate) source: String,
    pub(crate) kinship: Kinship,
    /// Their places in the list, in the order of their times; one that is alone is still called after its group.
    pub(crate) members: Vec<usize>,
}

/// What has been found about files whose names say that they belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// They do.
    Together(Group),
    /// They do not, or that is unknown, for this reason.
    Apart(Vec<usize>, &'static str),
}

/// A file as its name places it.
#[derive(Clone, Debug)]
struct Named {
    place: usize,
    /// `kernel`, or nothing of the file that is called like the recording.
    role: String,
    number: u64,
}

/// The folder or archive, and what the files have in common, in lower case.
type Common = (PathBuf, String);

/// What is found about files, each of which is in one finding at most. `facts_of` reads a file, and is asked about those
/// that may be of a group; it has no answer where a file is no trace, which whoever opens it reports.
pub(crate) fn findings(inputs: &[InputFile], facts_of: impl Fn(&InputFile) -> Option<Facts>) -> Vec<Finding> {
    let mut kin = BTreeMap::<(Kinship, Common), (String, Vec<Named>)>::new();
    for (place, input) in inputs.iter().enumerate() {
        let (folder, name) = (folder_of(input), name_of(input));
        let companion = companion(&name).map(|(base, role)| (Kinship::Companions, base, role, 0));
        let series = || series(&name).map(|(base, number)| (Kinship::Series, base, String::new(), number));
        if let Some((kinship, base, role, number)) = companion.or_else(series) {
            let source = format!("{}{base}.etl", prefix_of(input));
            let entry = kin.entry((kinship, (folder, base.to_lowercase()))).or_insert_with(|| (source, Vec::new()));
            entry.1.push(Named { place, role, number });
        }
    }
    take_plain(inputs, &mut kin);
    kin.into_iter()
        .filter_map(|((kinship, _), (source, named))| judge(kinship, source, named, inputs, &facts_of))
        .collect()
}

/// `x.etl` belongs to its `x.kernel.etl`, whatever else it may be called like.
fn take_plain(inputs: &[InputFile], kin: &mut BTreeMap<(Kinship, Common), (String, Vec<Named>)>) {
    let mut taken = Vec::new();
    for (place, input) in inputs.iter().enumerate() {
        let name = name_of(input);
        let base = without(&name, ".etl").unwrap_or(&name).to_lowercase();
        if let Some((_, named)) = kin.get_mut(&(Kinship::Companions, (folder_of(input), base))) {
            named.push(Named { place, role: String::new(), number: 0 });
            taken.push(place);
        }
    }
    for ((kinship, _), (_, named)) in kin.iter_mut() {
        named.retain(|named| *kinship == Kinship::Companions || taken.binary_search(&named.place).is_err());
    }
}

fn judge(
    kinship: Kinship,
    source: String,
    named: Vec<Named>,
    inputs: &[InputFile],
    facts_of: &impl Fn(&InputFile) -> Option<Facts>,
) -> Option<Finding> {
    let together = |members: Vec<usize>| Some(Finding::Together(Group { source, kinship, members }));
    if let ([alone], Kinship::Companions) = (&*named, kinship) {
        return together(vec![alone.place]);
    }
    let with_facts = named.into_iter().filter_map(|named| Some((facts_of(inputs.get(named.place)?)?, named)));
    let mut files: Vec<(Facts, Named)> =
        with_facts.filter(|(facts, _)| kinship == Kinship::Companions || facts.is_newfile).collect();
    files.sort_by_key(|(facts, named)| (facts.started, named.number, named.place));
    let members: Vec<usize> = files.iter().map(|(_, named)| named.place).collect();
    match (&*members, obstacle(kinship, &files)) {
        ([], _) => None,
        (_, Some(reason)) => Some(Finding::Apart(members, reason)),
        (_, None) => together(members),
    }
}

/// Why files, in the order of their times, are not merged.
fn obstacle(kinship: Kinship, files: &[(Facts, Named)]) -> Option<&'static str> {
    if files.len() > MOST_MERGED {
        return Some("a trace has at most 65536 files");
    }
    let mut roles: Vec<_> = files.iter().map(|(_, named)| (&named.role, named.number)).collect();
    roles.sort_unstable();
    if roles.windows(2).any(|two| two[0] == two[1]) {
        return Some("two of them have the same place");
    }
    let (first, rest) = files.split_first()?;
    if let Some(reason) = rest.iter().find_map(|(facts, _)| facts.contradicts(&first.0)) {
        return Some(reason);
    }
    match kinship {
        // What is called like the recording is what others are merged into.
        Kinship::Companions if files.iter().any(|(facts, named)| facts.is_merged && named.role.is_empty()) => {
            (!rest.is_empty()).then_some("one is a merged file, which may hold what is in the others")
        }
        Kinship::Companions => {
            let is_near = |at: usize| files[..at].iter().any(|(before, _)| is_near(before, &files[at].0));
            (!(1..files.len()).all(is_near)).then_some("they were recorded at different times")
        }
        Kinship::Series if rest.iter().any(|(facts, _)| facts.logger != first.0.logger) => {
            Some("they are of different sessions")
        }
        Kinship::Series => {
            let in_turn = files.windows(2).all(|two| follows(&two[0], &two[1]));
            (!in_turn).then_some("their times are in another order than their numbers")
        }
    }
}

/// Whether the second, which did not start before the first, started no later than a while after the first ended.
fn is_near(first: &Facts, second: &Facts) -> bool {
    /// A rundown may be recorded after the rest.
    const WHILE: i64 = 120 * SECOND;
    first.ended.is_none_or(|ended| second.started <= ended.saturating_add(WHILE))
}

/// Whether the second of a series has a higher number, and begins when the first has ended.
fn follows((first, first_name): &(Facts, Named), (second, second_name): &(Facts, Named)) -> bool {
    let is_behind = first.ended.is_none_or(|ended| second.started >= ended.saturating_sub(5 * SECOND));
    is_behind && second_name.number > first_name.number
}

/// What a file is called after that is named by what its session recorded, and what that is.
fn companion(name: &str) -> Option<(String, String)> {
    const COLLECTORS: [(&str, &str); 2] = [("WPR System Collector.etl", "kernel"), ("WPR Event Collector.etl", "user")];
    for (ending, role) in COLLECTORS {
        if let Some(base) = without(name, ending) {
            let base = if base.is_empty() { "WPR" } else { base.trim_end_matches('_') };
            return Some((base.to_owned(), role.to_owned()));
        }
    }
    let (rest, last) = without(name, ".etl")?.rsplit_once('.')?;
    // `.1` counts the recordings of the program that made the sessions.
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let (base, role) = if is_number { rest.rsplit_once('.')? } else { (rest, last) };
    let role = role.to_ascii_lowercase();
    let is_role = ["kernel", "user", "clr", "userheap"].contains(&&*role)
        || role.starts_with("user_")
        || role.ends_with("rundown");
    let base = if is_number && last != "1" { format!("{base}.{last}") } else { base.to_owned() };
    (is_role && !base.is_empty()).then_some((base, role))
}

/// What the files of a session that begins new ones are called after, and the number of this one.
fn series(name: &str) -> Option<(String, u64)> {
    let stem = without(name, ".etl")?;
    let base = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = stem.get(base.len()..)?.parse().ok()?;
    let base = base.trim_end_matches(['_', '-', '.', ' ']);
    (!base.is_empty()).then(|| (base.to_owned(), number))
}

fn without<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (stem, tail) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    tail.eq_ignore_ascii_case(ending).then_some(stem)
}

/// What is called in the trace before the name of the file itself: folders, and the archive.
fn prefix_of(input: &InputFile) -> &str {
    input.source.rfind('/').and_then(|at| input.source.get(..=at)).unwrap_or_default()
}

/// The name of the file itself, unpacked.
fn name_of(input: &InputFile) -> String {
    name_within(input.source.rsplit('/').next().unwrap_or_default())
}

/// Where an input lies, with one spelling for each folder: beside a file that is compressed, within an archive.
fn folder_of(input: &InputFile) -> PathBuf {
    let folder = |address: &Address| address.canonical().parent().map(Path::to_owned).unwrap_or_default();
    match input.address.split() {
        Some((archive, _)) if !input.source.contains("!/") => folder(&archive),
        _ => folder(&input.address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(booted: i64, started: i64, ended: i64) -> Facts {
        Facts {
            logger: "log".to_owned(),
            processors: Some(4),
            build: 19041,
            frequency: 10_000_000,
            is_newfile: false,
            is_merged: false,
            booted: (1000 + booted) * SECOND,
            started: started * SECOND,
            ended: Some(ended * SECOND),
        }
    }

    fn newfile(started: i64, ended: i64) -> Facts {
        Facts { is_newfile: true, ..facts(0, started, ended) }
    }

    /// Groups as `source: sources`, what is left apart as `reason: sources`.
    #[track_caller]
    fn t(files: &[(&str, Facts)], expected: &[&str]) {
        let inputs: Vec<InputFile> =
            files.iter().map(|(source, _)| InputFile::new(Path::new("/lab").join(source), *source)).collect();
        let facts_of = |input: &InputFile| {
            files.iter().find(|(source, _)| *source == input.source).map(|(_, facts)| facts.clone())
        };
        let sources = |members: &[usize]| members.iter().map(|&at| files[at].0).collect::<Vec<_>>().join(" ");
        let found = findings(&inputs, facts_of);
        let lines = found.iter().map(|finding| match finding {
            Finding::Together(group) => format!("{}: {}", group.source, sources(&group.members)),
            Finding::Apart(members, reason) => format!("{reason}: {}", sources(members)),
        });
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn companions_have_one_name_and_record_at_one_time() {
        t(
            &[
                ("lab/x.etl", facts(0, 100, 200)),
                ("lab/x.kernel.etl", facts(1, 99, 200)),
                ("lab/X.clrRundown.etl.gz", facts(0, 230, 240)),
                ("lab/y.kernel.etl", facts(0, 100, 200)),
                ("x.etl", facts(0, 100, 200)),
            ],
            &["lab/x.etl: lab/x.kernel.etl lab/x.etl lab/X.clrRundown.etl.gz", "lab/y.etl: lab/y.kernel.etl"],
        );
    }

    #[test]
    fn what_does_not_fit_keeps_all_apart() {
        let t = |other: Facts, reason: &str| {
            let files = [("x.etl", facts(0, 100, 200)), ("x.user.etl", facts(0, 100, 150)), ("x.kernel.etl", other)];
            t(&files, &[&format!("{reason}: x.etl x.user.etl x.kernel.etl")]);
        };
        t(facts(500, 600, 700), "their system was started in between");
        t(facts(0, 400, 500), "they were recorded at different times");
        t(facts(-1000, 110, 120), "nothing says when their system was started");
        let fits = facts(0, 110, 200);
        t(Facts { processors: Some(8), ..fits.clone() }, "they are of different systems");
        t(Facts { build: 7601, ..fits.clone() }, "they are of different systems");
        t(Facts { frequency: 24_000_000, ..fits }, "they are of different systems");
    }

    #[test]
    fn a_merged_file_may_hold_the_others() {
        let merged = |started: i64| Facts { is_merged: true, ..facts(0, started, 200) };
        t(
            &[("x.etl", merged(100)), ("x.kernel.etl", facts(0, 101, 200))],
            &["one is a merged file, which may hold what is in the others: x.etl x.kernel.etl"],
        );
        // Each may have been written anew by itself.
        t(&[("x.user.etl", merged(100)), ("x.kernel.etl", merged(101))], &["x.etl: x.user.etl x.kernel.etl"]);
    }

    #[test]
    fn two_files_of_one_place_are_ambiguous() {
        let all = || facts(0, 100, 200);
        t(
            &[("x.kernel.etl", all()), ("x.kernel.etl.gz", all()), ("x.etl", all())],
            &["two of them have the same place: x.kernel.etl x.kernel.etl.gz x.etl"],
        );
        let (one, two) = (newfile(10, 20), newfile(20, 30));
        t(&[("x_1.etl", one), ("x_01.etl", two)], &["two of them have the same place: x_1.etl x_01.etl"]);
    }

    #[test]
    fn sessions_of_the_tools_of_windows_are_known() {
        let all = || facts(0, 100, 200);
        t(
            &[
                ("a.zip!/sc.kernel.1.etl", all()),
                ("a.zip!/sc.user_paged.1.etl", Facts { processors: None, ..all() }),
                ("a.zip!/sc.user_injected.1.etl", all()),
                ("a.zip!/sc.kernel.2.etl", all()),
            ],
            &[
                "a.zip!/sc.etl: a.zip!/sc.kernel.1.etl a.zip!/sc.user_paged.1.etl a.zip!/sc.user_injected.1.etl",
                "a.zip!/sc.2.etl: a.zip!/sc.kernel.2.etl",
            ],
        );
        t(
            &[
                ("WPR_initiated_WprApp_WPR System Collector.etl", all()),
                ("WPR_initiated_WprApp_WPR Event Collector.etl", all()),
            ],
            &["WPR_initiated_WprApp.etl: WPR_initiated_WprApp_WPR System Collector.etl \
               WPR_initiated_WprApp_WPR Event Collector.etl"],
        );
    }

    #[test]
    fn a_series_is_of_one_session_and_in_turn() {
        let open = Facts { ended: None, ..newfile(30, 0) };
        t(
            &[
                ("log_10.etl", open),
                ("log_2.etl", newfile(20, 31)),
                ("log_1.etl", newfile(10, 20)),
                ("plain1.etl", facts(0, 10, 20)),
                ("plain2.etl", facts(0, 20, 30)),
                ("one7.etl", newfile(10, 20)),
                ("12.etl", newfile(10, 20)),
            ],
            &["log.etl: log_1.etl log_2.etl log_10.etl", "one.etl: one7.etl"],
        );
        let t = |second: Facts, reason: &str| {
            t(&[("log1.etl", newfile(100, 200)), ("log2.etl", second)], &[&format!("{reason}: log1.etl log2.etl")]);
        };
        t(Facts { logger: "other".to_owned(), ..newfile(200, 300) }, "they are of different sessions");
        t(newfile(150, 300), "their times are in another order than their numbers");
    }

    #[test]
    fn numbers_and_times_of_a_series_agree() {
        t(
            &[("log1.etl", newfile(300, 400)), ("log2.etl", newfile(100, 200))],
            &["their times are in another order than their numbers: log2.etl log1.etl"],
        );
    }
}
