//! `etl2parquet query`.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use base::error::{Error, ErrorKind, Result};
use base::readable::count::counted;
use batch::{RunStatus, status};
use conversion::convert::settings;
use conversion::views::{Dialect, Extent, messages_are_asked};
use published::{PublishedLake, statements};

use super::args::QueryArgs;
use super::run::Run;
use super::subjects::{Staging, Subject, Subjects, refuse_for_converted};
use super::{console, options};

/// How often a run looks whether it is interrupted while DuckDB works.
const LOOK: Duration = Duration::from_millis(20);

/// How long DuckDB may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks DuckDB; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, a program that is not there, and a trace that cannot be read or converted.
pub(super) fn run(args: &QueryArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let duckdb = args.duckdb.as_deref().unwrap_or(Path::new("duckdb"));
    check(duckdb)?;
    let question = question(&args.question)?;
    run.interrupt.working(true);
    let answered = answer(args, duckdb, &question, &run);
    run.interrupt.working(false);
    match answered {
        Ok(_) if run.interrupt.is_set() => Ok(run.interrupt.code()),
        Ok(code) => Ok(code),
        Err(error) => Ok(run.failed(&error)),
    }
}

/// The question, which may come from standard input.
fn question(typed: &str) -> Result<String> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|cause| {
        Error::new(ErrorKind::Usage, "cannot read the question from standard input").caused_by(cause)
    })?;
    Ok(text)
}

/// Looks for DuckDB, before a trace is converted for it.
fn check(duckdb: &Path) -> Result<()> {
    let found = Command::new(duckdb).arg("--version").stdin(Stdio::null()).output();
    match found {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(not_started(duckdb, &io::Error::other(output.status.to_string()))),
        Err(cause) => Err(not_started(duckdb, &cause)),
    }
}

fn not_started(duckdb: &Path, cause: &io::Error) -> Error {
    let message = format!("the program {} cannot be started: {cause}", duckdb.display());
    let hint = "install DuckDB's command line, https://duckdb.org/install, or name it with --duckdb";
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}

/// Converts what is not converted, and asks; returns the exit code.
fn answer(args: &QueryArgs, duckdb: &Path, question: &str, run: &Run) -> Result<u8> {
    if PublishedLake::is_at(Path::new(&args.trace)) {
        let staging = Staging::make_in(&std::env::temp_dir(), run)?;
        refuse_options(args)?;
        let is_answered = ask(args, duckdb, (Path::new(&args.trace), &staging), question, run)?;
        return Ok(if is_answered { status::SUCCESS } else { status::USAGE });
    }
    let subjects = Subjects::of(std::slice::from_ref(&args.trace), &args.schemas, options::of_query(args, run), run)?;
    let is_any_converted = subjects.traces.iter().any(|(_, subject)| subject.is_converted());
    if is_any_converted {
        refuse_options(args)?;
    }
    let staging = Staging::make_in(&std::env::temp_dir(), run)?;
    let (status, traces) = if is_any_converted {
        (as_it_is(&subjects, run), Path::new(&args.trace))
    } else {
        (converted(&subjects, &staging, run)?, staging.path())
    };
    if status.readable == 0 || status.is_stopped() {
        return Ok(status.code());
    }
    Ok(if ask(args, duckdb, (traces, &staging), question, run)? { status.code() } else { status::USAGE })
}

/// Counts the traces of a folder that are converted, and says how many are not, and so are not asked.
fn as_it_is(subjects: &Subjects, run: &Run) -> RunStatus {
    let (asked, others): (Vec<_>, Vec<_>) = subjects.traces.iter().partition(|(_, subject)| subject.is_converted());
    if let Some((name, _)) = others.first() {
        let others = counted(others.len() as u64, "traces");
        run.console.warning(format_args!("not asked, because the folder has converted ones: {others}, {name} first"));
    }
    RunStatus::with_readable(asked.len() as u64)
}

