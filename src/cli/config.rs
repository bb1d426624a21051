//! `--config`: options from a TOML file, below those of the command line and of the environment.
//!
//! ```toml
//! threads = 4                 # of every command that has it
//!
//! [convert]
//! output = "/data/parquet"
//! if-exists = "update"
//! fail-on = ["damage", "disorder"]
//!
//! [schema.list]
//! json = true
//! ```
//!
//! What a file says becomes the default of the option, so that everything else comes before it.

use std::fs;
use std::path::Path;

use base::error::{Error, ErrorKind, Result};
use base::suggest::nearest;
use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::refusal;

/// The option that names the file, and what else is no option to give in one.
const OWN: [&str; 3] = ["config", "help", "version"];

/// Bytes of a file that are read.
const LARGEST: u64 = 1 << 20;

/// An option that a file gives.
#[derive(Debug)]
struct Given<'a> {
    /// The command, from the program down; empty for all that have the option.
    path: Vec<&'a str>,
    name: &'a str,
    values: Vec<String>,
    /// Whether it is a list, which only options take that can be repeated.
    is_list: bool,
}

/// The line of a fault, and what is wrong there.
type Fault = (usize, String);

/// The command with the defaults that a file says.
///
/// # Errors
/// [`ErrorKind::Usage`] when the file cannot be read, or anything in it is no option or no value of it.
pub(super) fn apply(command: Command, file: &Path) -> Result<Command> {
    let failure = |message: &str| Error::new(ErrorKind::Usage, message).in_file(file);
    if fs::metadata(file).is_ok_and(|found| found.len() > LARGEST) {
        return Err(failure("expected a TOML file of at most 1 MiB"));
    }
    let text = fs::read_to_string(file).map_err(|cause| failure("cannot read the configuration").caused_by(cause))?;
    of_text(command, &text).map_err(|(line, message)| failure(&message).with_hint(format!("line {line}")))
}

fn of_text(command: Command, text: &str) -> std::result::Result<Command, Fault> {
    let table = DeTable::parse(text).map_err(|fault| {
        let line = fault.span().map_or(1, |span| line_of(text, span.start));
        (line, format!("expected TOML: {}", fault.message()))
    })?;
    let mut given = Vec::new();
    collect(&command, table.get_ref(), text, &[], &mut given)?;
    // What one command has of its own goes before what all have.
    given.sort_by_key(|one| one.path.len());
    Ok(given.iter().fold(command, |command, one| one.set(command, &one.path)))
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// What a table says, and the tables in it.
fn collect<'a>(
    command: &Command,
    table: &'a DeTable<'_>,
    text: &str,
    path: &[&'a str],
    given: &mut Vec<Given<'a>>,
) -> std::result::Result<(), Fault> {
    for (key, value) in table {
        let (name, line) = (key.get_ref().as_ref(), line_of(text, key.span().start));
        let sub = command.find_subcommand(name);
        if let (Some(sub), DeValue::Table(inner)) = (sub, value.get_ref()) {
            collect(sub, inner, text, &[path, &[name]].concat(), given)?;
            continue;
        }
        let args =
            if path.is_empty() { everywhere(command, name) } else { option(command, name).into_iter().collect() };
        if args.is_empty() {
            return Err((line, unknown(command, name, path)));
        }
        let is_list = value.get_ref().is_array();
        let values = values(value);
        let values =
            values.ok_or_else(|| (line, format!("expected a text, number, true or false for {name}, or a list")))?;
        let one = Given { path: path.to_vec(), name, values, is_list };
        args.into_iter().try_for_each(|arg| one.check(arg)).map_err(|message| (line, message))?;
        given.push(one);
    }
    Ok(())
}

/// The options of a command that a file may give.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| arg.get_long().is_some_and(|long| !OWN.contains(&long)))
}

fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    options(command).find(|arg| arg.get_long() == Some(name))
}

/// The options of this name of a command and all below it.
fn everywhere<'a>(command: &'a Command, name: &str) -> Vec<&'a Arg> {
    let below = command.get_subcommands().flat_map(|sub| everywhere(sub, name));
    option(command, name).into_iter().chain(below).collect()
}

fn unknown(command: &Command, name: &str, path: &[&str]) -> String {
    let whose = if path.is_empty() { "any command".to_owned() } else { path.join(" ") };
    let mut known: Vec<&str> = Vec::new();
    let mut commands = vec![command];
    while let Some(one) = commands.pop() {
        known.extend(options(one).filter_map(Arg::get_long));
        known.extend(one.get_subcommands().map(Command::get_name));
        if path.is_empty() {
            commands.extend(one.get_subcommands());
        }
    }
    let guess = nearest(&name.replace('_', "-"), known.into_iter());
    let guess = guess.map_or(String::new(), |guess| format!("; did you mean {guess}?"));
    format!("{name} is no option of {whose}{guess}")
}

