//! What can be typed: commands, flags, environment variables, help texts.
//!
//! Doc comments in this file are the help texts that users read.

use std::ffi::OsString;
use std::path::{Component, PathBuf};

use base::clock::ClockAnchor;
use base::names::NameFrom;
use base::words::Words;
use batch::OnBadInput;
use clap::builder::{FalseyValueParser, PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use columnar::columns::{GuidType, IntegerType, TimestampType};
use columnar::dataset::properties::{Compression, EncoderKind};
use columnar::output::IfExists;
use conversion::convert::job::{MaxLoss, RawPolicy, StackPolicy};
use conversion::plan::DatasetSplit;

use super::choices::{ColorMode, Columns, FailOn, LogFormat, words};
use super::filters::FilterArgs;
use super::help::{COMPLETIONS, ENVIRONMENT, EXIT_CODES, questions};
use super::run_args::RunArgs;
use super::schema::args::{SchemaArgs, SchemaCommand, UseLockArgs};
use super::sizes::{parse_max_loss, parse_row_group_rows, parse_size};
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

/// What holds for all commands, before they begin.
#[derive(Debug, Args)]
#[command(next_help_heading = "All commands")]
pub(super) struct TerminalArgs {
    /// When text is coloured
    #[arg(long, value_name = "WHEN", env = "ETL2PARQUET_COLOR", hide_env = true, global = true)]
    #[arg(value_parser = words::<ColorMode>(), default_value = ColorMode::default().word())]
    pub color: ColorMode,
    /// How lines on standard error are written
    #[arg(long, value_name = "FORMAT", env = "ETL2PARQUET_LOG_FORMAT", hide_env = true, global = true)]
    #[arg(value_parser = words::<LogFormat>(), default_value = LogFormat::default().word())]
    pub log_format: LogFormat,
    /// TOML file with options by their long names: at its top those of every command, in a table such as [convert] those
    /// of one; command line and environment variables win
    #[arg(long, value_name = "FILE", env = "ETL2PARQUET_CONFIG", hide_env = true, global = true)]
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
    /// Publish the trace of a plan, all partitions of which are converted
    ///
    /// Sizes and row counts of the files are compared with what the workers reported, at the cost of their footers alone. Their
    /// bytes are not read again: `etl2parquet verify` compares the hashes, which the manifest keeps.
    #[command(after_help = ENVIRONMENT)]
    Commit(CommitArgs),
    /// Show session, clock, loss, providers and decodability of a trace, or a line for each of several, also of converted ones; writes nothing
    #[command(after_help = ENVIRONMENT)]
    Inspect(InspectArgs),
    /// Check that published traces are still what was published, and that they read as one table
    #[command(after_help = ENVIRONMENT)]
    Verify(VerifyArgs),
    /// Write a page about a trace, converted or not: who used CPU, disk and network, what waited and failed, losses, the recording
    #[command(after_help = ENVIRONMENT)]
    Report(Box<ReportArgs>),
    /// Print SQL views over published traces: datasets, events, and answers such as cpu_samples and disk_io
    #[command(after_help = questions())]
    Views(ViewsArgs),
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
    pub filters: FilterArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub files: FileArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub lock: UseLockArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub spool: SpoolArgs,
}

/// How what is packed is unpacked.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Running")]
pub(super) struct SpoolArgs {
    /// Folder for the temporary file that members of archives are unpacked to [default: the output folder]
    #[arg(long, value_name = "DIR", env = "ETL2PARQUET_SPOOL_DIR", hide_env = true)]
    pub spool_dir: Option<PathBuf>,
    /// Size that the members of one trace may take there, in bytes or with a unit (MiB, GiB)
    ///
    /// [default: 20 times that of the archive, at least 1 GiB, at most 64 GiB]
    #[arg(long, value_name = "SIZE", env = "ETL2PARQUET_MAX_SPOOL", hide_env = true, value_parser = parse_size)]
    pub max_spool: Option<u64>,
}

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub job: JobArgs,

    /// One JSON object per trace on standard output: {"trace": …, "plan": …, "partitions": …}
    #[arg(long, env = "ETL2PARQUET_JSON", hide_env = true, value_parser = FalseyValueParser::new())]
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
    pub spool: SpoolArgs,
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
    #[arg(long, value_name = "TEXT", env = "ETL2PARQUET_RUN_ID", hide_env = true, value_parser = parse_run_id)]
    pub run_id: Option<String>,
}

