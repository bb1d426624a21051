//! What can be typed about schemas. Doc comments are help texts, as in [`super::super::args`].

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use batch::schemas::SchemaChoice;
use clap::{Args, Subcommand};

use crate::cli::help::ENVIRONMENT;
use crate::cli::run_args::RunArgs;

/// Schemas beside those in the traces and in the program.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Schemas")]
pub(in crate::cli) struct SchemaArgs {
    /// Manifest, TMF file, MOF, PDB, binary, or folder with such files; repeatable, the first ranks highest [default: auto]
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

impl SchemaArgs {
    /// Which schemas are meant.
    pub(in crate::cli) fn choice(&self) -> SchemaChoice {
        let paths = separated(&self.schemas, env::var_os("ETL2PARQUET_SCHEMAS").as_deref());
        SchemaChoice { paths, store: self.store.store.clone(), no_store: self.no_store }
    }
}

/// The paths; those of the environment variable, which is one value to the parser, taken apart.
fn separated(typed: &[PathBuf], variable: Option<&OsStr>) -> Vec<PathBuf> {
    match (typed, variable) {
        ([only], Some(variable)) if only.as_os_str() == variable && !Path::new(variable).exists() => {
            env::split_paths(variable).filter(|path| !path.as_os_str().is_empty()).collect()
        }
        _ => typed.to_vec(),
    }
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
    /// Copy schema files into the schema store: manifests, TMF files, MOF, PDBs, binaries, documents of schema export
    #[command(after_help = ENVIRONMENT)]
    Import(ImportArgs),
    /// List the files of the schema store
    #[command(after_help = ENVIRONMENT)]
    Imports(ImportsArgs),
    /// Take files out of the schema store
    #[command(after_help = ENVIRONMENT)]
    Remove(RemoveArgs),
    /// Gather what traces say of their events into the schema store, for traces that do not
    #[command(after_help = ENVIRONMENT)]
    Harvest(HarvestArgs),
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
    /// Manifest, TMF file, MOF, PDB, Windows binary, archive or folder with such files, JSON document of schema export, or another
    /// schema store
    #[arg(value_name = "PATH", required_unless_present = "of")]
    pub paths: Vec<PathBuf>,
    /// Folder with traces, or a trace (trace=NAME): look for the formats of WPP messages that it lacks in the PDBs of the
    /// modules that it records; repeatable
    #[arg(long, value_name = "OUT")]
    pub of: Vec<PathBuf>,
    /// Folders and caches of symbol files with semicolons between, as debuggers write it: DIR, cache*DIR, srv*DIR*SERVER;
    /// without it that of _NT_SYMBOL_PATH. Servers are not asked
    #[arg(long, value_name = "PATH", requires = "of")]
    pub symbol_path: Option<OsString>,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportsArgs {
    /// A JSON document instead of a table
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveArgs {
    /// Name of a file as schema imports lists it, or pattern such as harvest/*; in any case
    #[arg(value_name = "ORIGIN", required = true)]
    pub origins: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HarvestArgs {
    /// Traces, as convert takes them, or folders with converted ones
    #[arg(value_name = "TRACE|OUT", required = true)]
    pub inputs: Vec<OsString>,
    #[command(flatten)]
    pub store: StoreArgs,
    #[command(flatten)]
    pub run: RunArgs,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_holds_several_paths() {
        let joined = env::join_paths(["none/a", "none/b"]).unwrap();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(separated(&[PathBuf::from(&joined)], Some(&joined)), paths(&["none/a", "none/b"]));
        assert_eq!(separated(&[PathBuf::from(&joined)], None), [PathBuf::from(&joined)]);
        assert_eq!(separated(&paths(&["x", "y"]), Some(&joined)), paths(&["x", "y"]));
        assert_eq!(separated(&[], Some(&joined)), paths(&[]));
    }
}
