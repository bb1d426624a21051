//! What a run says while it goes on: one thing at a time, with its parts, for whoever shows or records it.

use std::error::Error as _;
use std::fmt::Display;

use base::error::{Error, Location};
use serde::Serialize;

/// How grave a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Something failed.
    Error,
    /// Something may be missing, or is not as asked for.
    Warning,
    /// Something went well.
    Info,
}

/// One thing to say.
#[derive(Clone, Debug)]
pub struct Notice {
    /// How grave it is.
    pub level: Level,
    /// All of it, for people.
    pub text: String,
    /// The same without what stands in the fields below.
    pub message: Option<String>,
    /// What it is, as a word that stays.
    pub code: Option<&'static str>,
    /// What the user can do.
    pub hint: Option<String>,
    /// The trace that it is about.
    pub trace: Option<String>,
    /// What became of that trace.
    pub status: Option<&'static str>,
    /// Where it is.
    pub location: Location,
    /// Whether its line is as wide as it is meant to be.
    pub is_laid_out: bool,
}

impl Notice {
    fn new(level: Level, text: impl Display) -> Self {
        let (text, location) = (text.to_string(), Location::default());
        Notice {
            level,
            text,
            message: None,
            code: None,
            hint: None,
            trace: None,
            status: None,
            location,
            is_laid_out: false,
        }
    }

    /// A failure.
    pub fn error(text: impl Display) -> Self {
        Notice::new(Level::Error, text)
    }

    /// A failure whose parts are known.
    pub fn of(error: &Error) -> Self {
        let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
        Notice {
            message: Some(format!("{}{cause}", error.message())),
            code: Some(error.code().as_str()),
            hint: error.hint().map(str::to_owned),
            location: error.location().clone(),
            ..Notice::error(error)
        }
    }

    /// Something may be missing, or is not as asked for.
    pub fn warning(text: impl Display) -> Self {
        Notice::new(Level::Warning, text)
    }

    /// Something that went well.
    pub fn info(text: impl Display) -> Self {
        Notice::new(Level::Info, text)
    }

    /// A line of a page, which stays as it is.
    pub fn laid_out(line: &str) -> Self {
        Notice { is_laid_out: true, ..Notice::info(line) }
    }

    /// What machines get in the place of the whole text, where the rest stands in fields.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Notice { message: Some(message.into()), ..self }
    }

    /// A word that stays.
    #[must_use]
    pub fn with_code(self, code: &'static str) -> Self {
        Notice { code: Some(code), ..self }
    }

    /// What the user can do.
    #[must_use]
    pub fn with_hint(self, hint: Option<String>) -> Self {
        Notice { hint, ..self }
    }

    /// The trace that this is about.
    #[must_use]
    pub fn with_trace(self, name: Option<&str>) -> Self {
        Notice { trace: name.map(str::to_owned), ..self }
    }

    /// What became of that trace.
    #[must_use]
    pub fn with_status(self, status: &'static str) -> Self {
        Notice { status: Some(status), ..self }
    }

    /// Where it is.
    #[must_use]
    pub fn with_location(self, location: Location) -> Self {
        Notice { location, ..self }
    }
}
