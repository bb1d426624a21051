//! `etl2parquet views`.

use std::io::{self, IsTerminal};

use base::error::{Error, ErrorKind, Result};
use base::suggest::nearest;
use batch::status;
use conversion::views::{Dialect, Extent, Statements, messages_are_asked};
use published::statements;

use super::args::ViewsArgs;
use super::console;
use super::next_steps::word;

/// Prints the views, or writes them to a file; returns the exit code.
///
/// # Errors
/// What keeps traces from being read, a view that is not there, and a script that cannot be written.
pub(super) fn run(args: &ViewsArgs) -> Result<u8> {
    let dialect = if args.spark { Dialect::Spark } else { Dialect::DuckDb };
    // What is asked for by name is found among all.
    let is_whole = args.single_events || !args.views.is_empty();
    let extent = if is_whole { Extent::Whole } else { Extent::WithoutEvents };
    let with_messages = args.event_messages || args.views.iter().any(|view| messages_are_asked(view));
    let statements = statements(&args.traces, dialect, extent, with_messages)?;
    let text = text(&statements, &args.views)?;
    match &args.script {
        Some(path) => console::to_file(path, &text)?,
        None if args.views.is_empty() && io::stdout().is_terminal() => {
            console::page_to_stdout(&how_to_use(args, statements.names().count()))?;
        }
        None => console::to_stdout(&text)?,
    }
    Ok(status::SUCCESS)
}

/// The script of what is asked for.
fn text(statements: &Statements, asked: &[String]) -> Result<String> {
    let is_there = |asked: &&String| statements.names().any(|name| name.eq_ignore_ascii_case(asked));
    if let Some(unknown) = asked.iter().find(|asked| !is_there(asked)) {
        let hint = match nearest(unknown, statements.names()) {
            Some(name) => format!("there is {name}"),
            None => "docs/views.md lists them; datasets and their events have views of their names".to_owned(),
        };
        let message = format!("expected the name of a view of these traces, found {unknown}");
        return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
    }
    Ok(if asked.is_empty() { statements.text() } else { statements.text_of(asked) })
}

/// What a terminal shows instead of thousands of lines. `count`: of views and functions.
fn how_to_use(args: &ViewsArgs, count: usize) -> String {
    let folder = word(&args.traces.display().to_string());
    let lines = if args.spark {
        [
            ("write them", format!("etl2parquet views {folder} --spark -o views.spark.sql")),
            ("load them", "docs/views.md shows it in Python".to_owned()),
        ]
    } else {
        [
            ("write them", format!("etl2parquet views {folder} -o views.sql")),
            ("ask", "duckdb -init views.sql -c \"FROM answers\"".to_owned()),
        ]
    };
    let lines = lines.map(|(what, line)| format!("  {what:<12}{line}\n")).concat();
    format!("{count} views and functions\n{lines}  {:<12}etl2parquet views {folder} cpu_samples\n", "print one")
}
