//! What can be typed: commands, flags, environment variables, help texts.
//!
//! Doc comments in this file are the help texts that users read.

use std::ffi::OsString;
use std::path::{Component, PathBuf};

use base::sizes::parse_size;
use base::words::Words;
use batch::options::parse_run_id;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use compaction::By as LakeBy;
use conversion::survey::Stretch;
use export::{Fields, Format, Of, Packets};
use published::report::comparison::By;

use super::choices::{ColorMode, LogFormat, words};
use super::chosen::{Chosen, OfBatch, OfConversion, OfExport, OfInput, OfReading, OfRows, with_environment};
use super::help::{COMPLETIONS, ENVIRONMENT, EXIT_CODES, questions};
use super::run_args::RunArgs;
use super::schema::args::{SchemaArgs, SchemaCommand, UseLockArgs};
use super::version;

/// Convert Windows ETW traces (.etl) into Parquet datasets: one schema per provider, exact time order
#[derive(Debug, Parser)]
#[command(name = "etl2parquet", version, long_version = version::LONG.as_str(), max_term_width = 100)]
#[command(after_long_help = format!("{EXIT_CODES}\n\n{ENVIRONMENT}"), after_help = ENVIRONMENT)]
#[command(arg_required_else_help = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub terminal: TerminalArgs,
}

/// The commands and all their options, each with its environment variable.
pub(super) fn command() -> clap::Command {
    with_environment(Cli::command())
}

/// What holds for all commands, before they begin.
#[derive(Debug, Args)]
#[command(next_help_heading = "All commands")]
pub(super) struct TerminalArgs {
    /// When text is coloured
    #[arg(long, value_name = "WHEN", global = true)]
    #[arg(value_parser = words::<ColorMode>(), default_value = ColorMode::default().word())]
    pub color: ColorMode,
    /// How lines on standard error are written
    #[arg(long, value_name = "FORMAT", global = true)]
    #[arg(value_parser = words::<LogFormat>(), default_value = LogFormat::default().word())]
    pub log_format: LogFormat,
    /// TOML file with options by their long names: at its top those of every command, in a table such as [convert] those
    /// of one; command line and environment variables win
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write traces as Parquet datasets, one folder trace=NAME each
    // Its own would be wider than 60 columns.
    #[command(after_help = ENVIRONMENT, override_usage = "etl2parquet convert [OPTIONS] -o <DIR> <INPUT>...")]
    Convert(Box<ConvertArgs>),
    /// Survey and plan traces, for several processes to convert: writes one plan folder each, and prints where
    #[command(after_help = ENVIRONMENT)]
    Plan(Box<PlanArgs>),
    /// Convert one partition of a plan; any number of processes may, at a time
    #[command(after_help = ENVIRONMENT)]
    ConvertPartition(PartitionArgs),
    /// Publish the trace of a plan whose partitions are converted
    ///
    /// Sizes and row counts of the files are compared with what the workers reported, at the cost of their footers alone. Their
    /// bytes are not read again: `etl2parquet verify` compares the hashes, which the manifest keeps.
    #[command(after_help = ENVIRONMENT)]
    Commit(CommitArgs),
    /// Show session, clock, loss and decodability of traces, converted or not
    ///
    /// Of one trace everything, of several a line for each; nothing is written.
    #[command(after_help = ENVIRONMENT)]
    Inspect(InspectArgs),
    /// Print the rows of a dataset of a trace as CSV or JSON, for head, grep, jq and Elastic; writes nothing else
    #[command(after_help = ENVIRONMENT)]
    Events(Box<EventsArgs>),
    /// Check that published traces are still what was published, and that they read as one table
    #[command(after_help = ENVIRONMENT)]
    Verify(VerifyArgs),
    /// Write a page about a trace, converted or not
    ///
    /// Who used CPU, disk and network, what waited and failed, what was lost, and how it was recorded.
    #[command(after_help = ENVIRONMENT)]
    Report(Box<ReportArgs>),
    /// Compare two traces, or two folders with repeated ones
    ///
    /// What grew, what shrank, and what of that is proven.
    #[command(after_help = ENVIRONMENT)]
    Compare(Box<CompareArgs>),
    /// Bring traces together in a lake, in few large files
    ///
    /// A lake has one table per provider over all traces. What is new is added, what was converted anew is replaced; only files with rows
    /// of such traces are written.
    #[command(after_help = ENVIRONMENT)]
    Compact(CompactArgs),
    /// Remove what interrupted runs have left in an object store
    ///
    /// Objects below an address that no manifest names: a store has no staging folder that goes with its run.
    #[command(after_help = ENVIRONMENT)]
    Clean(CleanArgs),
    /// Describe published traces for programs that ask them
    ///
    /// Datasets and views with columns, types, units and meanings, counts of rows, the span of time, and losses: what a program, or a
    /// language model, needs to know before it writes SQL.
    #[command(after_help = ENVIRONMENT)]
    Describe(DescribeArgs),
    /// Print SQL views over published traces for DuckDB or Spark
    ///
    /// Datasets, events, and answers such as cpu_samples and disk_io.
    #[command(after_help = questions())]
    Views(ViewsArgs),
    /// Name the functions of stacks, from PDBs, also on servers
    #[command(after_help = ENVIRONMENT)]
    Symbols(SymbolsArgs),
    /// Ask a trace, converted or not, in SQL: DuckDB answers, with all views at hand
    #[command(after_help = questions())]
    Query(Box<QueryArgs>),
    /// Write a trace for viewers: Firefox, speedscope, pprof
    ///
    /// A trace that is not converted is converted for it, as a whole; filters choose among its events then.
    #[command(after_help = ENVIRONMENT)]
    Export(Box<ExportArgs>),
    /// Show, import and export what is known of the payloads of events
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Write what makes a shell complete commands and options
    #[command(after_help = COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write man pages
    Man(ManArgs),
}