/// Converts all; counts what there is to ask. A trace that cannot be read, or of which no event passes the filters, keeps no other
/// from being asked.
///
/// # Errors
/// What keeps all from being converted.
fn converted(subjects: &Subjects, staging: &Staging, run: &Run) -> Result<RunStatus> {
    let mut status = RunStatus::default();
    subjects.problems.iter().for_each(|problem| run.fail(&mut status, problem));
    let mut is_any_empty = false;
    for (name, subject) in &subjects.traces {
        let Subject::Recording(recording) = subject else { continue };
        match subjects.passing_into(staging, recording, run) {
            Ok(Some(_)) => status.readable += 1,
            Ok(None) => {
                is_any_empty = true;
                run.console.warning(format_args!("{name}: no event passes the filters"));
            }
            Err(error) if error.kind() == ErrorKind::Input => run.fail(&mut status, &error),
            Err(error) => return Err(error),
        }
    }
    if status.readable == 0 && is_any_empty {
        status.refuse();
    }
    Ok(status)
}

/// Refuses what decides nothing about traces that are converted.
fn refuse_options(args: &QueryArgs) -> Result<()> {
    if !args.rows.options.filter.is_empty() {
        let error = Error::new(ErrorKind::Usage, "filters are for traces that are not converted, and all of these are");
        return Err(error.with_hint("limit the rows with WHERE"));
    }
    refuse_for_converted(args.rows.typed_of(&settings::COLUMNS))
}

/// Starts DuckDB with the views over traces and a question; its answer goes where the program's own would. Returns whether it has one.
fn ask(
    args: &QueryArgs,
    duckdb: &Path,
    (traces, staging): (&Path, &Staging),
    question: &str,
    run: &Run,
) -> Result<bool> {
    let with_messages = messages_are_asked(question);
    let text = statements(traces, Dialect::DuckDb, Extent::Whole, with_messages)?.text_for(question);
    let script = staging.path().join("views.sql");
    console::to_file_within(&script, &text, &run.interrupt.cleanup())?;
    let format = [(args.csv, "-csv"), (args.json, "-json")];
    let format = format.into_iter().filter_map(|(is_asked, option)| is_asked.then_some(option));
    let mut command = Command::new(duckdb);
    // What the user's own file says at every start would be said of the answer, too.
    command.args(["-no-init", "-cmd", &read_command(&script)]);
    command.args(format).args(&args.of_duckdb).args(["-c", question]);
    // A group of its own is ended with all that it has started.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.stdin(Stdio::null()).spawn().map_err(|cause| not_started(duckdb, &cause))?;
    // DuckDB has said what is wrong with the question.
    Ok(wait(child, run)?.success())
}

/// What has DuckDB read a script.
fn read_command(script: &Path) -> String {
    format!(".read \"{}\"", script.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

/// Waits until DuckDB ends, or ends it when the run is interrupted.
fn wait(mut child: Child, run: &Run) -> Result<ExitStatus> {
    let failure = |cause| Error::new(ErrorKind::Internal, "cannot wait for DuckDB").caused_by(cause);
    let mut asked = None;
    loop {
        if let Some(status) = child.try_wait().map_err(failure)? {
            // Who started the program for another one may be gone before that.
            asked.inspect(|_| end(&mut child, Signal::End));
            return Ok(status);
        }
        match asked {
            None if run.interrupt.is_set() => {
                asked = Some(Instant::now());
                end(&mut child, Signal::Ask);
            }
            Some(at) if at.elapsed() > PATIENCE => end(&mut child, Signal::End),
            _ => {}
        }
        std::thread::sleep(LOOK);
    }
}

/// How DuckDB is ended.
#[derive(Clone, Copy)]
enum Signal {
    /// It may clear up.
    Ask,
    /// It may not.
    End,
}

/// Ends a program and those that it has started, which may be DuckDB itself; one that has ended by itself is left.
#[cfg(unix)]
fn end(child: &mut Child, signal: Signal) {
    use rustix::process::{Pid, Signal as Number, kill_process_group};
    let number = match signal {
        Signal::Ask => Number::INT,
        Signal::End => Number::KILL,
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, number);
    }
}

/// Ends a program; one that has ended by itself is left.
#[cfg(not(unix))]
fn end(child: &mut Child, _signal: Signal) {
    let _ = child.kill();
}
