//! What the user chose, and what holds where nothing is chosen.

use std::path::PathBuf;
use std::sync::Arc;

use base::clock::ClockAnchor;
use base::error::{Error, ErrorKind, Result};
use base::resources::{MIN_MEMORY, default_memory, default_threads};
use columnar::columns::TypeOptions;
use columnar::dataset::properties::{Compression, EncoderKind};
use columnar::output::IfExists;
use etl::input::OpenOptions;
use schema::load::SchemaSet;
use schema::lock::SchemaLock;
use schema::user::UserSchemas;
use serde::{Deserialize, Serialize};

use super::checks::Checks;
use super::policies::{MessagePolicy, RawPolicy, StackPolicy, ViewScripts};
use crate::plan::{DatasetSplit, Filter};

/// Where a schema lock comes from, which says what becomes of names that it does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockFrom {
    /// It was given: traces say what it lacks, as an issue.
    #[default]
    Given,
    /// It lies in the output folder, and gains what it lacks.
    Folder,
}

/// How a recording is converted. [`ConvertOptions::new`] gives what the command line does by default.
///
/// ```
/// use columnar::output::IfExists;
/// use etl2parquet_conversion::convert::ConvertOptions;
///
/// let options = ConvertOptions::new("out").if_exists(IfExists::Replace).threads(2);
/// assert_eq!(options.row_group_rows, ConvertOptions::DEFAULT_ROW_GROUP_ROWS);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each option stands for itself")]
pub struct ConvertOptions {
    /// Folder that holds (or will hold) `trace=<name>`.
    pub out: PathBuf,
    /// What to do when the trace is there already. Default: it is an error.
    pub if_exists: IfExists,
    /// Whether an update compares the content of inputs, not the time when they were written. Default: no.
    pub rehash: bool,
    /// Column types. Default: numbers in portable types, GUIDs as text, times in microseconds.
    pub types: TypeOptions,
    /// What the clock hangs on. Default: the start of the session.
    pub anchor: ClockAnchor,
    /// When raw payloads are written. Default: where the columns do not represent all of them.
    pub raw: RawPolicy,
    /// Whether kernel events have the stacks that other events record. Default: they do.
    pub stacks: StackPolicy,
    /// Whether rows say in words what their event does. Default: they do not.
    pub messages: MessagePolicy,
    /// The language of message templates (`de-DE`), where a manifest has them in it. Default: American English, else the first of
    /// the manifest. Files of the user are read in a language by [`load_in`](schema::load::load_in).
    pub language: Option<String>,
    /// For which engines the trace has a script of its views. Default: for none.
    pub views: ViewScripts,
    /// Whether tables have every declared column. Default: those of the events present.
    pub all_columns: bool,
    /// How many datasets a provider's events become. Default: one.
    pub layout: DatasetSplit,
    /// Descriptions of payloads given by the user. Default: none.
    pub schemas: Arc<UserSchemas>,
    /// What those files hold, as a hash.
    pub schemas_hash: Option<String>,
    /// Where the lock among the schemas comes from. Default: it was given.
    pub lock_from: LockFrom,
    /// Which events become rows. Default: all.
    pub filter: Filter,
    /// The codec of every page. Default: Zstandard.
    pub compression: Compression,
    /// Rows at which a row group is closed. Default: [`ConvertOptions::DEFAULT_ROW_GROUP_ROWS`].
    pub row_group_rows: u32,
    /// Bytes at which a part file is closed. Default: [`ConvertOptions::DEFAULT_MAX_FILE_SIZE`].
    pub max_file_size: u64,
    /// Whether files of one recording may hold the same bytes. Default: no.
    pub allow_repeated: bool,
    /// Conditions of publishing. Default: none.
    pub checks: Checks,
    /// Threads. Default: as many as this process may use.
    pub threads: usize,
    /// Budget in bytes for what is in memory. Default: by threads and the memory of this machine.
    pub memory: u64,
    /// Whether to stop before anything is written. Default: no.
    pub dry_run: bool,
    /// What the caller calls the run; recorded under `run`. Default: nothing.
    pub run_id: Option<String>,
    /// Options of the caller's own, by name, which are recorded beside these under `run`. Default: none.
    pub recorded: serde_json::Map<String, serde_json::Value>,
    /// How members of containers are had. Default: unpacked beside the output.
    pub open: OpenOptions,
    /// Event bytes of a partition; `None` for what suits the recording. For tests.
    #[doc(hidden)]
    pub partition_bytes: Option<u64>,
    /// Who encodes columns. For tests: the bytes are the same.
    #[doc(hidden)]
    pub encoder: EncoderKind,
}