/// The inputs of a command.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// A trace, an archive or compressed file with traces, a folder of these, a pattern such as lab/**/*.etl, a member
    /// such as lab.zip!/boot.etl, - for standard input, or @FILE with one of these per line
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,
}

/// What decides which traces are written, and how.
#[derive(Debug, Args)]
pub(super) struct JobArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub convert: Chosen<OfConversion>,
    #[command(flatten)]
    pub batch: Chosen<OfBatch>,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub lock: UseLockArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub job: JobArgs,

    /// Survey this stretch of the inputs ahead, such as 0/8 for the first of eight, and stop
    ///
    /// Of a huge trace several processes may survey stretches at a time: `plan` without this option then need not read them.
    #[arg(long, value_name = "K/N")]
    #[arg(help_heading = "Running", conflicts_with = "json")]
    pub stretch: Option<Stretch>,

    /// One JSON object per trace on standard output: {"trace": …, "plan": …, "partitions": …}
    #[arg(long)]
    #[arg(help_heading = "Results")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PartitionArgs {
    /// The folder that `plan` printed
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Number of the partition, from 0
    #[arg(value_name = "N")]
    pub number: u32,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub input: Chosen<OfInput>,
}

#[derive(Debug, Args)]
pub(super) struct CommitArgs {
    /// The folder that `plan` printed
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    #[command(flatten)]
    pub id: RunIdArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// What whoever starts a run calls it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(super) struct RunIdArgs {
    /// Name of this run, recorded in manifests under `run` and in the summary: the id of a build or of a job, for example
    #[arg(long, value_name = "TEXT", value_parser = parse_run_id)]
    pub run_id: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    #[command(flatten)]
    pub job: JobArgs,
    #[command(flatten)]
    pub id: RunIdArgs,

    /// Write a summary as JSON to FILE, or to standard output with -; see docs/summary.md
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub summary: Option<PathBuf>,
    /// Write metrics of the run for Prometheus to FILE, in one step, as its node exporter reads them; see docs/summary.md
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub metrics: Option<PathBuf>,
    /// Survey and plan, say what would be written and which checks would keep it back, and stop
    #[arg(long)]
    #[arg(help_heading = "Results")]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Folder that gets one folder trace=NAME per trace; made if missing
    #[arg(short, long, value_name = "DIR")]
    #[arg(value_parser = PathBufValueParser::new().map(as_system_spells))]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// One JSON document on standard output instead of a page
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub reading: Chosen<OfReading>,
}

