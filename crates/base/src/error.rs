//! What went wrong, where, and what the user can do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The family of a failure; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A bug, or an input that changed while it was read.
    Internal,
    /// The request itself makes no sense.
    Usage,
    /// An input cannot be read, or is no event trace.
    Input,
    /// The output cannot be written, or is there already.
    Output,
    /// The caller asked to stop.
    Interrupted,
}

/// What exactly went wrong: a word that stays the same while messages may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A condition that should never be; please report it.
    Bug,
    /// An input changed while it was read.
    InputChanged,
    /// The request makes no sense.
    Usage,
    /// Two inputs of a recording hold the same bytes.
    RepeatedInput,
    /// A file of schemas, or the store of them, cannot be used.
    UnusableSchema,
    /// An input cannot be read.
    UnreadableInput,
    /// A file is no event trace.
    NotATrace,
    /// An archive or a compressed file is damaged.
    DamagedContainer,
    /// An archive, a compressed file or a member of one is encrypted, packed in a way that is not read, or too large.
    UnreadableContainer,
    /// A stored plan or survey is damaged, or is of another version or input.
    UnusablePlan,
    /// The output cannot be written.
    UnwritableOutput,
    /// The output is there already.
    OutputExists,
    /// Another run is writing the same output.
    OutputLocked,
    /// The caller asked to stop.
    Interrupted,
}

impl ErrorCode {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::Bug => "bug",
            ErrorCode::InputChanged => "input_changed",
            ErrorCode::Usage => "usage",
            ErrorCode::RepeatedInput => "repeated_input",
            ErrorCode::UnusableSchema => "unusable_schema",
            ErrorCode::UnreadableInput => "unreadable_input",
            ErrorCode::NotATrace => "not_a_trace",
            ErrorCode::DamagedContainer => "damaged_container",
            ErrorCode::UnreadableContainer => "unreadable_container",
            ErrorCode::UnusablePlan => "unusable_plan",
            ErrorCode::UnwritableOutput => "unwritable_output",
            ErrorCode::OutputExists => "output_exists",
            ErrorCode::OutputLocked => "output_locked",
            ErrorCode::Interrupted => "interrupted",
        }
    }

    /// What a failure of a family is where nothing says it more exactly.
    fn of(kind: ErrorKind) -> ErrorCode {
        match kind {
            ErrorKind::Internal => ErrorCode::Bug,
            ErrorKind::Usage => ErrorCode::Usage,
            ErrorKind::Input => ErrorCode::UnreadableInput,
            ErrorKind::Output => ErrorCode::UnwritableOutput,
            ErrorKind::Interrupted => ErrorCode::Interrupted,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where in the input a failure or issue lies; every part is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: Option<PathBuf>,
    /// The buffer, counted from 0 in file order.
    pub buffer: Option<u64>,
    /// The offset in bytes from the start of the file (for a compressed buffer: of its header).
    pub offset: Option<u64>,
}

/// A failure: what was expected and found, where, and the way out.
///
/// One word wide, so that a `Result` costs nothing on the good path.
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    code: ErrorCode,
    message: String,
    location: Location,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A failure of the given family; `message` says what was expected and what was found.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            code: ErrorCode::of(kind),
            message: message.into(),
            location: Location::default(),
            hint: None,
            source: None,
        }))
    }

    /// A bug: something that no input and no failure of the system can bring about.
    pub fn bug(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Internal, message).with_hint("this is a bug: please report it")
    }

    /// Says more exactly what went wrong than the family does.
    #[must_use]
    pub fn with_code(mut self, code: ErrorCode) -> Self {
        self.0.code = code;
        self
    }

    /// Names the file.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.location.file = Some(path.as_ref().to_owned());
        self
    }

    /// Names the buffer, counted from 0 in file order.
    #[must_use]
    pub fn in_buffer(mut self, buffer: u64) -> Self {
        self.0.location.buffer = Some(buffer);
        self
    }

    /// Names the file offset in bytes.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.location.offset = Some(offset);
        self
    }

    /// Says what the user can do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Keeps the underlying cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The same failure, for somebody else who meets it; of its cause there is the text.
    #[must_use]
    pub fn again(&self) -> Self {
        let Inner { kind, code, message, location, hint, source } = &*self.0;
        let source = source.as_ref().map(|source| source.to_string().into());
        let (message, location, hint) = (message.clone(), location.clone(), hint.clone());
        Error(Box::new(Inner { kind: *kind, code: *code, message, location, hint, source }))
    }

    /// The family of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What exactly went wrong.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// What was expected and what was found, without place, cause and hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it happened.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            separator = ", ";
        }
        if let Some(buffer) = self.buffer {
            write!(f, "{separator}buffer {buffer}")?;
            separator = ", ";
        }
        if let Some(offset) = self.offset {
            write!(f, "{separator}offset {offset:#x}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, location, hint, source, .. } = &*self.0;
        if *location != Location::default() {
            write!(f, "{location}: ")?;
        }
        f.write_str(message)?;
        if let Some(source) = source {
            write!(f, ": {source}")?;
        }
        if let Some(hint) = hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_place_finding_cause_and_way_out() {
        let error = Error::new(ErrorKind::Input, "expected a buffer size of at least 72 bytes, found 3")
            .in_file("a.etl")
            .in_buffer(7)
            .at_offset(0x8000)
            .caused_by("short read")
            .with_hint("record the trace again");
        assert_eq!(
            error.to_string(),
            "a.etl, buffer 7, offset 0x8000: expected a buffer size of at least 72 bytes, found 3: short read (record the trace again)"
        );
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!((error.code(), error.hint()), (ErrorCode::UnreadableInput, Some("record the trace again")));
        assert_eq!(error.with_code(ErrorCode::NotATrace).code().to_string(), "not_a_trace");
    }

    #[test]
    fn a_bug_asks_for_a_report() {
        let error = Error::bug("a table is missing");
        assert_eq!((error.kind(), error.code()), (ErrorKind::Internal, ErrorCode::Bug));
        assert_eq!(error.to_string(), "a table is missing (this is a bug: please report it)");
    }
}