impl ConvertOptions {
    /// Rows at which a row group is closed.
    pub const DEFAULT_ROW_GROUP_ROWS: u32 = 1 << 20;

    /// Bytes at which a part file is closed.
    pub const DEFAULT_MAX_FILE_SIZE: u64 = 512 << 20;

    /// The smallest budget in bytes: open row groups alone may take half of it.
    pub const MIN_MEMORY: u64 = MIN_MEMORY;

    /// The defaults, for output into a folder that holds (or will hold) `trace=<name>`.
    pub fn new(out: impl Into<PathBuf>) -> ConvertOptions {
        let threads = default_threads();
        ConvertOptions {
            out: out.into(),
            if_exists: IfExists::default(),
            rehash: false,
            types: TypeOptions::default(),
            anchor: ClockAnchor::default(),
            raw: RawPolicy::default(),
            stacks: StackPolicy::default(),
            messages: MessagePolicy::default(),
            language: None,
            views: ViewScripts::default(),
            all_columns: false,
            layout: DatasetSplit::default(),
            schemas: Arc::default(),
            schemas_hash: None,
            lock_from: LockFrom::default(),
            filter: Filter::default(),
            compression: Compression::default(),
            row_group_rows: ConvertOptions::DEFAULT_ROW_GROUP_ROWS,
            max_file_size: ConvertOptions::DEFAULT_MAX_FILE_SIZE,
            allow_repeated: false,
            checks: Checks::default(),
            threads,
            memory: default_memory(threads),
            dry_run: false,
            run_id: None,
            recorded: serde_json::Map::new(),
            open: OpenOptions::default(),
            partition_bytes: None,
            encoder: EncoderKind::default(),
        }
    }

    /// Describes payloads by files of the user; see [`load`](schema::load::load).
    #[must_use]
    pub fn schemas(self, loaded: SchemaSet) -> Self {
        let (schemas_hash, lock) = (loaded.hash(), self.schemas.lock.clone());
        let mut schemas = loaded.schemas;
        schemas.lock = lock;
        ConvertOptions { schemas: Arc::new(schemas), schemas_hash, ..self }
    }

    /// Names columns and events of providers that describe themselves as a lock says.
    #[must_use]
    pub fn schema_lock(self, lock: SchemaLock) -> Self {
        let mut schemas = UserSchemas::clone(&self.schemas);
        schemas.lock = Some(Arc::new(lock));
        ConvertOptions { schemas: Arc::new(schemas), lock_from: LockFrom::Given, ..self }
    }

    /// The same with the lock of the output folder. Who converts adds to it what traces use, when the last one is published:
    /// [`lock_file::extend`](crate::commit::lock_file::extend).
    #[must_use]
    pub fn folder_lock(self, lock: SchemaLock) -> Self {
        ConvertOptions { lock_from: LockFrom::Folder, ..self.schema_lock(lock) }
    }

    /// Where the lock in use comes from; `None` without one.
    pub fn lock_in_use(&self) -> Option<LockFrom> {
        self.schemas.lock.as_ref().map(|_| self.lock_from)
    }

    /// Whether traces say which names their lock does not have: names that it gains need not be listed, unless they keep a
    /// trace from being published.
    pub fn reports_new_names(&self) -> bool {
        self.lock_from == LockFrom::Given || self.checks.new_names
    }

    /// Whether an update compares the content of inputs, not the time when they were written.
    #[must_use]
    pub fn rehash(self, rehash: bool) -> Self {
        ConvertOptions { rehash, ..self }
    }

    /// What to do when the trace is there already.
    #[must_use]
    pub fn if_exists(self, if_exists: IfExists) -> Self {
        ConvertOptions { if_exists, ..self }
    }