#[derive(Debug, Args)]
pub(super) struct EventsArgs {
    /// A trace, a compressed file with one, a member of an archive such as lab.zip!/boot.etl, or - for standard input
    #[arg(value_name = "TRACE")]
    pub trace: OsString,
    /// The dataset whose rows are printed; a trace with one dataset needs no name
    #[arg(long, value_name = "NAME", help_heading = "Rows")]
    pub dataset: Option<String>,
    /// Only these columns, in this order; several with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Rows")]
    pub select: Vec<String>,
    /// Print so many rows at most
    #[arg(long, value_name = "N", help_heading = "Rows")]
    pub limit: Option<u64>,
    /// Lines of CSV, the names of columns first: NULL is nothing, an empty text is "", lists are JSON [default]
    #[arg(long, conflicts_with = "jsonl", help_heading = "Rows")]
    pub csv: bool,
    /// An object of JSON per line, without the columns that are NULL
    #[arg(long, help_heading = "Rows")]
    pub jsonl: bool,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub rows: Chosen<OfRows>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// A folder with traces, a trace (trace=NAME), or a lake
    #[arg(value_name = "OUT", required = true)]
    pub outputs: Vec<PathBuf>,
    /// Manifests and footers only: no hashes, no rows
    #[arg(long)]
    pub quick: bool,
    /// Summary of a run (convert --summary): each trace that it published, or found there, is still there; repeatable
    #[arg(long, value_name = "FILE")]
    pub expect: Vec<PathBuf>,
    /// One JSON document on standard output instead of a line per finding
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub(super) struct SymbolsArgs {
    /// A folder with traces, or a trace (trace=NAME)
    #[arg(value_name = "OUT", required = true)]
    pub outputs: Vec<PathBuf>,
    /// Folders, caches and servers of symbol files with semicolons between, as debuggers write it: DIR, cache*DIR,
    /// srv*DIR*SERVER; without it that of _NT_SYMBOL_PATH
    #[arg(long, value_name = "PATH")]
    pub symbol_path: Option<OsString>,
    /// File that gets a line for each symbol file that frames need and that is not there, as symchk /im reads it where
    /// there is a network; - for standard output
    #[arg(long, value_name = "FILE")]
    pub missing: Option<PathBuf>,
    /// Ask for no module with a smaller share of all frames, such as 0.1%
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share)]
    pub min_share: f64,
    /// Source files, lines and inlined functions, too
    #[arg(long)]
    pub lines: bool,
    /// Write the frames of each trace to OUT/symbols/frames/NAME.parquet, as the view frames has them, for programs
    /// that run no views
    #[arg(long)]
    pub frames: bool,
    /// One JSON document on standard output: a list with an object for each folder that holds traces
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