/// Letters of a run id.
const LONGEST_RUN_ID: usize = 256;

fn parse_run_id(text: &str) -> Result<String, String> {
    let is_plain =
        !text.trim().is_empty() && text.chars().count() <= LONGEST_RUN_ID && !text.contains(char::is_control);
    is_plain.then(|| text.to_owned()).ok_or_else(|| format!("expected a line of 1 to {LONGEST_RUN_ID} characters"))
}

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    #[command(flatten)]
    pub job: JobArgs,
    #[command(flatten)]
    pub id: RunIdArgs,

    /// Write a summary as JSON to FILE, or to standard output with -; see docs/summary.md
    #[arg(long, value_name = "FILE", env = "ETL2PARQUET_SUMMARY", hide_env = true, help_heading = "Results")]
    pub summary: Option<PathBuf>,
    /// Write metrics of the run for Prometheus to FILE, in one step, as its node exporter reads them; see docs/summary.md
    #[arg(long, value_name = "FILE", env = "ETL2PARQUET_METRICS", hide_env = true, help_heading = "Results")]
    pub metrics: Option<PathBuf>,
    /// Survey and plan, say what would be written and which checks would keep it back, and stop
    #[arg(long, env = "ETL2PARQUET_DRY_RUN", hide_env = true, value_parser = FalseyValueParser::new())]
    #[arg(help_heading = "Results")]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Folder that gets one folder trace=NAME per trace; made if missing
    #[arg(short, long, value_name = "DIR", env = "ETL2PARQUET_OUTPUT", hide_env = true)]
    #[arg(value_parser = PathBufValueParser::new().map(as_system_spells))]
    pub output: PathBuf,
    /// All inputs are one recording: merge them into one trace of this name; `auto`: merge files that belong together by
    /// name, session and time, and say which
    #[arg(long, value_name = "NAME", env = "ETL2PARQUET_MERGE", hide_env = true)]
    pub merge: Option<String>,
    /// Merge files that hold the same bytes, too: every event of theirs is in the trace several times
    #[arg(long, env = "ETL2PARQUET_ALLOW_REPEATED", hide_env = true, value_parser = FalseyValueParser::new())]
    pub allow_repeated: bool,
    /// What a trace is called after
    #[arg(long, value_name = "HOW", env = "ETL2PARQUET_NAME_FROM", hide_env = true)]
    #[arg(value_parser = words::<NameFrom>(), default_value = NameFrom::default().word())]
    pub name_from: NameFrom,
    /// What to do about a trace that is there already
    #[arg(long, value_name = "WHAT", env = "ETL2PARQUET_IF_EXISTS", hide_env = true)]
    #[arg(value_parser = words::<IfExists>(), default_value = IfExists::default().word())]
    pub if_exists: IfExists,
    /// With --if-exists update: compare what inputs hold, not when they were written
    #[arg(long, env = "ETL2PARQUET_REHASH", hide_env = true)]
    pub rehash: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(super) struct ColumnArgs {
    /// Which events share a dataset
    #[arg(long, value_name = "WHICH", env = "ETL2PARQUET_LAYOUT", hide_env = true)]
    #[arg(value_parser = words::<DatasetSplit>(), default_value = DatasetSplit::default().word())]
    pub layout: DatasetSplit,
    /// Which payload columns a table has
    #[arg(long, value_name = "WHICH", env = "ETL2PARQUET_COLUMNS", hide_env = true)]
    #[arg(value_parser = words::<Columns>(), default_value = Columns::default().word())]
    pub columns: Columns,
    /// When the raw payload of an event is written too
    #[arg(long, value_name = "WHEN", env = "ETL2PARQUET_RAW", hide_env = true)]
    #[arg(value_parser = words::<RawPolicy>(), default_value = RawPolicy::default().word())]
    pub raw: RawPolicy,
    /// What becomes of the stacks of kernel events, which other events tell
    #[arg(long, value_name = "WHAT", env = "ETL2PARQUET_STACKS", hide_env = true)]
    #[arg(value_parser = words::<StackPolicy>(), default_value = StackPolicy::default().word())]
    pub stacks: StackPolicy,
    /// How numbers are written
    #[arg(long, value_name = "HOW", env = "ETL2PARQUET_INTEGERS", hide_env = true)]
    #[arg(value_parser = words::<IntegerType>(), default_value = IntegerType::default().word())]
    pub integers: IntegerType,
    /// How GUIDs are written
    #[arg(long, value_name = "HOW", env = "ETL2PARQUET_GUID", hide_env = true)]
    #[arg(value_parser = words::<GuidType>(), default_value = GuidType::default().word())]
    pub guid: GuidType,
    /// Unit of timestamp columns
    #[arg(long, value_name = "UNIT", env = "ETL2PARQUET_TIMESTAMPS", hide_env = true)]
    #[arg(value_parser = words::<TimestampType>(), default_value = TimestampType::default().word())]
    pub timestamps: TimestampType,
    #[command(flatten)]
    pub clock: ClockArgs,
}