    /// Chooses column types.
    #[must_use]
    pub fn types(self, types: TypeOptions) -> Self {
        ConvertOptions { types, ..self }
    }

    /// Chooses what the clock hangs on.
    #[must_use]
    pub fn anchor(self, anchor: ClockAnchor) -> Self {
        ConvertOptions { anchor, ..self }
    }

    /// Chooses when raw payloads are written.
    #[must_use]
    pub fn raw(self, raw: RawPolicy) -> Self {
        ConvertOptions { raw, ..self }
    }

    /// Chooses whether kernel events have the stacks that other events record.
    #[must_use]
    pub fn stacks(self, stacks: StackPolicy) -> Self {
        ConvertOptions { stacks, ..self }
    }

    /// Chooses whether rows say in words what their event does.
    #[must_use]
    pub fn messages(self, messages: MessagePolicy) -> Self {
        ConvertOptions { messages, ..self }
    }

    /// Chooses the language of message templates.
    #[must_use]
    pub fn language(self, language: Option<String>) -> Self {
        ConvertOptions { language, ..self }
    }

    /// Chooses for which engines the trace has a script of its views.
    #[must_use]
    pub fn views(self, views: ViewScripts) -> Self {
        ConvertOptions { views, ..self }
    }

    /// Gives tables every declared column, not only those of the events present.
    #[must_use]
    pub fn all_columns(self, all_columns: bool) -> Self {
        ConvertOptions { all_columns, ..self }
    }

    /// Chooses how many datasets the events of a provider become.
    #[must_use]
    pub fn layout(self, layout: DatasetSplit) -> Self {
        ConvertOptions { layout, ..self }
    }

    /// Chooses which events become rows.
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        ConvertOptions { filter, ..self }
    }

    /// Chooses the codec of every page.
    #[must_use]
    pub fn compression(self, compression: Compression) -> Self {
        ConvertOptions { compression, ..self }
    }

    /// Closes row groups at this number of rows.
    #[must_use]
    pub fn row_group_rows(self, row_group_rows: u32) -> Self {
        ConvertOptions { row_group_rows, ..self }
    }

    /// Closes part files at this number of bytes.
    #[must_use]
    pub fn max_file_size(self, max_file_size: u64) -> Self {
        ConvertOptions { max_file_size, ..self }
    }

    /// Lets files of one recording hold the same bytes.
    #[must_use]
    pub fn allow_repeated(self, allow_repeated: bool) -> Self {
        ConvertOptions { allow_repeated, ..self }
    }

    /// Keeps a trace from being published that does not meet conditions.
    #[must_use]
    pub fn checks(self, checks: Checks) -> Self {
        ConvertOptions { checks, ..self }
    }

    /// Uses so many threads.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        ConvertOptions { threads, ..self }
    }

    /// Keeps within a budget of so many bytes, [`ConvertOptions::MIN_MEMORY`] at least.
    #[must_use]
    pub fn memory(self, memory: u64) -> Self {
        ConvertOptions { memory: memory.max(MIN_MEMORY), ..self }
    }

    /// Calls the run by a name of the caller's.
    #[must_use]
    pub fn run_id(self, run_id: Option<String>) -> Self {
        ConvertOptions { run_id, ..self }
    }

    /// Stops before anything is written.
    #[must_use]
    pub fn dry_run(self, dry_run: bool) -> Self {
        ConvertOptions { dry_run, ..self }
    }

    /// Refuses options that exclude each other.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`].
    pub fn check(&self) -> Result<()> {
        if self.rehash && self.if_exists != IfExists::Update {
            return Err(Error::new(ErrorKind::Usage, "--rehash says how --if-exists update compares, and needs it"));
        }
        match self.filter.from.zip(self.filter.to) {
            Some((from, to)) if from.is_not_before(to) => {
                let message = format!("there is no time between --from {from} and --to {to}");
                Err(Error::new(ErrorKind::Usage, message))
            }
            _ => Ok(()),
        }
    }
}

/// The defaults, for output into the folder that the process is in.
impl Default for ConvertOptions {
    fn default() -> Self {
        ConvertOptions::new("")
    }
}
