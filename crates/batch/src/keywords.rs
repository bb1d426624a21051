//! Options as keyword arguments, for Python, Spark and SQL: by the tables of settings that the command line has its options from.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use base::error::{Error, ErrorKind, Result};
use base::resources::{default_threads, memory_budget};
use base::settings::{Setting, SettingGroup, Takes};
use base::sizes::parse_size;
use base::suggest::nearest;
use conversion::convert::{ConvertOptions, Recording, settings};
use conversion::plan::filter::Filter;

use super::observer::Observer;
use super::one::one_trace;
use super::options::{self as of_batch, BatchOptions, parse_run_id};
use super::schemas::{LoadedSchemas, SchemaChoice};

/// Arguments as a caller hands them over: their names with `_`, and each value as it would be typed. A flag has the value
/// `true`.
pub type Arguments = Vec<(String, OsString)>;

/// What besides the conversion itself is asked for.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Which schemas are used.
    pub schemas: SchemaChoice,
    /// Names that are settled.
    pub schema_lock: Option<PathBuf>,
    /// What the run is called.
    pub run_id: Option<String>,
    /// Whether nothing is written.
    pub dry_run: bool,
    threads: Option<usize>,
    memory: Option<u64>,
}

impl RunOptions {
    /// Threads that may be used.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(default_threads)
    }

    /// Memory that may be used, in bytes.
    pub fn memory(&self) -> u64 {
        memory_budget(self.memory, self.threads())
    }
}

type Row = Setting<RunOptions>;

/// Which schemas are used.
const SCHEMAS: SettingGroup<RunOptions> = SettingGroup {
    heading: "Schemas",
    settings: &[
        Row::path("schemas", "PATH", |options, path| options.schemas.paths.push(path))
            .repeated()
            .help("Manifests, TMF files, binaries, and folders or archives with such files; auto for what lies beside the traces, none for none"),
        Row::path("store", "DIR", |options, path| options.schemas.store = Some(path)).help("Folder of the schema store"),
        Row::flag("no-store", |options| options.schemas.no_store = true).help("Leave the schema store alone"),
    ],
};

/// How much of the machine is used.
const RUNNING: SettingGroup<RunOptions> = SettingGroup {
    heading: "Running",
    settings: &[
        Row::text("threads", "N", |options, text| {
            let threads = text.parse().ok().filter(|threads| (1..=1024).contains(threads));
            options.threads = Some(threads.ok_or("expected 1 to 1024 threads")?);
            Ok(())
        })
        .help("Threads; without it as many as this process may use"),
        Row::text("memory", "SIZE", |options, text| {
            options.memory = Some(parse_size(text)?);
            Ok(())
        })
        .help("Memory budget, in bytes or with a unit such as GiB; at least 384 MiB"),
    ],
};

/// What the run is called.
const NAMED: SettingGroup<RunOptions> = SettingGroup {
    heading: "Results",
    settings: &[Row::text("run-id", "TEXT", |options, text| {
        options.run_id = Some(parse_run_id(text)?);
        Ok(())
    })
    .help("Name of the run, recorded in manifests and in the summary")],
};

/// What concerns traces that are written.
const WRITING: SettingGroup<RunOptions> = SettingGroup {
    heading: "Results",
    settings: &[
        Row::path("schema-lock", "FILE", |options, path| options.schema_lock = Some(path))
            .help("Names that are settled; without it those of schema.lock in the output folder; none for no lock"),
        Row::flag("dry-run", |options| options.dry_run = true).help("Write nothing: say what would be written"),
    ],
};

/// Options of a trace that is opened.
const OF_TRACE: [SettingGroup<ConvertOptions>; 2] = [settings::COLUMNS, settings::SPOOL];
const OF_OPENING: [SettingGroup<RunOptions>; 2] = [SCHEMAS, RUNNING];
/// Those of a run, besides the options of its conversions.
const OF_RUN: [SettingGroup<RunOptions>; 4] = [SCHEMAS, RUNNING, NAMED, WRITING];
/// Those of a step.
const OF_STEP: [SettingGroup<RunOptions>; 2] = [RUNNING, NAMED];

/// Filters that choose datasets: of one that is chosen they ask nothing.
const OF_PROVIDER: [&str; 2] = ["provider", "exclude_provider"];

/// Options of one kind, taken from arguments that are left.
fn take<T>(groups: &[SettingGroup<T>], options: &mut T, arguments: &mut Arguments) -> Result<()> {
    let rows: Vec<(String, &Setting<T>)> =
        groups.iter().flat_map(|group| group.settings).map(|row| (keyword(row.name), row)).collect();
    for (name, value) in std::mem::take(arguments) {
        match rows.iter().find(|(keyword, _)| *keyword == name) {
            Some((_, row)) => {
                set(row, options, &value).map_err(|message| {
                    Error::new(ErrorKind::Usage, format!("{name}={}: {message}", value.display()))
                })?;
            }
            None => arguments.push((name, value)),
        }
    }
    Ok(())
}

/// The keyword of an option, with `_` for `-`. `from` is a word of Python, so that the bounds of time are `start` and `end`.
fn keyword(name: &str) -> String {
    match name {
        "from" => "start".to_owned(),
        "to" => "end".to_owned(),
        name => name.replace('-', "_"),
    }
}