/// A share in percent.
fn share(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|text| text.trim_end().parse::<f64>().ok());
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| "expected a share from 0% to 100%".to_owned())
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell; written to standard output
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder that gets a page for each command; without it that of the program goes to standard output
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CompactArgs {
    /// A folder with traces, or a trace (trace=NAME)
    #[arg(value_name = "OUT", required_unless_present = "forget")]
    pub outputs: Vec<PathBuf>,
    /// Folder of the lake; made if missing
    #[arg(short, long, value_name = "LAKE")]
    #[arg(value_parser = PathBufValueParser::new().map(as_system_spells))]
    pub output: PathBuf,
    /// What besides a hash of their names decides which traces share files [default: day, or as the lake was made]
    #[arg(long, value_name = "WHAT", value_parser = words::<LakeBy>())]
    pub by: Option<LakeBy>,
    /// Where a file ends, in bytes or with a unit (MiB, GiB) [default: 256 MiB, or as the lake was made]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub target_size: Option<u64>,
    /// A trace that the lake is not to have any more, by its name; repeatable
    #[arg(long, value_name = "TRACE")]
    pub forget: Vec<String>,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub(super) struct CleanArgs {
    /// The address that traces were written to, such as s3://bucket/traces
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Hours that nobody has written to what goes: a run may still be at work on what is younger
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    pub older_than: u64,
    /// Count, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub(super) struct DescribeArgs {
    /// A folder with traces, or a trace (trace=NAME)
    #[arg(value_name = "OUT")]
    pub traces: PathBuf,
    /// One JSON document of at most 20 kB on standard output instead of a page; see docs/describe.md
    #[arg(long)]
    pub json: bool,
    /// Everything: in JSON all datasets, columns, events and views, whatever their size, and in the page all columns
    #[arg(long)]
    pub full: bool,
}

#[derive(Debug, Args)]
pub(super) struct ViewsArgs {
    /// A folder with traces, a trace (trace=NAME), or a lake
    #[arg(value_name = "OUT")]
    pub traces: PathBuf,
    /// Views to print, with those that they need, such as cpu_samples, Kernel-Process or Kernel-Process/Process/Start; where
    /// none is named all but those of single events
    #[arg(value_name = "VIEW")]
    pub views: Vec<String>,
    /// Those of single events, too: a view for each event of each dataset, most of what is there to print and to load
    #[arg(long)]
    pub single_events: bool,
    /// That of what events say in words, too: the view event_messages, which is also printed where it is named
    #[arg(long)]
    pub event_messages: bool,
    /// File that gets the script, or - for standard output, which gets it unless it is a terminal
    #[arg(short = 'o', long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// For Spark SQL instead of DuckDB
    #[arg(long)]
    pub spark: bool,
}

#[derive(Debug, Args)]
pub(super) struct QueryArgs {
    /// A trace, converted (trace=NAME, a folder with such, or a lake) or not, an archive or a folder with traces; those that are not are
    /// converted into a temporary folder, which is removed afterwards
    #[arg(value_name = "TRACE")]
    pub trace: OsString,
    /// What to ask, such as "FROM answers", or - for standard input
    #[arg(value_name = "SQL")]
    pub question: String,
    /// Options of duckdb, behind --, such as -markdown
    #[arg(value_name = "OPTION", last = true)]
    pub of_duckdb: Vec<OsString>,
    /// Answer in CSV instead of a table
    #[arg(long, conflicts_with = "json", help_heading = "Answer")]
    pub csv: bool,
    /// Answer in JSON instead of a table
    #[arg(long, help_heading = "Answer")]
    pub json: bool,
    /// The program of DuckDB that answers [default: duckdb]
    #[arg(long, value_name = "FILE", help_heading = "Answer")]
    pub duckdb: Option<PathBuf>,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub rows: Chosen<OfRows>,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// A trace, converted (trace=NAME, or a folder with such) or not, an archive or a folder with traces; those that are not are
    /// converted into a temporary folder beside the page, which is removed afterwards
    #[arg(value_name = "TRACE", required = true)]
    pub inputs: Vec<OsString>,
    /// File that gets the page, HTML that asks no network for anything, or - for standard output; of several traces a folder,
    /// which gets a page for each and index.html
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub reading: Chosen<OfReading>,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// A trace, converted (trace=NAME, or a folder with one) or not; one that is not is converted into a temporary folder,
    /// which is removed afterwards
    #[arg(value_name = "TRACE")]
    pub trace: OsString,
    /// What it is written as
    #[arg(long, value_name = "FORMAT", value_parser = words::<Format>())]
    pub format: Format,
    /// File that gets it, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// What folded stacks and profiles of speedscope and pprof are of; one of Firefox has both
    #[arg(long, value_name = "WHAT", value_parser = words::<Of>(), default_value = Of::default().word())]
    pub of: Of,
    /// What a packet capture has
    #[arg(long, value_name = "WHAT", value_parser = words::<Packets>(), default_value = Packets::default().word())]
    pub packets: Packets,
    /// What a line of a timeline has
    #[arg(long, value_name = "WHAT", value_parser = words::<Fields>(), default_value = Fields::default().word())]
    pub fields: Fields,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub events: Chosen<OfExport>,
}

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// What was before: a trace, converted (trace=NAME) or not, or a folder with several of the same; those that are not converted are
    /// converted into a temporary folder, which is removed afterwards
    #[arg(value_name = "A")]
    pub a: OsString,
    /// What is now, likewise
    #[arg(value_name = "B")]
    pub b: OsString,
    /// What amounts belong to
    #[arg(long, value_name = "WHAT", value_parser = words::<By>(), default_value = By::default().word())]
    pub by: By,
    /// Compare what has at least this share on one side
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pub min_share: f64,
    /// End with exit code 5 where anything is proven to have grown by more, such as 10%, or nothing was compared
    #[arg(long, value_name = "PERCENT", value_parser = growth)]
    pub fail_above: Option<f64>,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
    /// File that gets a page, HTML that asks no network for anything, or - for standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// A growth in percent.
fn growth(text: &str) -> Result<f64, String> {
    let percent = text.trim().strip_suffix('%').and_then(|text| text.trim_end().parse::<f64>().ok());
    let percent = percent.filter(|percent| percent.is_finite() && *percent >= 0.0);
    percent.map(|percent| percent / 100.0).ok_or_else(|| "expected a growth such as 10%".to_owned())
}

/// A path of a folder that is to be made, as Windows makes it: without blanks and dots at the end of names.
fn as_system_spells(path: PathBuf) -> PathBuf {
    let is_loose =
        |part: Component<'_>| matches!(part, Component::Normal(name) if name.to_string_lossy().ends_with([' ', '.']));
    let is_respelled = cfg!(windows) && path.components().any(is_loose);
    if is_respelled { std::path::absolute(&path).unwrap_or(path) } else { path }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::names::NameFrom;
    use conversion::convert::{FailOn, MaxLoss};

    use super::*;

    #[test]
    fn every_option_has_its_environment_variable() {
        let command = command();
        command.clone().debug_assert();
        let mut options = 0;
        let (mut commands, mut arguments) = (vec![&command], Vec::new());
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            arguments.extend(command.get_arguments());
        }
        for argument in arguments {
            let Some(long) = argument.get_long().filter(|long| !["help", "version"].contains(long)) else { continue };
            let expected = format!("ETL2PARQUET_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env().and_then(|name| name.to_str()), Some(expected.as_str()), "--{long}");
            options += 1;
        }
        assert_eq!(options, 347);
    }

    /// Each option of each command with its words and default: its name is also the key of `--config`, and with
    /// `ETL2PARQUET_` in front that of its environment variable.
    #[test]
    fn options_stay_as_they_are() {
        let mut lines = Vec::new();
        let mut commands = vec![(String::new(), command())];
        while let Some((path, command)) = commands.pop() {
            let below = command.get_subcommands().map(|below| (format!("{path} {}", below.get_name()), below.clone()));
            commands.extend(below);
            for option in command.get_arguments().filter(|option| option.get_long().is_some()) {
                let words = option.get_possible_values();
                let words: Vec<&str> = words.iter().map(clap::builder::PossibleValue::get_name).collect();
                let defaults: Vec<_> =
                    option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
                let line = format!(
                    "{path} --{} {} {}",
                    option.get_long().unwrap_or_default(),
                    words.join("|"),
                    defaults.join(",")
                );
                lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        lines.sort_unstable();
        insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!("options", lines.join("\n"));
        });
    }

    #[track_caller]
    fn converted(line: &[&str]) -> JobArgs {
        let typed = ["etl2parquet", "convert", "a.etl", "-o", "out"].iter().chain(line);
        match Cli::try_parse_from(typed).unwrap().command {
            Command::Convert(args) => args.job,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_typed_is_what_is_meant() {
        let args = converted(&["--fail-on", "loss,damage", "--max-loss", "0.5%", "--pid", "4,chrome.exe", "--rehash"]);
        let options = &args.convert.options;
        assert_eq!(options.checks.fail_on().collect::<Vec<_>>(), [FailOn::Loss, FailOn::Damage]);
        assert_eq!(options.checks.max_loss, Some(MaxLoss::Percent(0.5)));
        assert_eq!((options.filter.processes.len(), options.filter.process_names.len()), (1, 1));
        assert!(options.rehash);
        let args = converted(&["--name-from", "path", "--quarantine-dir", "bad", "--spool-dir", "spool"]);
        assert_eq!(args.batch.options.name_from, NameFrom::Path);
        assert_eq!(args.batch.options.quarantine_dir.as_deref(), Some(Path::new("bad")));
        assert_eq!(args.convert.options.open.spool_dir.as_deref(), Some(Path::new("spool")));
    }
}
