//! From files to recordings.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::convert::job::{InputFile, Recording};
use crate::error::{Error, ErrorKind, Result};
use crate::input::split_address;
use crate::names::{NameFrom, checked_trace_name, fold_case, trace_name, trace_name_of_several};

/// Files of one recording; rows say by a number of 16 bits which one they are from.
const MOST_MERGED: usize = 1 << 16;

/// One recording per file, or with a name for the merged recording one of all files. Files whose recordings would have
/// the same name, ignoring case, are none; each such name is an error.
///
/// # Errors
/// [`ErrorKind::Usage`] when the merged recording would have too many files.
pub(super) fn jobs(
    inputs: Vec<InputFile>,
    merge: Option<&str>,
    name_from: NameFrom,
) -> Result<(Vec<Recording>, Vec<Error>)> {
    match merge {
        Some(_) if inputs.is_empty() => return Ok((Vec::new(), Vec::new())),
        Some(_) if inputs.len() > MOST_MERGED => {
            let message = format!("expected at most {MOST_MERGED} files in one recording, found {}", inputs.len());
            return Err(Error::new(ErrorKind::Usage, message).with_hint("merge parts of them"));
        }
        Some(name) => return Ok((vec![Recording { name: checked_trace_name(name), inputs }], Vec::new())),
        None => {}
    }
    let mut names: Vec<String> = Vec::new();
    let mut of_name: HashMap<String, Vec<Recording>> = HashMap::new();
    for job in separate_jobs(inputs, name_from) {
        let name = fold_case(&job.name);
        let jobs = of_name.entry(name.clone()).or_default();
        if jobs.is_empty() {
            names.push(name);
        }
        jobs.push(job);
    }
    let (mut jobs, mut clashes) = (Vec::new(), Vec::new());
    for name in names {
        match of_name.remove(&name).unwrap_or_default() {
            of_name if of_name.len() > 1 => clashes.push(same_name(&of_name, name_from)),
            of_name => jobs.extend(of_name),
        }
    }
    Ok((jobs, clashes))
}

/// One recording per trace, whatever their names.
pub(super) fn separate_jobs(inputs: Vec<InputFile>, name_from: NameFrom) -> Vec<Recording> {
    let mut of_archive = HashMap::<PathBuf, usize>::new();
    for (archive, _) in inputs.iter().filter_map(|input| split_address(&input.path)) {
        *of_archive.entry(archive).or_default() += 1;
    }
    let is_alone = |input: &InputFile| {
        split_address(&input.path).is_none_or(|(archive, _)| of_archive.get(&archive).is_none_or(|count| *count == 1))
    };
    let name = |input: &InputFile| {
        let name = if is_alone(input) { trace_name } else { trace_name_of_several };
        name(&input.source, name_from)
    };
    inputs.into_iter().map(|input| Recording { name: name(&input), inputs: vec![input] }).collect()
}

fn same_name(jobs: &[Recording], name_from: NameFrom) -> Error {
    let paths = jobs.iter().flat_map(|job| &job.inputs).map(|input| input.path.display().to_string());
    let mut named: Vec<String> = paths.take(SHOWN_CLASHING).collect();
    let more = jobs.len() - named.len();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let last = named.pop().unwrap_or_default();
    let name = jobs.first().map_or("", |job| &job.name);
    let message = format!("{} and {last} would all become trace={name}: none of them is converted", named.join(", "));
    Error::new(ErrorKind::Usage, message).with_hint(match name_from {
        NameFrom::Stem => {
            "use --name-from path to name traces after their paths, or --merge NAME to make them one trace"
        }
        NameFrom::Path => "name one folder above them as INPUT, convert them apart, or use --merge NAME for one trace",
    })
}

/// Inputs of one name that are told; the rest is a number.
const SHOWN_CLASHING: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn input(path: &str, source: &str) -> InputFile {
        InputFile { path: PathBuf::from(path), source: source.to_owned() }
    }

    #[test]
    fn each_file_is_a_recording_or_all_are_one() {
        let inputs = vec![input("lab/a.etl", "a.etl"), input("lab/x/b.etl", "x/b.etl")];
        let names = |merge, from| -> Vec<String> {
            jobs(inputs.clone(), merge, from).unwrap().0.into_iter().map(|job| job.name).collect()
        };
        assert_eq!(names(None, NameFrom::Stem), ["a", "b"]);
        assert_eq!(names(None, NameFrom::Path), ["a", "x.b"]);
        assert_eq!(names(Some("2026"), NameFrom::Stem), ["t_2026"]);
        assert_eq!(jobs(inputs.clone(), Some("all"), NameFrom::Stem).unwrap().0[0].inputs, inputs);
    }

    #[test]
    fn two_recordings_of_one_name_are_refused_and_others_are_not() {
        let inputs =
            vec![input("lab/a/boot.etl", "a/boot.etl"), input("lab/b/Boot.etl", "b/Boot.etl"), input("z.etl", "z.etl")];
        let (left, clashes) = jobs(inputs.clone(), None, NameFrom::Stem).unwrap();
        assert_eq!(left.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["z"]);
        assert_eq!(clashes.len(), 1);
        assert_eq!(
            clashes[0].to_string(),
            "lab/a/boot.etl and lab/b/Boot.etl would all become trace=boot: none of them is converted (use --name-from \
             path to name traces after their paths, or --merge NAME to make them one trace)"
        );
        assert_eq!(jobs(inputs, None, NameFrom::Path).unwrap().1.len(), 0);
        let many = (0..9).map(|n| input(&format!("{n}/a.etl"), &format!("{n}/a.etl"))).collect();
        let (_, clashes) = jobs(many, None, NameFrom::Stem).unwrap();
        assert!(clashes[0].to_string().starts_with("0/a.etl, 1/a.etl, 2/a.etl, 3/a.etl and 5 more would all become"));
    }

    #[test]
    fn a_recording_has_as_many_files_as_rows_can_tell() {
        let many = |count: usize| vec![input("a.etl", "a.etl"); count];
        assert_eq!(jobs(many(65_536), Some("m"), NameFrom::Stem).unwrap().0[0].inputs.len(), 65_536);
        let error = jobs(many(65_537), Some("m"), NameFrom::Stem).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("at most 65536 files in one recording, found 65537"), "{error}");
    }
}