#[derive(Debug, Args)]
pub(super) struct ClockArgs {
    /// What the time of events is counted from
    #[arg(long, value_name = "WHAT", env = "ETL2PARQUET_CLOCK_ANCHOR", hide_env = true)]
    #[arg(value_parser = words::<ClockAnchor>(), default_value = ClockAnchor::default().word())]
    pub clock_anchor: ClockAnchor,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Parquet files")]
pub(super) struct FileArgs {
    /// Codec: zstd, zstd(1) to zstd(22), snappy, lz4, none
    #[arg(long, value_name = "CODEC", env = "ETL2PARQUET_COMPRESSION", hide_env = true)]
    #[arg(default_value_t, value_parser = str::parse::<Compression>)]
    pub compression: Compression,
    /// Rows at which a row group is closed, unless its size closes it before; at least 1024, since smaller groups take
    /// more room for what describes them than for their values
    #[arg(long, value_name = "ROWS", env = "ETL2PARQUET_ROW_GROUP_ROWS", hide_env = true)]
    #[arg(default_value_t = 1_048_576, value_parser = parse_row_group_rows)]
    pub row_group_rows: u32,
    /// Size at which a file is closed and the next one begun, in bytes or with a unit (KiB, MiB, GiB, KB, MB, GB)
    #[arg(long, value_name = "SIZE", env = "ETL2PARQUET_MAX_FILE_SIZE", hide_env = true)]
    #[arg(default_value = "512MiB", value_parser = parse_size)]
    pub max_file_size: u64,
    /// Event bytes of a partition, for tests
    #[arg(long, value_name = "SIZE", env = "ETL2PARQUET_PARTITION_BYTES", hide = true, value_parser = parse_size)]
    pub partition_bytes: Option<u64>,
    /// Who encodes columns, for tests; the bytes are the same
    #[arg(long, value_name = "WHO", env = "ETL2PARQUET_ENCODER", hide = true, value_parser = words::<EncoderKind>(), default_value = EncoderKind::default().word())]
    pub encoder: EncoderKind,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub(super) struct CheckArgs {
    /// Publish no trace that lost more events than this, as a number or as a percentage, such as 0.1%, or that does not
    /// tell how many
    #[arg(long, value_name = "N|P%", env = "ETL2PARQUET_MAX_LOSS", hide_env = true, value_parser = parse_max_loss)]
    pub max_loss: Option<MaxLoss>,
    /// Publish no trace of which any of these is true; several with commas between
    #[arg(long, value_name = "WHAT", env = "ETL2PARQUET_FAIL_ON", hide_env = true)]
    #[arg(value_parser = words::<FailOn>(), value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// What to do about an input that cannot be read or is no trace
    #[arg(long, value_name = "WHAT", env = "ETL2PARQUET_ON_BAD_INPUT", hide_env = true)]
    #[arg(value_parser = words::<OnBadInput>(), default_value = OnBadInput::default().word())]
    pub on_bad_input: OnBadInput,
    /// Folder that gets a JSON record of each input in quarantine, and loses it once the input can be read; made if missing
    #[arg(long, value_name = "DIR", env = "ETL2PARQUET_QUARANTINE_DIR", hide_env = true)]
    pub quarantine_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// One JSON document on standard output instead of a page
    #[arg(long, env = "ETL2PARQUET_JSON", hide_env = true, value_parser = FalseyValueParser::new())]
    pub json: bool,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub spool: SpoolArgs,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// A folder with traces, or a trace (trace=NAME)
    #[arg(value_name = "OUT", required = true)]
    pub outputs: Vec<PathBuf>,
    /// Manifests and footers only: no hashes, no rows
    #[arg(long, env = "ETL2PARQUET_QUICK", hide_env = true, value_parser = FalseyValueParser::new())]
    pub quick: bool,
    /// Summary of a run (convert --summary): each trace that it published, or found there, is still there; repeatable
    #[arg(long, value_name = "FILE", env = "ETL2PARQUET_EXPECT", hide_env = true)]
    pub expect: Vec<PathBuf>,
    /// One JSON document on standard output instead of a line per finding
    #[arg(long, env = "ETL2PARQUET_JSON", hide_env = true, value_parser = FalseyValueParser::new())]
    pub json: bool,
    #[command(flatten)]
    pub run: RunArgs,
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
pub(super) struct ViewsArgs {
    /// A folder with traces, or a trace (trace=NAME)
    #[arg(value_name = "OUT")]
    pub traces: PathBuf,
    /// Views to print, with those that they need, such as cpu_samples, Kernel-Process or Kernel-Process/Process/Start; where
    /// none is named all but those of single events
    #[arg(value_name = "VIEW")]
    pub views: Vec<String>,
    /// Those of single events, too: a view for each event of each dataset, most of what is there to print and to load
    #[arg(long, env = "ETL2PARQUET_SINGLE_EVENTS", hide_env = true, value_parser = FalseyValueParser::new())]
    pub single_events: bool,
    /// File that gets the script, or - for standard output, which gets it unless it is a terminal
    #[arg(short = 'o', long, value_name = "FILE", env = "ETL2PARQUET_SCRIPT", hide_env = true)]
    pub script: Option<PathBuf>,
    /// For Spark SQL instead of DuckDB
    #[arg(long, env = "ETL2PARQUET_SPARK", hide_env = true, value_parser = FalseyValueParser::new())]
    pub spark: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// A trace, converted (trace=NAME, or a folder with such) or not, an archive or a folder with traces; those that are not are
    /// converted into a temporary folder beside the page, which is removed afterwards
    #[arg(value_name = "TRACE", required = true)]
    pub inputs: Vec<OsString>,
    /// File that gets the page, HTML that asks no network for anything, or - for standard output; of several traces a folder,
    /// which gets a page for each and index.html
    #[arg(short, long, value_name = "FILE|DIR", env = "ETL2PARQUET_OUTPUT", hide_env = true)]
    pub output: PathBuf,
    /// Open the page in the browser
    #[arg(long, env = "ETL2PARQUET_OPEN", hide_env = true, value_parser = FalseyValueParser::new())]
    pub open: bool,
    #[command(flatten)]
    pub clock: ClockArgs,
    #[command(flatten)]
    pub schemas: SchemaArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub spool: SpoolArgs,
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
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_option_has_its_environment_variable() {
        let command = Cli::command();
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
        assert_eq!(options, 176);
    }

    /// Each option of each command with its words and default: its name is also the key of `--config`, and with
    /// `ETL2PARQUET_` in front that of its environment variable.
    #[test]
    fn options_stay_as_they_are() {
        let mut lines = Vec::new();
        let mut commands = vec![(String::new(), Cli::command())];
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

    #[test]
    fn defaults_are_those_of_the_contract() {
        let cli = Cli::try_parse_from(["etl2parquet", "convert", "a.etl", "-o", "out"]).unwrap();
        let Command::Convert(args) = cli.command else { panic!("expected convert") };
        let args = args.job;
        assert_eq!(args.output.name_from, NameFrom::Stem);
        assert_eq!(args.output.if_exists, IfExists::Error);
        assert_eq!(args.columns.layout, DatasetSplit::Provider);
        assert_eq!(args.columns.columns, Columns::Present);
        assert_eq!(args.columns.raw, RawPolicy::Needed);
        assert_eq!(args.columns.stacks, StackPolicy::Join);
        assert_eq!(args.files.compression.to_string(), "zstd(3)");
        assert_eq!((args.files.row_group_rows, args.files.max_file_size), (1_048_576, 512 << 20));
        assert_eq!(args.checks.on_bad_input, OnBadInput::Quarantine);
        assert!(args.checks.fail_on.is_empty() && args.checks.max_loss.is_none());
    }

    #[test]
    fn fail_on_takes_several() {
        let line = ["etl2parquet", "convert", "a.etl", "-o", "out", "--fail-on", "loss,damage", "--max-loss", "0.5%"];
        let Command::Convert(args) = Cli::try_parse_from(line).unwrap().command else { panic!("expected convert") };
        let args = args.job;
        assert_eq!(args.checks.fail_on, [FailOn::Loss, FailOn::Damage]);
        assert_eq!(args.checks.max_loss, Some(MaxLoss::Percent(0.5)));
    }
}
