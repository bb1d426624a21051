//! What a file that was named or found stands for: a trace, or the traces that lie in it.

use std::collections::BTreeMap;
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::names::{is_packed_name, is_trace_name};
use base::progress::NoProgress;
use base::suggest::nearest;
use conversion::convert::InputFile;
use etl::input::container::{Archive, Format, Member, name_within};
use etl::input::{Address, OpenOptions, open_archive, open_file};
use glob::Pattern;

use crate::begin::probe;
use crate::passed_over::{PassedOver, Reason};

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) inputs: Vec<InputFile>,
    /// Where the inputs lie in their archive; of a file nothing.
    pub(crate) lie_at: Vec<(usize, u64)>,
    pub(crate) problems: Vec<Error>,
    /// What of an archive is not read.
    pub(crate) passed: PassedOver,
}

/// How a file came to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It was named, or a pattern matches it.
    ByName,
    /// It lies in a folder that was named.
    InFolder,
}

/// The traces that a file stands for; `source` is what it is called in the trace.
///
/// # Errors
/// Why it is passed over, of a file that nobody named.
pub(crate) fn of_file(
    path: &Address,
    source: &str,
    asked: Asked,
    open: &OpenOptions,
) -> std::result::Result<Contents, Reason> {
    let plain = || Contents { inputs: vec![InputFile::new(path.clone(), source)], ..Contents::default() };
    // What cannot be read is reported when it is converted.
    let Some(format) = format_of(path, open) else { return Ok(plain()) };
    let contents = if format.is_stream() {
        stream(path, source, asked, open)
    } else {
        open_archive(path, open, &NoProgress).map(|archive| archive_contents(&archive, path, source))
    };
    let contents = contents.unwrap_or_else(|problem| Contents { problems: vec![problem], ..Contents::default() });
    let is_nothing = contents.inputs.is_empty() && contents.problems.is_empty();
    match asked {
        Asked::ByName if is_nothing => {
            Ok(Contents { problems: vec![without_trace(path, format, &contents.passed)], ..Contents::default() })
        }
        Asked::InFolder if is_nothing && format.is_stream() => Err(Reason::NotATrace),
        Asked::InFolder if is_nothing => Err(Reason::NoTraceWithin),
        _ => Ok(contents),
    }
}

/// The members of an archive that a pattern matches, or the one of this name.
pub(crate) fn of_members(archive: &Address, source: &str, pattern: &str, open: &OpenOptions) -> Result<Contents> {
    let opened = open_archive(archive, open, &NoProgress)?;
    let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
    let pattern_of = Pattern::new(pattern).ok().filter(|_| opened.find(pattern).is_none());
    let is_wanted = |member: &Member| match &pattern_of {
        Some(pattern) => pattern.matches_with(&member.name, options),
        None => member.name == pattern,
    };
    let found = opened.members().iter().enumerate().filter(|(_, member)| is_wanted(member));
    let found =
        found.filter_map(|(index, member)| Some((member_input(archive, source, member)?, opened.lies_at(index))));
    let (inputs, lie_at): (Vec<InputFile>, Vec<(usize, u64)>) = found.unzip();
    if inputs.is_empty() {
        let error = opened.no_member(&archive.member(pattern).unwrap_or_else(|| archive.clone()));
        return Err(match near(&opened, pattern).filter(|_| Pattern::escape(pattern) == pattern) {
            Some(name) => error.with_hint(format!("did you mean {name}?")),
            None => error,
        });
    }
    Ok(Contents { inputs, lie_at, ..Contents::default() })
}

/// Members that are looked through for one that was meant.
const CANDIDATES: usize = 1000;

/// The trace of an archive whose path, or whose own name, is nearest to the one that was typed.
fn near<'a>(archive: &'a Archive, typed: &str) -> Option<&'a str> {
    let names =
        || archive.members().iter().map(|member| &*member.name).filter(|name| is_trace_name(name)).take(CANDIDATES);
    let in_another_folder = names().find(|name| own_name(name).eq_ignore_ascii_case(own_name(typed)));
    in_another_folder.or_else(|| nearest(typed, names()))
}

fn own_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What a file is packed as, by its first bytes.
fn format_of(path: &Address, open: &OpenOptions) -> Option<Format> {
    // To look into an object is a request, and a block of it; what is called like a trace is taken for one.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.scheme().is_some() && is_trace_name(&name) {
        return None;
    }
    let input = open_file(path, open, &NoProgress).ok()?;
    Format::of(input.bytes(0, Format::SIGN, &mut Vec::new()).ok()?)
}

/// A compressed file is taken for what its name says, else looked into where nobody named it.
fn stream(path: &Address, source: &str, asked: Asked, open: &OpenOptions) -> Result<Contents> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let inner = name_within(&name);
    let address = path.member(&inner).ok_or_else(|| not_text(path))?;
    let found = InputFile::new(address, source);
    let is_trace = asked == Asked::ByName || is_trace_name(&inner) || probe(&found, open).is_ok();
    Ok(Contents { inputs: if is_trace { vec![found] } else { Vec::new() }, ..Contents::default() })
}

fn archive_contents(archive: &Archive, path: &Address, source: &str) -> Contents {
    let (mut contents, mut blocked) = (Contents::default(), BTreeMap::<String, Vec<&str>>::new());
    for (index, member) in archive.members().iter().enumerate() {
        let name = member.name.rsplit('/').next().unwrap_or_default();
        match &member.obstacle {
            _ if !is_trace_name(name) => {
                let reason = if is_packed_name(name) { Reason::Nested } else { Reason::Name };
                contents.passed.add(reason, &member.name);
            }
            Some(obstacle) => blocked.entry(obstacle.reason()).or_default().push(&member.name),
            None => match member_input(path, source, member) {
                Some(input) => {
                    contents.inputs.push(input);
                    contents.lie_at.push(archive.lies_at(index));
                }
                None => contents.problems.push(not_text(path)),
            },
        }
    }
    contents.problems.extend(blocked.iter().map(|(reason, names)| blocked_members(path, reason, names)));
    contents
}

fn member_input(archive: &Address, source: &str, member: &Member) -> Option<InputFile> {
    Some(InputFile::new(archive.member(&member.name)?, format!("{source}!/{}", member.name)))
}

/// Members that a message lists by name; the rest is a number.
const SHOWN: usize = 3;

/// Traces of an archive that cannot be read, for one reason.
fn blocked_members(path: &Path, reason: &str, names: &[&str]) -> Error {
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = if names.len() == 1 { "a member".to_owned() } else { format!("{} members", names.len()) };
    let message = format!("{what} cannot be read, {reason}: {shown}{more}");
    Error::new(ErrorKind::Input, message).in_file(path).with_hint("unpack the archive and convert what is in it")
}

fn without_trace(path: &Path, format: Format, passed: &PassedOver) -> Error {
    let error = Error::new(ErrorKind::Input, format!("nothing in this {} is called like a trace", format.name()));
    match passed.text() {
        Some(text) => error.in_file(path).with_hint(format!("{text}; name a member as {}!/MEMBER", path.display())),
        None => error.in_file(path),
    }
}

fn not_text(path: &Path) -> Error {
    let message = "the name of an archive must be Unicode text for its members to have names";
    Error::new(ErrorKind::Input, message).in_file(path).with_hint("rename it")
}
