//! `etl2parquet views`.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use base::disk::absolute;
use base::error::{Error, ErrorKind, Result};
use base::suggest::nearest;
use batch::status;
use columnar::output::{LocalStore, Store};
use conversion::views::{Dialect, Extent, Script, Statements, Traces};
use published::{lake, published};

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
    let statements = statements(&args.traces, dialect, extent)?;
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

/// The views of a trace, or of a folder with traces.
///
/// # Errors
/// What keeps traces from being read.
pub(super) fn statements(path: &Path, dialect: Dialect, extent: Extent) -> Result<Statements> {
    let traces = published(&[path.to_owned()])?;
    let one = match &traces[..] {
        [one] if one.folder() == path => Some(parent_and_name(&one.folder())),
        _ => None,
    };
    let lake = lake(&traces, one.is_none().then_some(&LocalStore::new(path) as &dyn Store))?;
    let (root, traces) = match &one {
        Some((folder, name)) => (folder.clone(), Traces::One(name)),
        None => (absolute(path), Traces::Many),
    };
    let root = root.display().to_string().replace('\\', "/");
    Ok(Script { dialect, lake: &lake, root: &root, traces, extent }.statements())
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

/// The folder around a trace, and the trace's own name.
fn parent_and_name(folder: &Path) -> (PathBuf, String) {
    let absolute = absolute(folder);
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (absolute.parent().map(Path::to_path_buf).unwrap_or_default(), name)
}
