//! What goes to standard error: lines for people, or JSON objects, one per line, for machines.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::time::SystemTime;

use base::calendar::rfc3339_of;
use base::error::{Error, Location};
use base::readable::printable::printable;
use clap::builder::styling::AnsiColor;
use serde::Serialize;

use super::choices::LogFormat;
use super::fold::{Width, wrapped};

/// That of the process: whatever is written to standard error must have it.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Settles how lines are written; the first one to say so decides.
pub(super) fn set_format(format: LogFormat) {
    let format = FORMAT.get_or_init(|| format);
    if *format == LogFormat::Json {
        // What the program says when it stops itself is a line, too.
        std::panic::set_hook(Box::new(|panic| Entry::error(panic).write()));
    }
}

/// Whether lines are for machines.
pub(super) fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// How grave an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    Error,
    Warning,
    Info,
}

/// One thing to say.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    level: Level,
    /// All of it, for people.
    text: String,
    /// The same without what stands in the fields below.
    message: Option<String>,
    code: Option<&'static str>,
    hint: Option<String>,
    trace: Option<String>,
    status: Option<&'static str>,
    location: Location,
    /// Whether its line is as wide as it is meant to be.
    is_laid_out: bool,
}

/// An entry as it is written.
#[derive(Serialize)]
struct Line<'a> {
    timestamp: String,
    level: Level,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
}

impl Entry {
    fn new(level: Level, text: impl Display) -> Self {
        let (text, location) = (text.to_string(), Location::default());
        Entry {
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
    pub(super) fn error(text: impl Display) -> Self {
        Entry::new(Level::Error, text)
    }

    /// A failure whose parts are known.
    pub(super) fn of(error: &Error) -> Self {
        let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
        Entry {
            message: Some(format!("{}{cause}", error.message())),
            code: Some(error.code().as_str()),
            hint: error.hint().map(str::to_owned),
            location: error.location().clone(),
            ..Entry::error(error)
        }
    }

    /// Something may be missing, or is not as asked for.
    pub(super) fn warning(text: impl Display) -> Self {
        Entry::new(Level::Warning, text)
    }

    /// Something that went well.
    pub(super) fn info(text: impl Display) -> Self {
        Entry::new(Level::Info, text)
    }

    /// A line of a page, which stays as it is.
    pub(super) fn laid_out(line: &str) -> Self {
        Entry { is_laid_out: true, ..Entry::info(line) }
    }

    /// What machines are told in the place of the whole text, where the rest stands in fields.
    pub(super) fn message(self, message: impl Into<String>) -> Self {
        Entry { message: Some(message.into()), ..self }
    }

    /// A word that stays.
    pub(super) fn code(self, code: &'static str) -> Self {
        Entry { code: Some(code), ..self }
    }

    /// What the user can do.
    pub(super) fn hint(self, hint: Option<String>) -> Self {
        Entry { hint, ..self }
    }

    /// The trace that this is about.
    pub(super) fn trace(self, name: Option<&str>) -> Self {
        Entry { trace: name.map(str::to_owned), ..self }
    }

    /// What became of that trace.
    pub(super) fn status(self, status: &'static str) -> Self {
        Entry { status: Some(status), ..self }
    }

    /// Where it is.
    pub(super) fn location(self, location: Location) -> Self {
        Entry { location, ..self }
    }

    /// Writes the line; that nobody listens is no failure.
    pub(super) fn write(&self) {
        let _ = if is_json() {
            writeln!(io::stderr().lock(), "{}", self.json(SystemTime::now()))
        } else {
            writeln!(anstream::stderr().lock(), "{}", self.line(Width::of_stderr()))
        };
    }

    /// All of it, for people, but how grave it is.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// With colours; that the text has none of its own is the work of [`printable`].
    fn line(&self, width: Width) -> String {
        let text = printable(&self.text);
        let lead = |color: AnsiColor, word: &str| {
            let style = color.on_default().bold();
            let line = wrapped(&format!("{word}: {text}"), width);
            line.trim_end().replacen(&format!("{word}:"), &format!("{style}{word}:{style:#}"), 1)
        };
        match self.level {
            Level::Error => lead(AnsiColor::Red, "error"),
            Level::Warning => lead(AnsiColor::Yellow, "warning"),
            Level::Info if self.is_laid_out => text.into_owned(),
            Level::Info => wrapped(&text, width).trim_end().to_owned(),
        }
    }

    /// JSON escapes what moves a cursor by itself; marks that turn text around are no danger to a machine, but to whoever reads
    /// the line.
    fn json(&self, now: SystemTime) -> String {
        let Location { file, buffer, offset } = &self.location;
        let line = Line {
            timestamp: rfc3339_of(now),
            level: self.level,
            message: printable(self.message.as_deref().unwrap_or(&self.text)),
            code: self.code,
            hint: self.hint.as_deref().map(printable),
            trace: self.trace.as_deref(),
            status: self.status,
            file: file.as_ref().map(|file| file.display().to_string()),
            buffer: *buffer,
            offset: *offset,
        };
        serde_json::to_string(&line).expect("numbers and texts are valid JSON")
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use base::error::ErrorKind;

    use super::*;

    fn at() -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(1_464_293_842_478)
    }

    #[test]
    fn an_error_is_told_in_parts() {
        let error = Error::new(ErrorKind::Input, "expected a header").in_file("a b.etl").in_buffer(3).at_offset(0x1000);
        let entry = Entry::of(&error.with_hint("look\nat it").caused_by("cut off")).trace(Some("a"));
        assert_eq!(
            entry.line(Width::UNBOUNDED),
            "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a b.etl, buffer 3, offset 0x1000: expected a header: cut off (look\u{fffd}at it)"
        );
        assert_eq!(
            entry.json(at()),
            "{\"timestamp\":\"2016-05-26T20:17:22.478000000Z\",\"level\":\"error\",\
             \"message\":\"expected a header: cut off\",\"code\":\"unreadable_input\",\"hint\":\"look\u{fffd}at it\",\
             \"trace\":\"a\",\"file\":\"a b.etl\",\"buffer\":3,\"offset\":4096}"
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let lead = "{\"timestamp\":\"2016-05-26T20:17:22.478000000Z\",\"level\":";
        assert_eq!(Entry::info("1 \"trace\"").json(at()), format!("{lead}\"info\",\"message\":\"1 \\\"trace\\\"\"}}"));
        let warning = Entry::warning("x: less").message("less").status("empty").code("wide_table");
        let rest = "\"warning\",\"message\":\"less\",\"code\":\"wide_table\",\"status\":\"empty\"}";
        assert_eq!(warning.json(at()), format!("{lead}{rest}"));
        assert_eq!(
            (warning.text(), Entry::info("x\u{1b}[0m").line(Width::UNBOUNDED)),
            ("x: less", "x\u{fffd}[0m".to_owned())
        );
    }
}
