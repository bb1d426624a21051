//! What to type instead, for command lines that many type.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::names::{is_packed_name, is_trace_name};

/// Options of other programs, and what this one has in their place.
const OPTIONS: [(&[&str], &str); 7] = [
    (
        &["--force", "-f", "--overwrite", "-y"],
        "'--if-exists replace' puts a new trace in the place of one that is there",
    ),
    (
        &["--format", "--csv"],
        "Parquet is what is written; DuckDB makes other formats of it: COPY (FROM '….parquet') TO 'x.csv'",
    ),
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
const COMMANDS: [(&[&str], &str); 4] = [
    (&["info", "show", "dump", "describe", "stat", "head", "ls"], "inspect"),
    (&["check", "validate", "test"], "verify"),
    (&["export", "to-parquet", "parquet", "run"], "convert"),
    (&["schemas"], "schema"),
];

/// Adds to a refusal of the command line what may have been meant.
pub(super) fn with_hint(mut refusal: clap::Error) -> clap::Error {
    let Some((hint, replaced)) = hint(&refusal) else { return refusal };
    refusal.remove(replaced);
    if replaced == ContextKind::SuggestedArg {
        // It names the option that clap has taken for the one that was meant.
        refusal.remove(ContextKind::Usage);
    }
    refusal.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    refusal
}

/// The hint, and the kind of suggestion in whose place it stands.
fn hint(refusal: &clap::Error) -> Option<(String, ContextKind)> {
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
        _ => None,
    }
}

/// What was meant by something in the place of the command.
fn of_command(typed: &str) -> Option<String> {
    if let Some((_, command)) = COMMANDS.iter().find(|(words, _)| words.contains(&typed)) {
        return Some(format!("type 'etl2parquet {command} …'"));
    }
    let is_input = is_trace_name(typed) || is_packed_name(typed) || typed.starts_with('@') || Path::new(typed).exists();
    is_input.then(|| {
        let quoted = if typed.contains(char::is_whitespace) { format!("\"{typed}\"") } else { typed.to_owned() };
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
        let refusal = Cli::try_parse_from(std::iter::once("etl2parquet").chain(line.split_whitespace())).unwrap_err();
        with_hint(refusal).to_string()
    }

    #[test]
    fn a_trace_in_the_place_of_a_command_is_to_be_converted() {
        let hint = "'etl2parquet convert lab.etl -o OUT'; to see what it holds, 'etl2parquet inspect lab.etl'";
        assert!(said("lab.etl").contains(hint), "{}", said("lab.etl"));
        for typed in ["x.etl.001", "x.zip", "@list.txt", "Cargo.toml"] {
            assert!(said(typed).contains(&format!("etl2parquet convert {typed} -o OUT")), "{}", said(typed));
        }
        assert!(said("info a.etl").contains("type 'etl2parquet inspect …'"));
        assert!(said("convrt").contains("'convert'") && !said("convrt").contains("-o OUT"), "{}", said("convrt"));
        assert!(!said("nonsense").contains("tip: to"), "{}", said("nonsense"));
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