/// The texts of a value; `None` for a table, or one in a list.
fn values(value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    match value.get_ref() {
        DeValue::Array(list) => list.iter().map(|one| scalar(one.get_ref())).collect(),
        one => Some(vec![scalar(one)?]),
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is_so) => Some(is_so.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

impl Given<'_> {
    /// The command with this default, where `path` leads to, or in all commands that have the option.
    fn set(&self, command: Command, path: &[&str]) -> Command {
        if let [first, rest @ ..] = path {
            return command.mut_subcommand(first, |sub| self.set(sub, rest));
        }
        let id = option(&command, self.name).map(|arg| arg.get_id().clone());
        let command = match id {
            Some(id) => command.mut_arg(id, |arg| arg.required(false).default_values(self.values.clone())),
            None => command,
        };
        if self.path.is_empty() { command.mut_subcommands(|sub| self.set(sub, &[])) } else { command }
    }

    /// Takes the values as the command line would.
    fn check(&self, arg: &Arg) -> std::result::Result<(), String> {
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        if self.is_list && !matches!(arg.get_action(), ArgAction::Append) {
            return Err(format!("{} takes one value, not a list", self.name));
        }
        if is_flag {
            let is_plain = self.values.iter().all(|value| value == "true" || value == "false");
            return is_plain.then_some(()).ok_or_else(|| format!("expected true or false for {}", self.name));
        }
        let typed = self.values.iter().map(|value| format!("--{}={value}", self.name));
        let alone = Command::new("config").no_binary_name(true).disable_help_flag(true);
        let alone = alone.arg(arg.clone().required(false).num_args(ValueRange::SINGLE));
        alone.try_get_matches_from(typed).map(drop).map_err(|wrong| refusal::message(&wrong))
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;
    use columnar::output::IfExists;
    use conversion::convert::FailOn;

    use super::*;
    use crate::cli::args::{Cli, Command as Typed, ConvertArgs, command};
    use crate::cli::choices::LogFormat;

    fn parse(config: &str, line: &str) -> std::result::Result<Cli, String> {
        let command = of_text(command(), config).map_err(|(line, message)| format!("{line}: {message}"))?;
        let typed = std::iter::once("etl2parquet").chain(line.split_whitespace());
        let matches = command.try_get_matches_from(typed).map_err(|wrong| refusal::message(&wrong))?;
        Cli::from_arg_matches(&matches).map_err(|wrong| refusal::message(&wrong))
    }

    #[track_caller]
    fn converted(config: &str, line: &str) -> Box<ConvertArgs> {
        match parse(config, line).unwrap().command {
            Typed::Convert(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_gives_defaults() {
        let config = "threads = 3\nlog-format = 'json'\n[convert]\noutput = \"lake\"\nif-exists = \"update\"\n\
                      fail-on = [\"damage\", \"disorder\"]\nrehash = true\nprovider = 'A,B'\nrow-group-rows = 2_048\n\
                      from = 2025-01-31T12:00:00Z\n[inspect]\nthreads = 5";
        let args = converted(config, "convert a.etl");
        let options = &args.job.convert.options;
        assert_eq!(args.job.output.output, Path::new("lake"));
        assert_eq!((options.if_exists, options.rehash), (IfExists::Update, true));
        assert_eq!(options.checks.fail_on().collect::<Vec<_>>(), [FailOn::Disorder, FailOn::Damage]);
        assert_eq!((options.filter.providers.len(), options.row_group_rows), (2, 2048));
        assert!(options.filter.from.is_some() && args.job.run.threads == Some(3));
        // The command line comes first; a list takes the place of the whole list.
        let args = converted(config, "convert a.etl -o out --threads 1 --fail-on loss --if-exists skip");
        assert_eq!(args.job.output.output, Path::new("out"));
        assert_eq!((args.job.run.threads, args.job.convert.options.if_exists), (Some(1), IfExists::Skip));
        assert_eq!(args.job.convert.options.checks.fail_on().collect::<Vec<_>>(), [FailOn::Loss]);
        let cli = parse(config, "inspect a.etl").unwrap();
        assert_eq!(cli.terminal.log_format, LogFormat::Json);
        let Typed::Inspect(args) = cli.command else { panic!("expected inspect") };
        assert_eq!(args.run.threads, Some(5), "that of the command goes before that of all");
        assert!(parse("[schema.list]\njson = true", "schema list").is_ok());
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let t = |config: &str, expected: &str| {
            assert_eq!(parse(config, "inspect a.etl").unwrap_err(), expected, "{config}");
        };
        t("[convert]\n\nif_exists = 'skip'", "3: if_exists is no option of convert; did you mean if-exists?");
        t("thread = 4", "1: thread is no option of any command; did you mean threads?");
        t("[convrt]\nthreads = 4", "1: convrt is no option of any command; did you mean convert?");
        t("[verify]\nsummary = 'x'", "2: summary is no option of verify");
        t("config = 'x'", "1: config is no option of any command");
        t(
            "[convert]\nmax-loss = 'many'",
            "2: invalid value 'many' for '--max-loss <N|P%>': expected a number of events, or 0% to 100%",
        );
        t("[convert]\nif-exists = ['skip']", "2: if-exists takes one value, not a list");
        t("[convert]\nrehash = 'yes'", "2: expected true or false for rehash");
        t("[convert]\nthreads = { a = 1 }", "2: expected a text, number, true or false for threads, or a list");
        t("x =", "1: expected TOML: string values must be quoted, expected literal string");
    }
}
