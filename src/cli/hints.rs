//! What to type instead, for command lines that many type.

use std::path::Path;

use base::names::{is_packed_name, is_trace_name};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options of other programs, and what this one has in their place.
const OPTIONS: [(&[&str], &str); 7] = [
    (
        &["--force", "-f", "--overwrite", "-y"],
        "'--if-exists replace' puts a new trace in the place of one that is there",
    ),
    (&["--format", "--csv"], "Parquet is what is written; 'etl2parquet events' prints rows as CSV or JSON"),
    (&["--recursive", "-r", "-R"], "folders are searched with all folders below them, without an option"),
    (
        &["--out", "--output-dir", "--outdir", "--out-dir", "--dest"],
        "the output folder is given with '--output', or '-o'",
    ),
    (
        &["--jobs", "-j", "--parallel", "--workers"],
        "'--threads' says how many threads work, on several traces at a time where they are small",
    ),
    (&["--start", "--since", "--begin"], "'--from' and '--to' limit the time"),
    (&["--end", "--until"], "'--from' and '--to' limit the time"),
];

/// Words that other programs have for commands, and the command here.
const COMMANDS: [(&[&str], &str); 6] = [
    (&["info", "show", "describe", "stat", "ls"], "inspect"),
    (&["check", "validate", "test"], "verify"),
    (&["export", "to-parquet", "parquet", "run"], "convert"),
    (&["schemas"], "schema"),
    (&["sql", "select", "ask"], "query"),
    (&["head", "tail", "dump", "print", "cat", "list"], "events"),
];

/// Adds to a refusal of the command line that was typed what may have been meant.
pub(super) fn with_hint(mut refusal: clap::Error, typed: &[String]) -> clap::Error {
    let Some((hint, replaced)) = hint(&refusal, typed) else { return refusal };
    refusal.remove(replaced);
    if replaced == ContextKind::SuggestedArg {
        // It names the option that clap has taken for the one that was meant.
        refusal.remove(ContextKind::Usage);
    }
    refusal.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    refusal
}

/// The hint, and the kind of suggestion in whose place it stands.
fn hint(refusal: &clap::Error, line: &[String]) -> Option<(String, ContextKind)> {
    let typed = |kind| match refusal.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match refusal.kind() {
        ErrorKind::InvalidSubcommand => {
            let hint = of_command(typed(ContextKind::InvalidSubcommand)?)?;
            Some((hint, ContextKind::SuggestedSubcommand))
        }
        ErrorKind::UnknownArgument => {
            let typed = typed(ContextKind::InvalidArg)?;
            let name = typed.split_once('=').map_or(typed, |(name, _)| name);
            let (_, hint) = OPTIONS.iter().find(|(names, _)| names.contains(&name))?;
            Some(((*hint).to_owned(), ContextKind::SuggestedArg))
        }
        ErrorKind::MissingRequiredArgument => match refusal.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing)) if matches!(&missing[..], [one] if one.starts_with("--output")) => {
                Some((
                    format!("type '{} -o OUT', with a folder of your choice for OUT", in_full(line)),
                    ContextKind::Suggested,
                ))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A command line as it can be typed again.
fn in_full(line: &[String]) -> String {
    let line: Vec<String> = line.iter().map(|word| quoted(word)).collect();
    format!("etl2parquet {}", line.join(" "))
}

/// A word as shells take it for one.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./\\:=,@+!~%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("\"{word}\"") }
}

/// What was meant by something in the place of the command.
fn of_command(typed: &str) -> Option<String> {
    if let Some((_, command)) = COMMANDS.iter().find(|(words, _)| words.contains(&typed)) {
        return Some(format!("type 'etl2parquet {command} …'"));
    }
    let is_input = is_trace_name(typed) || is_packed_name(typed) || typed.starts_with('@') || Path::new(typed).exists();
    is_input.then(|| {
        let quoted = quoted(typed);
        format!("to convert it, type 'etl2parquet convert {quoted} -o OUT'; to see what it holds, 'etl2parquet inspect {quoted}'")
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::Cli;

    /// What is said of a command line.
    fn said(line: &str) -> String {
        let typed: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let refusal = Cli::try_parse_from(std::iter::once("etl2parquet").chain(line.split_whitespace())).unwrap_err();
        with_hint(refusal, &typed).to_string()
    }

    #[test]
    fn a_trace_in_the_place_of_a_command_is_to_be_converted() {
        let hint = "'etl2parquet convert lab.etl -o OUT'; to see what it holds, 'etl2parquet inspect lab.etl'";
        assert!(said("lab.etl").contains(hint), "{}", said("lab.etl"));
        for typed in ["x.etl.001", "x.zip", "@list.txt", "Cargo.toml"] {
            assert!(said(typed).contains(&format!("etl2parquet convert {typed} -o OUT")), "{}", said(typed));
        }
        for (typed, command) in [("info a.etl", "inspect"), ("sql out FROM", "query"), ("head a.etl", "events")] {
            assert!(said(typed).contains(&format!("type 'etl2parquet {command} …'")), "{}", said(typed));
        }
        assert!(said("convrt").contains("'convert'") && !said("convrt").contains("-o OUT"), "{}", said("convrt"));
        assert!(!said("nonsense").contains("tip: to"), "{}", said("nonsense"));
    }

    #[test]
    fn what_lacks_an_output_is_answered_with_the_whole_command() {
        let t = |line: &str, typed: &str| assert!(said(line).contains(&format!("type '{typed}'")), "{}", said(line));
        t("convert a.etl", "etl2parquet convert a.etl -o OUT");
        t("convert lab/*.etl --raw never", "etl2parquet convert \"lab/*.etl\" --raw never -o OUT");
        t("plan a.etl", "etl2parquet plan a.etl -o OUT");
        assert!(!said("convert").contains("-o OUT'"), "an input is missing, too: {}", said("convert"));
    }

    #[test]
    fn options_of_other_programs_are_known() {
        let t = |line: &str, hint: &str| assert!(said(line).contains(hint), "{line}: {}", said(line));
        t("convert a.etl -o out --force", "tip: '--if-exists replace' puts");
        t("convert a.etl -o out -f", "tip: '--if-exists replace' puts");
        t("convert a.etl -o out --format csv", "Parquet is what is written");
        t("convert a.etl -o out --format=csv", "Parquet is what is written");
        t("convert a.etl --out-dir out", "'--output', or '-o'");
        t("inspect a.etl -j 8", "'--threads'");
        assert!(!said("convert a.etl -o out --format csv").contains("similar"), "clap's own suggestion is gone");
        for (line, guessed) in
            [("convert a.etl -o out --force", "--store"), ("convert a.etl -o out --format csv", "--from")]
        {
            assert!(!said(line).contains(guessed), "{line}: {}", said(line));
        }
        t("convert a.etl -o out --thread 8", "'--threads'");
    }
}
