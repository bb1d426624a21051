//! What can be typed about schemas. Doc comments are help texts, as in [`super::super::args`].

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::help::ENVIRONMENT;
use crate::cli::run_args::RunArgs;

/// Schemas beside those in the traces and in the program.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Schemas")]
pub(in crate::cli) struct SchemaArgs {
    /// Manifest, TMF file, or folder with such files below it; repeatable, the first ranks highest [default: auto]
    ///
    /// auto stands for files called .man and .tmf in the folders that are searched for traces, behind all others; none for no
    /// file. The environment variable holds several as PATH does. Files called auto or none are ./auto and ./none.
    #[arg(long, value_name = "PATH|auto|none")]
    pub schemas: Vec<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
    /// Leave the schema store alone
    #[arg(long)]
    pub no_store: bool,
}

/// Where the schema store is.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Schemas")]
pub(in crate::cli) struct StoreArgs {
    /// Folder of the schema store, used behind --schemas
    ///
    /// [default: etl2parquet/schemas in $XDG_DATA_HOME or ~/.local/share, on Windows in %APPDATA%]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SchemaCommand {
    /// List the providers whose events are known
    #[command(after_help = ENVIRONMENT)]
    List(ListArgs),
    /// Show what is known of a provider, or the layouts and columns of one of its events
    #[command(after_help = ENVIRONMENT)]
    Show(ShowArgs),
    /// Copy manifests and TMF files into the schema store
    #[command(after_help = ENVIRONMENT)]
    Import(ImportArgs),
    /// Settle the names that converted traces use, for --schema-lock
    #[command(after_help = ENVIRONMENT)]
    Lock(LockArgs),
    /// Write what the store and --schemas declare as JSON
    #[command(after_help = ENVIRONMENT)]
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// Only providers of this name, GUID or pattern such as Microsoft-Windows-Kernel-*; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub provider: Vec<String>,
    /// A JSON document instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub schemas: SchemaArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    /// Name, GUID or pattern; Kernel-Process and the like for kernel events, the message GUID for WPP
    #[arg(value_name = "PROVIDER")]
    pub provider: String,
    /// Id or name of an event; of kernel events the opcode, of WPP messages the number
    #[arg(value_name = "EVENT")]
    pub event: Option<String>,
    /// A JSON document instead of a page
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub schemas: SchemaArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// Manifest, TMF file, or folder with such files below it
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LockArgs {
    /// A folder with traces, or a trace (trace=NAME)
    #[arg(value_name = "OUT", required = true)]
    pub outputs: Vec<PathBuf>,
    /// Where to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

/// Names that are settled.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Schemas")]
pub(in crate::cli) struct UseLockArgs {
    /// Names of columns and events of providers that describe themselves, as `schema lock` wrote them; none for no lock
    /// [default: schema.lock in the output folder, where there is one; it gains the names that it does not have]
    #[arg(long, value_name = "FILE")]
    pub schema_lock: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// Only providers of this name, GUID or pattern
    #[arg(value_name = "PROVIDER")]
    pub provider: Option<String>,
    /// Where to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// The built-in schemas too
    #[arg(long)]
    pub built_in: bool,
    #[command(flatten)]
    pub schemas: SchemaArgs,
}