fn set<T>(row: &Setting<T>, options: &mut T, value: &OsStr) -> std::result::Result<(), String> {
    let text = || value.to_str().ok_or_else(|| "expected text".to_owned());
    match row.takes {
        Takes::Nothing(set) => set(options),
        Takes::Path { set } => set(options, value.into()),
        Takes::Word { set, .. } | Takes::Text { set } if row.has_commas => {
            text()?.split(',').try_for_each(|part| set(options, part))?;
        }
        Takes::Word { set, .. } | Takes::Text { set } => set(options, text()?)?,
    }
    Ok(())
}

/// Refuses arguments that no option of a call has taken.
fn none_left(arguments: &Arguments, call: &str) -> Result<()> {
    let Some((name, _)) = arguments.first() else { return Ok(()) };
    let known = all().into_iter().filter(|option| option.call == call).map(|option| option.name).collect::<Vec<_>>();
    let near = nearest(name, known.iter().map(String::as_str));
    let hint = near.map_or_else(|| format!("there are {}", known.join(", ")), |near| format!("did you mean {near}?"));
    Err(Error::new(ErrorKind::Usage, format!("expected an option, found {name}")).with_hint(hint))
}

/// The options of a trace that is opened.
fn of_open(mut arguments: Arguments) -> Result<(ConvertOptions, RunOptions)> {
    let (mut options, mut run) = (ConvertOptions::default(), RunOptions::default());
    take(&OF_TRACE, &mut options, &mut arguments)?;
    take(&OF_OPENING, &mut run, &mut arguments)?;
    none_left(&arguments, "open")?;
    Ok((options.allow_repeated(true).threads(run.threads()).memory(run.memory()), run))
}

/// The one recording that an input leads to, and the options that these arguments have it opened with.
///
/// # Errors
/// Those of [`one_trace`]; [`ErrorKind::Usage`] for an argument that no option takes.
pub fn of_trace(input: OsString, arguments: Arguments, observer: &dyn Observer) -> Result<(Recording, ConvertOptions)> {
    let (options, run) = of_open(arguments)?;
    let schemas = LoadedSchemas::load(&run.schemas, options.language.as_deref(), observer)?;
    one_trace(input, schemas, options, observer)
}

/// Which schemas are meant.
pub fn of_schemas(mut arguments: Arguments) -> Result<SchemaChoice> {
    let mut run = RunOptions::default();
    take(&[SCHEMAS], &mut run, &mut arguments)?;
    none_left(&arguments, "schema")?;
    Ok(run.schemas)
}

/// The filter of rows.
pub fn of_rows(arguments: Arguments) -> Result<Filter> {
    let mut options = ConvertOptions::default();
    let (of_provider, mut of_rows): (Arguments, Arguments) =
        arguments.into_iter().partition(|(name, _)| OF_PROVIDER.contains(&name.as_str()));
    take(&[settings::FILTERS], &mut options, &mut of_rows)?;
    let arguments = [of_provider, of_rows].concat();
    none_left(&arguments, "rows")?;
    Ok(options.filter)
}

/// The options of a run.
pub fn of_run(mut arguments: Arguments) -> Result<(BatchOptions, RunOptions)> {
    let (mut options, mut run) = (BatchOptions::default(), RunOptions::default());
    take(&of_batch::ALL, &mut options, &mut arguments)?;
    take(&settings::ALL, &mut options.convert, &mut arguments)?;
    take(&OF_RUN, &mut run, &mut arguments)?;
    none_left(&arguments, "convert")?;
    Ok((options, run))
}

/// The options of a step: threads, memory, where members of archives are unpacked, the name of the run.
pub fn of_step(mut arguments: Arguments) -> Result<(ConvertOptions, RunOptions)> {
    let (mut options, mut run) = (ConvertOptions::default(), RunOptions::default());
    take(&[settings::SPOOL], &mut options, &mut arguments)?;
    take(&OF_STEP, &mut run, &mut arguments)?;
    none_left(&arguments, "step")?;
    Ok((options, run))
}

/// What is known of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// The call that it is of: `open`, `rows`, `schema`, `step` or `convert`.
    pub call: &'static str,
    /// Its name, with `_`.
    pub name: String,
    /// What it takes: `flag`, `path`, `text` or `word`.
    pub takes: &'static str,
    /// Its words, if it takes one of some.
    pub words: Vec<&'static str>,
    /// Whether it takes several values.
    pub is_list: bool,
    /// What it does.
    pub help: &'static str,
}

/// All options.
pub fn all() -> Vec<Keyword> {
    let mut all = Vec::new();
    describe("open", &OF_TRACE, &mut all);
    describe("open", &OF_OPENING, &mut all);
    describe("rows", &[settings::FILTERS], &mut all);
    all.retain(|option| !OF_PROVIDER.contains(&option.name.as_str()));
    describe("schema", &[SCHEMAS], &mut all);
    describe("step", &[settings::SPOOL], &mut all);
    describe("step", &OF_STEP, &mut all);
    describe("convert", &of_batch::ALL, &mut all);
    describe("convert", &settings::ALL, &mut all);
    describe("convert", &OF_RUN, &mut all);
    all
}

fn describe<T>(call: &'static str, groups: &[SettingGroup<T>], all: &mut Vec<Keyword>) {
    let rows = groups.iter().flat_map(|group| group.settings);
    all.extend(rows.filter(|row| !row.is_hidden).map(|row| {
        let (takes, words) = match row.takes {
            Takes::Nothing(_) => ("flag", Vec::new()),
            Takes::Path { .. } => ("path", Vec::new()),
            Takes::Text { .. } => ("text", Vec::new()),
            Takes::Word { words, .. } => ("word", words().into_iter().map(|(word, _)| word).collect()),
        };
        Keyword { call, name: keyword(row.name), takes, words, is_list: row.is_list, help: row.help }
    }));
}
