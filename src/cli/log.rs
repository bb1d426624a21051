//! What goes to standard error: lines for people, or JSON objects, one per line, for machines.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::time::SystemTime;

use base::calendar::rfc3339_of;
use base::error::Location;
use base::readable::printable::printable;
use batch::notice::{Level, Notice};
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
        std::panic::set_hook(Box::new(|panic| write(&Notice::error(panic))));
    }
}

/// Whether lines are for machines.
pub(super) fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// A notice as it is written.
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

/// Writes the line; that nobody listens is no failure.
pub(super) fn write(notice: &Notice) {
    let _ = if is_json() {
        writeln!(io::stderr().lock(), "{}", json(notice, SystemTime::now()))
    } else {
        writeln!(anstream::stderr().lock(), "{}", line(notice, Width::of_stderr()))
    };
}

/// With colours; that the text has none of its own is the work of [`printable`].
fn line(notice: &Notice, width: Width) -> String {
    let text = printable(&notice.text);
    let lead = |color: AnsiColor, word: &str| {
        let style = color.on_default().bold();
        let line = wrapped(&format!("{word}: {text}"), width);
        line.trim_end().replacen(&format!("{word}:"), &format!("{style}{word}:{style:#}"), 1)
    };
    match notice.level {
        Level::Error => lead(AnsiColor::Red, "error"),
        Level::Warning => lead(AnsiColor::Yellow, "warning"),
        Level::Info if notice.is_laid_out => text.into_owned(),
        Level::Info => wrapped(&text, width).trim_end().to_owned(),
    }
}

/// JSON escapes what moves a cursor by itself; marks that turn text around are no danger to a machine, but to whoever reads
/// the line.
fn json(notice: &Notice, now: SystemTime) -> String {
    let Location { file, buffer, offset } = &notice.location;
    let line = Line {
        timestamp: rfc3339_of(now),
        level: notice.level,
        message: printable(notice.message.as_deref().unwrap_or(&notice.text)),
        code: notice.code,
        hint: notice.hint.as_deref().map(printable),
        trace: notice.trace.as_deref(),
        status: notice.status,
        file: file.as_ref().map(|file| file.display().to_string()),
        buffer: *buffer,
        offset: *offset,
    };
    serde_json::to_string(&line).expect("numbers and texts are valid JSON")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use base::error::{Error, ErrorKind};

    use super::*;

    fn at() -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(1_464_293_842_478)
    }

    #[test]
    fn an_error_is_logged_in_parts() {
        let error = Error::new(ErrorKind::Input, "expected a header").in_file("a b.etl").in_buffer(3).at_offset(0x1000);
        let notice = Notice::of(&error.with_hint("look\nat it").caused_by("cut off")).with_trace(Some("a"));
        assert_eq!(
            line(&notice, Width::UNBOUNDED),
            "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a b.etl, buffer 3, offset 0x1000: expected a header: cut off (look\u{fffd}at it)"
        );
        assert_eq!(
            json(&notice, at()),
            "{\"timestamp\":\"2016-05-26T20:17:22.478000000Z\",\"level\":\"error\",\
             \"message\":\"expected a header: cut off\",\"code\":\"unreadable_input\",\"hint\":\"look\u{fffd}at it\",\
             \"trace\":\"a\",\"file\":\"a b.etl\",\"buffer\":3,\"offset\":4096}"
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let lead = "{\"timestamp\":\"2016-05-26T20:17:22.478000000Z\",\"level\":";
        assert_eq!(
            json(&Notice::info("1 \"trace\""), at()),
            format!("{lead}\"info\",\"message\":\"1 \\\"trace\\\"\"}}")
        );
        let warning = Notice::warning("x: less").with_message("less").with_status("empty").with_code("wide_table");
        let rest = "\"warning\",\"message\":\"less\",\"code\":\"wide_table\",\"status\":\"empty\"}";
        assert_eq!(json(&warning, at()), format!("{lead}{rest}"));
        assert_eq!(
            (&*warning.text, line(&Notice::info("x\u{1b}[0m"), Width::UNBOUNDED)),
            ("x: less", "x\u{fffd}[0m".to_owned())
        );
    }
}
