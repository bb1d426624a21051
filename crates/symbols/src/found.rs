//! What becomes of a look-up, and why a PDB cannot be used.

use std::fmt;
use std::path::{Path, PathBuf};

/// What became of a look-up: anything but `Found` is a status of the file asked for, never a failure of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// It is there, and is what was asked for.
    Found(T),
    /// No element of the symbol path has a file of this name.
    NotFound,
    /// Nothing tells which file is meant.
    NoId,
    /// Files of this name are there, and none of them has the identity asked for.
    Mismatch {
        /// The first of them.
        path: PathBuf,
        /// Its identity, as folders of symbol stores are called.
        found: String,
    },
    /// A file of this name is damaged, or the system cannot read it.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of this name is of a kind that this program does not read.
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Of which kind.
        reason: String,
    },
}

impl<T> Found<T> {
    /// The status as a word for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Found::Found(_) => "found",
            Found::NotFound => "not_found",
            Found::NoId => "no_id",
            Found::Mismatch { .. } => "mismatch",
            Found::Unreadable { .. } => "unreadable",
            Found::Unsupported { .. } => "unsupported",
        }
    }

    /// What was found, if it was.
    pub fn found(self) -> Option<T> {
        match self {
            Found::Found(what) => Some(what),
            _ => None,
        }
    }

    /// The file that decided, where it is another than the one asked for.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Found::Mismatch { path, .. } | Found::Unreadable { path, .. } | Found::Unsupported { path, .. } => {
                Some(path)
            }
            Found::Found(_) | Found::NotFound | Found::NoId => None,
        }
    }

    /// What there is to say of a status besides its word and its file.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Found::Mismatch { found: text, .. }
            | Found::Unreadable { reason: text, .. }
            | Found::Unsupported { reason: text, .. } => Some(text),
            Found::Found(_) | Found::NotFound | Found::NoId => None,
        }
    }

    /// The status of a file that cannot be used.
    pub fn of(reason: Reason, path: &Path) -> Self {
        let path = path.to_owned();
        match reason {
            Reason::Unreadable(reason) => Found::Unreadable { path, reason },
            Reason::Unsupported(reason) => Found::Unsupported { path, reason },
        }
    }

    /// The more telling of two: what is found, else what tells most of the file asked for; of equals the first.
    pub(crate) fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    fn rank(&self) -> u8 {
        match self {
            Found::NotFound => 0,
            Found::NoId => 1,
            Found::Mismatch { .. } => 2,
            Found::Unreadable { .. } => 3,
            Found::Unsupported { .. } => 4,
            Found::Found(_) => 5,
        }
    }
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is damaged, is longer than there is memory for, or the system cannot read it.
    Unreadable(String),
    /// It is of a kind that this program does not read.
    Unsupported(String),
}

impl Reason {
    pub(crate) fn damaged(what: impl Into<String>) -> Reason {
        Reason::Unreadable(what.into())
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Reason {
        Reason::Unsupported(what.into())
    }
}

impl From<base::error::Error> for Reason {
    /// A file that cannot be read is a status; its name stands beside it.
    fn from(error: base::error::Error) -> Reason {
        let source = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Reason::Unreadable(format!("{}{source}", error.message()))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Reason::Unreadable(text) | Reason::Unsupported(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Reason {}

/// The result of reading a file that may be of no use.
pub type Readable<T> = std::result::Result<T, Reason>;
