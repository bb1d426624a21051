//! From files to recordings: which files become one trace, and what it is called.

use std::collections::{HashMap, HashSet};

use base::error::{Error, ErrorKind, Result};
use base::names::{NameFrom, checked_trace_name, folded, trace_name, trace_name_of_several};
use conversion::convert::{InputFile, Recording};
use etl::input::Address;

use crate::begin::session_of;
use crate::groups::{Facts, Finding, Group, MOST_MERGED, findings};
use crate::inputs::{FoundInputs, Merged};

/// Which files become one trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge<'a> {
    /// Each file alone.
    #[default]
    Separate,
    /// Those that belong together by name, session and time.
    Auto,
    /// All, as the trace of this name.
    All(&'a str),
}

impl<'a> Merge<'a> {
    /// What `--merge` means with this word, or without one.
    pub fn of(word: Option<&'a str>) -> Merge<'a> {
        match word {
            None => Merge::Separate,
            Some("auto") => Merge::Auto,
            Some(name) => Merge::All(name),
        }
    }
}

/// The recordings that inputs become.
#[derive(Debug, Default)]
pub struct Recordings {
    /// The recordings; those of an archive in the order in which it is read.
    pub list: Vec<Recording>,
    /// Recordings that would have the same name, and are none.
    pub clashes: Vec<Error>,
    /// What was merged, what was not, and why.
    pub notes: Vec<String>,
}

/// The recordings that inputs become. Files whose recordings would have the same name, ignoring case, are none; each such
/// name is an error. For [`Merge::Auto`] the beginning of every file is read, until `is_cancelled`.
///
/// # Errors
/// [`ErrorKind::Usage`] when a merged recording would have too many files, or a list names another one.
pub fn recordings(
    found: &FoundInputs,
    merge: Merge<'_>,
    name_from: NameFrom,
    is_cancelled: impl Fn() -> bool,
) -> Result<Recordings> {
    let facts_of = |input: &InputFile| {
        let session = (!is_cancelled()).then(|| session_of(input, &found.open))?;
        Some(Facts::of(&session.ok()?))
    };
    let mut recordings = match merge {
        Merge::Auto => grouped(found, name_from, facts_of)?,
        Merge::Separate | Merge::All(_) => together_or_apart(&found.inputs, &found.merged, merge, name_from)?,
    };
    found.settle(&mut recordings.list);
    Ok(recordings)
}

/// One recording per file, or one of all files.
fn together_or_apart(
    inputs: &[InputFile],
    merged: &Merged,
    merge: Merge<'_>,
    name_from: NameFrom,
) -> Result<Recordings> {
    let list = match (merge, merged.first_key_value()) {
        (Merge::All(name), Some((other, _))) => {
            let message =
                format!("a list says merge={other} of some inputs, and --merge {name} makes one trace of all");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        (Merge::All(_), None) if inputs.is_empty() => Vec::new(),
        (Merge::All(name), None) => vec![one(name, inputs.to_vec())?],
        _ => {
            let mut list = separate(inputs, name_from);
            list.extend(named_by_lists(merged)?);
            return Ok(without_clashes(list, Vec::new(), name_from));
        }
    };
    Ok(Recordings { list, ..Recordings::default() })
}

/// The recordings that lists name.
fn named_by_lists(merged: &Merged) -> Result<Vec<Recording>> {
    merged.iter().map(|(name, inputs)| one(name, inputs.clone())).collect()
}

fn one(name: &str, inputs: Vec<InputFile>) -> Result<Recording> {
    if inputs.len() > MOST_MERGED {
        let message = format!("expected at most {MOST_MERGED} files in one recording, found {}", inputs.len());
        return Err(Error::new(ErrorKind::Usage, message).with_hint("merge parts of them"));
    }
    Ok(Recording { name: checked_trace_name(name), inputs })
}

/// One recording for every group of files that belong together as far as `facts_of` shows, and one for every other file,
/// without those of the same name.
fn grouped(
    found: &FoundInputs,
    name_from: NameFrom,
    facts_of: impl Fn(&InputFile) -> Option<Facts>,
) -> Result<Recordings> {
    let inputs = &found.inputs;
    let (mut groups, mut notes) = (Vec::new(), Vec::new());
    for finding in findings(inputs, facts_of) {
        match finding {
            Finding::Together(group) => groups.push(group),
            Finding::Apart(members, reason) if members.len() > 1 => notes.push(not_merged(inputs, &members, reason)),
            Finding::Apart(..) => {}
        }
    }
    let apart = without_taken(inputs, name_from, &mut groups);
    let apart = apart.iter().filter(|group| group.members.len() > 1);
    notes.extend(apart.map(|group| not_merged(inputs, &group.members, "another trace is called as theirs would be")));
    let drafts = drafts(inputs, &groups);
    let names = names(&drafts, inputs, name_from);
    for (draft, name) in drafts.iter().zip(&names).filter(|(draft, _)| draft.members.len() > 1) {
        let reason = draft.group.and_then(|group| groups.get(group)).map_or("", |group| group.kinship.reason());
        notes.push(format!("{name}: merged of {} ({reason})", listed(inputs, &draft.members)));
    }
    let mut recordings = of_drafts(drafts, names, inputs);
    recordings.extend(named_by_lists(&found.merged)?);
    Ok(without_clashes(recordings, notes, name_from))
}

/// Takes out the groups whose name another trace has: neither of the two would be converted.
fn without_taken(inputs: &[InputFile], name_from: NameFrom, groups: &mut Vec<Group>) -> Vec<Group> {
    let drafts = drafts(inputs, groups);
    let names: Vec<String> = names(&drafts, inputs, name_from).iter().map(|name| folded(name)).collect();
    let mut count = HashMap::<&str, usize>::new();
    names.iter().for_each(|name| *count.entry(name).or_default() += 1);
    let is_taken = |name: &String| count.get(&**name).is_some_and(|count| *count > 1);
    let taken = drafts.iter().zip(&names).filter(|(_, name)| is_taken(name)).filter_map(|(draft, _)| draft.group);
    let taken: HashSet<usize> = taken.collect();
    let (apart, kept): (Vec<_>, Vec<_>) =
        std::mem::take(groups).into_iter().enumerate().partition(|(number, _)| taken.contains(number));
    groups.extend(kept.into_iter().map(|(_, group)| group));
    apart.into_iter().map(|(_, group)| group).collect()
}

fn not_merged(inputs: &[InputFile], members: &[usize], reason: &str) -> String {
    format!("not merged: {}: {reason}", listed(inputs, members))
}

/// The inputs, the first ones by name.
fn listed(inputs: &[InputFile], members: &[usize]) -> String {
    let sources = members.iter().filter_map(|&place| inputs.get(place)).map(|input| input.source.clone());
    shortened(sources.collect())
}

/// A recording before it has a name.
#[derive(Debug)]
struct Draft {
    /// What it is called after.
    source: String,
    /// Places of its files.
    members: Vec<usize>,
    group: Option<usize>,
}

/// A recording for each group and each other file, in the order of their first files.
fn drafts(inputs: &[InputFile], groups: &[Group]) -> Vec<Draft> {
    let of_place: HashMap<usize, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(number, group)| group.members.iter().map(move |&at| (at, number)))
        .collect();
    let mut begun = HashSet::new();
    let draft =
        |(place, input): (usize, &InputFile)| match of_place.get(&place).map(|&number| (number, &groups[number])) {
            None => Some(Draft { source: input.source.clone(), members: vec![place], group: None }),
            Some((number, group)) => begun.insert(number).then(|| Draft {
                source: group.source.clone(),
                members: group.members.clone(),
                group: Some(number),
            }),
        };
    inputs.iter().enumerate().filter_map(draft).collect()
}

/// What recordings are called; one of an archive with several is called after the archive, too.
fn names(drafts: &[Draft], inputs: &[InputFile], name_from: NameFrom) -> Vec<String> {
    let archive = |draft: &Draft| Some(inputs.get(*draft.members.first()?)?.address.split()?.0);
    let archives: Vec<Option<Address>> = drafts.iter().map(archive).collect();
    let mut of_archive = HashMap::<&Address, usize>::new();
    archives.iter().flatten().for_each(|archive| *of_archive.entry(archive).or_default() += 1);
    let name = |(draft, archive): (&Draft, &Option<Address>)| {
        let is_alone = archive.as_ref().and_then(|archive| of_archive.get(archive)).is_none_or(|count| *count == 1);
        let name = if is_alone { trace_name } else { trace_name_of_several };
        name(&draft.source, name_from)
    };
    drafts.iter().zip(&archives).map(name).collect()
}

fn of_drafts(drafts: Vec<Draft>, names: Vec<String>, inputs: &[InputFile]) -> Vec<Recording> {
    let members = |draft: Draft| draft.members.into_iter().filter_map(|place| inputs.get(place).cloned()).collect();
    drafts.into_iter().zip(names).map(|(draft, name)| Recording { name, inputs: members(draft) }).collect()
}

/// One recording per trace, whatever their names.
pub fn separate(inputs: &[InputFile], name_from: NameFrom) -> Vec<Recording> {
    let drafts = drafts(inputs, &[]);
    let names = names(&drafts, inputs, name_from);
    of_drafts(drafts, names, inputs)
}

/// The recordings but those that would have the same name, ignoring case; each such name is an error.
fn without_clashes(recordings: Vec<Recording>, notes: Vec<String>, name_from: NameFrom) -> Recordings {
    let mut names: Vec<String> = Vec::new();
    let mut of_name: HashMap<String, Vec<Recording>> = HashMap::new();
    for job in recordings {
        let name = folded(&job.name);
        let jobs = of_name.entry(name.clone()).or_default();
        if jobs.is_empty() {
            names.push(name);
        }
        jobs.push(job);
    }
    let mut left = Recordings { notes, ..Recordings::default() };
    for name in names {
        match of_name.remove(&name).unwrap_or_default() {
            of_name if of_name.len() > 1 => left.clashes.push(same_name(&of_name, name_from)),
            of_name => left.list.extend(of_name),
        }
    }
    left
}

fn same_name(jobs: &[Recording], name_from: NameFrom) -> Error {
    let paths = jobs.iter().flat_map(|job| &job.inputs).map(|input| input.address.display().to_string());
    let all = shortened(paths.collect());
    let name = jobs.first().map_or("", |job| &job.name);
    let message = format!("{all} would all become trace={name}: none of them is converted");
    Error::new(ErrorKind::Usage, message).with_hint(match name_from {
        NameFrom::Stem => {
            "use --name-from path to name traces after their paths, or --merge NAME to make them one trace"
        }
        NameFrom::Path => "name one folder above them as INPUT, convert them apart, or use --merge NAME for one trace",
    })
}

/// Inputs that a message lists by name; the rest is a number.
const SHOWN: usize = 4;

/// `a, b and c`, of many the first ones.
fn shortened(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    if more > 0 {
        names.truncate(SHOWN);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(path: &str, source: &str) -> InputFile {
        InputFile::new(path, source)
    }

    #[test]
    fn each_file_is_a_recording_or_all_are_one() {
        let inputs = vec![input("lab/a.etl", "a.etl"), input("lab/x/b.etl", "x/b.etl")];
        let list = |word, from| together_or_apart(&inputs, &Merged::new(), Merge::of(word), from).unwrap().list;
        let names = |word, from| -> Vec<String> { list(word, from).into_iter().map(|job| job.name).collect() };
        assert_eq!(names(None, NameFrom::Stem), ["a", "b"]);
        assert_eq!(names(None, NameFrom::Path), ["a", "x.b"]);
        assert_eq!(names(Some("2026"), NameFrom::Stem), ["t_2026"]);
        assert_eq!(list(Some("all"), NameFrom::Stem)[0].inputs, inputs);
    }

    #[test]
    fn two_recordings_of_one_name_are_refused_and_others_are_not() {
        let inputs =
            vec![input("lab/a/boot.etl", "a/boot.etl"), input("lab/b/Boot.etl", "b/Boot.etl"), input("z.etl", "z.etl")];
        let apart =
            |inputs: &[InputFile], from| together_or_apart(inputs, &Merged::new(), Merge::Separate, from).unwrap();
        let Recordings { list, clashes, .. } = apart(&inputs, NameFrom::Stem);
        assert_eq!(list.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["z"]);
        assert_eq!(clashes.len(), 1);
        assert_eq!(
            clashes[0].to_string(),
            "lab/a/boot.etl and lab/b/Boot.etl would all become trace=boot: none of them is converted (use --name-from \
             path to name traces after their paths, or --merge NAME to make them one trace)"
        );
        assert_eq!(apart(&inputs, NameFrom::Path).clashes.len(), 0);
        let many: Vec<InputFile> = (0..9).map(|n| input(&format!("{n}/a.etl"), &format!("{n}/a.etl"))).collect();
        let clashes = apart(&many, NameFrom::Stem).clashes;
        assert!(clashes[0].to_string().starts_with("0/a.etl, 1/a.etl, 2/a.etl, 3/a.etl and 5 more would all become"));
    }

    #[test]
    fn a_recording_has_as_many_files_as_rows_can_name() {
        let many = |count: usize| vec![input("a.etl", "a.etl"); count];
        let merged = |inputs: &[InputFile]| together_or_apart(inputs, &Merged::new(), Merge::All("m"), NameFrom::Stem);
        assert_eq!(merged(&many(65_536)).unwrap().list[0].inputs.len(), 65_536);
        let error = merged(&many(65_537)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("at most 65536 files in one recording, found 65537"), "{error}");
    }
}
