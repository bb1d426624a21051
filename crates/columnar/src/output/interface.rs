//! What an output has to do for a trace to be written to it: a local folder does it, an object store can.
//!
//! Nothing is seen of a trace until it is published. Until then a file has two names: its path in the trace, and the
//! attempt that wrote it, a random word of one process. So several processes can convert parts of one trace, even the same
//! part, and whoever publishes says whose files count.

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::error::Result;
use base::progress::Progress;
use base::words;
use serde::{Deserialize, Serialize};

use super::errors::output_error;
use super::store::Store;

/// Where the files of one trace are written. Calls may come from any thread.
pub trait Output: Send + Sync + Debug {
    /// The word that distinguishes the files of this process from those of others.
    fn attempt(&self) -> &str;

    /// The folder of a trace that its files lie in, beside its manifest, where that is another one than the trace's own.
    fn data_folder(&self) -> Option<&str> {
        None
    }

    /// Begins a file of this attempt, given its `/`-separated path in the trace.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when this attempt has one already, or it cannot be made.
    fn create(&self, path: &str) -> Result<Box<dyn OutputFile>>;

    /// Some bytes of a file, whoever wrote it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the file is not there or ends before.
    fn read(&self, file: &StagedName, range: Range<u64>) -> Result<Vec<u8>>;

    /// All files, of every attempt, sorted.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when they cannot be listed.
    fn list(&self) -> Result<Vec<StagedFile>>;

    /// Removes a file, if it is there.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when it cannot be removed.
    fn remove(&self, file: &StagedName) -> Result<()>;

    /// Publishes the trace with these files and no others, in one step. Can be repeated after it was interrupted. It waits
    /// for disks more than it computes: it is called by a thread that others need not wait for, never by one of the pool.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when one of the files is missing, when the trace is there already
    /// and `if_exists` does not allow to replace it, or when the system refuses;
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop. Then nothing has changed,
    /// but where the message says that the trace is in its place.
    fn publish(&self, files: &[StagedName], if_exists: IfExists, progress: &dyn Progress) -> Result<Published>;

    /// The name of a file of this attempt.
    fn own(&self, path: &str) -> StagedName {
        StagedName { path: path.to_owned(), attempt: self.attempt().to_owned() }
    }

    /// Writes a whole small file, such as the manifest.
    ///
    /// # Errors
    /// As [`Output::create`].
    fn write(&self, path: &str, content: &[u8]) -> Result<StagedName> {
        let mut file = self.create(path)?;
        let location = file.location().to_owned();
        let written = file.append(content).and_then(|()| file.close());
        written.map_err(|cause| output_error("write", &location, cause))?;
        Ok(self.own(path))
    }
}

/// Where a plan and the trace that it becomes are written: the files of the plan lie beside those of the trace, and go when it is
/// published.
pub trait PlanOutput: Output {
    /// The files of the plan.
    fn files(&self) -> &dyn Store;

    /// As [`Store::put_first`], of a file that names those of the trace that this process has written: they are where they
    /// last before it is there, and stay where it is.
    ///
    /// # Errors
    /// Those of [`Store::put_first`]; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to
    /// stop, or the plan has been abandoned.
    fn vouch_first(&self, path: &str, content: &[u8], progress: &dyn Progress) -> Result<bool>;

    /// What this process has written stays when it ends.
    fn keep(&self);
}

/// A file that grows at its end.
pub trait OutputFile: Send + Debug {
    /// Where it is, for messages.
    fn location(&self) -> &Path;

    /// Writes behind what is there.
    ///
    /// # Errors
    /// Those of the system.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Nothing comes for a while: a descriptor can be given back. A thousand files grow at a time.
    fn release(&mut self);

    /// The file is whole.
    ///
    /// # Errors
    /// Those of the system.
    fn close(self: Box<Self>) -> io::Result<()>;
}

/// What a file is found by before it is published.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StagedName {
    /// The path in the trace, `/`-separated.
    pub path: String,
    /// Who wrote it.
    pub attempt: String,
}

/// A file that is not published yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagedFile {
    /// The path in the trace, `/`-separated.
    pub path: String,
    /// Who wrote it; `None` where an interrupted publication has taken it already.
    pub attempt: Option<String>,
    /// Its length.
    pub bytes: u64,
}

/// What to do about a trace that is there already (`--if-exists`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IfExists {
    /// Refuse.
    #[default]
    Error,
    /// Leave it if it is what this run would write, else refuse.
    Skip,
    /// Put the new one in its place.
    Replace,
    /// Leave it if it is what this run would write, as far as that shows without reading the input; else put the new one
    /// in its place.
    Update,
}

words! { IfExists {
    Error = "error": "Refuse",
    Skip = "skip": "Leave it if it has the same input and options, else refuse",
    Replace = "replace": "Put the new one in its place, in one step",
    Update = "update": "Leave it if its input, the options and the version are the same, else replace it",
} }

impl IfExists {
    /// Whether a trace that is there may go.
    pub fn replaces(self) -> bool {
        matches!(self, IfExists::Replace | IfExists::Update)
    }
}

/// A trace in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its folder.
    pub folder: PathBuf,
    /// What is not as it should be beside it.
    pub warnings: Vec<String>,
}
