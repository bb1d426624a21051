//! `etl2parquet verify`.

use std::fmt::Write as _;

use base::error::Result;
use base::readable::count::{ByteCount, counted};
use base::readable::printable::printable;
use base::resources::pool;
use batch::status;
use conversion::convert::Stage;
use published::verify::{Verified, verify_all};

use super::args::VerifyArgs;
use super::console;
use super::expected::{gone, has_no_trace};
use super::fold::{Width, wrapped};
use super::run::Run;

/// Verifies; returns the exit code.
///
/// # Errors
/// What keeps the run from starting or ends it, and a report that cannot be written.
pub(super) fn run(args: &VerifyArgs) -> Result<u8> {
    let run = Run::start(&args.run)?;
    let gone = gone(&args.expect, &args.outputs)?;
    let mut outputs = args.outputs.clone();
    outputs.retain(|output| gone.is_empty() || !has_no_trace(output));
    let verified = run.job("verify", |progress| {
        progress.stage(Stage::Publish);
        pool(run.threads)?.install(|| verify_all(&outputs, args.quick, progress))
    });
    let mut verified = match verified {
        Ok(verified) => verified,
        Err(error) => return Ok(run.failed(&error)),
    };
    verified.findings.extend(gone);
    verified.findings.sort();
    if args.json {
        console::to_stdout(&console::json(&verified.document()))?;
    } else {
        let lines = verified.findings.iter().fold(String::new(), |mut lines, finding| {
            let _ = writeln!(lines, "{}", printable(&finding.to_string()));
            lines
        });
        console::to_stdout(&wrapped(&lines, Width::of_stdout()))?;
    }
    run.console.line(summary(&verified));
    Ok(if verified.findings.is_empty() { status::SUCCESS } else { status::MISMATCH })
}

fn summary(verified: &Verified) -> String {
    let findings = match verified.findings.len() as u64 {
        0 => "nothing is wrong".to_owned(),
        found => counted(found, "findings"),
    };
    let (traces, files) = (counted(verified.traces, "traces"), counted(verified.files, "files"));
    let older = match verified.older {
        0 => String::new(),
        older => format!("; {} of an older format: convert again for what is new", counted(older, "traces")),
    };
    format!("{traces}, {files}, {}: {findings}{older}", ByteCount(verified.bytes))
}
