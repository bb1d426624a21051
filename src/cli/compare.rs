//! `etl2parquet compare`.

use std::ffi::OsString;
use std::path::Path;

use base::error::Result;
use base::readable::count::{Count, counted};
use base::readable::share::share;
use base::readable::time::duration;
use base::words::Words as _;
use batch::status;
use published::PublishedTrace;
use published::report::comparison::{
    ComparedTrace, Comparison, MeasureRows, Row, TraceAmounts, Verdict, amounts_of, compared, page,
};

use super::args::CompareArgs;
use super::fold::{Width, wrapped};
use super::run::Run;
use super::subjects::{Staging, Subject, Subjects};
use super::text_table::{Align, TextTable};
use super::{console, options, output_file};

/// Rows of a measure that a terminal shows; the rest is a number.
const SHOWN: usize = 20;

/// Compares; returns the exit code.
///
/// # Errors
/// What keeps the run from starting, and a page that cannot be written.
pub(super) fn run(args: &CompareArgs) -> Result<u8> {
    if let Some(file) = &args.output {
        output_file::check(file, &[args.a.clone(), args.b.clone()])?;
    }
    let run = Run::start(&args.run)?;
    run.interrupt.working(true);
    let sides = side(&args.a, args, &run).and_then(|a| Ok((a, side(&args.b, args, &run)?)));
    run.interrupt.working(false);
    let (a, b) = match sides {
        Ok(sides) => sides,
        Err(error) => return Ok(run.failed(&error)),
    };
    let comparison = compared(args.by, &a, &b, args.min_share);
    match &args.output {
        Some(file) => console::to_file(file, &page(&comparison))?,
        None if args.json => console::to_stdout(&console::json(&comparison))?,
        None => console::to_stdout(&text(&comparison, Width::of_stdout()))?,
    }
    if args.output.as_deref().is_some_and(|file| file != Path::new("-")) {
        run.console.line(format_args!("wrote {}", args.output.as_deref().unwrap_or(Path::new("-")).display()));
    }
    Ok(gate(&comparison, args.fail_above, &run))
}

/// The exit code of what has grown too much, or of what nobody knows: where nothing was compared.
fn gate(comparison: &Comparison, most: Option<f64>, run: &Run) -> u8 {
    let Some(most) = most else { return status::SUCCESS };
    if comparison.measures.iter().all(|measure| measure.not_compared.is_some()) {
        run.console.warning("nothing was compared, so that nothing is known to be within --fail-above");
        return status::REFUSED;
    }
    let grown: Vec<_> = comparison.grown_by(most).collect();
    for (measure, row) in &grown {
        let (name, what) = (&row.name, measure.measure.name());
        run.console.warning(format_args!("{name}: {what}: {}, more than {:.1}%", row.change(), most * 100.0));
    }
    if !grown.is_empty() {
        return status::REFUSED;
    }
    let seems = |row: &&Row| row.ratio.map_or(row.b.per_second > 0.0, |ratio| ratio - 1.0 > most);
    let rows = comparison.measures.iter().flat_map(|measure| &measure.rows);
    let unsure = rows.filter(|row| row.verdict == Verdict::Unsure).filter(seems).count() as u64;
    if unsure > 0 {
        let unsure = counted(unsure, "rows");
        run.console.warning(format_args!(
            "--fail-above decides about what is proven, and may have missed {unsure} that are unsure"
        ));
    }
    status::SUCCESS
}

/// What the traces of a side have.
fn side(named: &OsString, args: &CompareArgs, run: &Run) -> Result<Vec<TraceAmounts>> {
    let subjects = Subjects::of(std::slice::from_ref(named), &args.schemas, options::of_comparison(run), run)?;
    subjects.problems.iter().for_each(|problem| run.console.warning(problem));
    let amounts = |trace: &PublishedTrace| run.job("compare", |progress| amounts_of(trace, args.by, progress));
    let of = |(_, subject): &(String, Subject)| match subject {
        Subject::Published(trace) => amounts(trace),
        Subject::Recording(recording) => {
            let staging = Staging::make_in(&std::env::temp_dir(), run)?;
            amounts(&subjects.convert_into(&staging, recording, run)?)
        }
    };
    subjects.traces.iter().map(of).collect()
}

/// The comparison as a terminal shows it.
fn text(comparison: &Comparison, width: Width) -> String {
    let mut text = traces(comparison).render(width);
    for note in &comparison.notes {
        text.push_str(&wrapped(&format!("  {note}"), width));
    }
    if comparison.is_of_single_traces() {
        text.push_str(&wrapped(
            "  one trace on each side: how much two runs of the same differ, nothing here says",
            width,
        ));
    }
    for measure in &comparison.measures {
        text.push('\n');
        text.push_str(&of_measure(measure, width));
    }
    text
}

fn traces(comparison: &Comparison) -> TextTable {
    let mut table = TextTable::new([
        ("SIDE", Align::Left),
        ("TRACE", Align::Left),
        ("LENGTH", Align::Right),
        ("LOST", Align::Left),
    ]);
    let sides = [("A", &comparison.a), ("B", &comparison.b)];
    for (side, ComparedTrace { trace, length_ns, lost, unproven, .. }) in
        sides.iter().flat_map(|(side, traces)| traces.iter().map(move |trace| (*side, trace)))
    {
        let unknown = || unproven.as_ref().map(|_| "not known".to_owned());
        let lost = lost.clone().or_else(unknown).unwrap_or_else(|| "nothing".to_owned());
        table.row([side.to_owned(), trace.clone(), duration(*length_ns), lost]);
    }
    table
}

fn of_measure(rows: &MeasureRows, width: Width) -> String {
    let what = rows.measure.name();
    if let Some(because) = &rows.not_compared {
        return wrapped(&format!("{what}: not compared: {because}"), width);
    }
    let (same, others): (Vec<&Row>, Vec<&Row>) = rows.rows.iter().partition(|row| row.verdict == Verdict::Same);
    let mut text = wrapped(&format!("{what}, by second of a recording"), width);
    if !others.is_empty() {
        text.push_str(&table(rows, &others).render(width));
    }
    let rest = [
        (others.len().saturating_sub(SHOWN), "more row that differs", "more rows that differ"),
        (same.len(), "row that is the same", "rows that are the same"),
        (rows.small, "name below the share", "names below the share"),
    ];
    let rest: Vec<String> = rest
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{} {}", Count(*count as u64), if *count == 1 { one } else { many }))
        .collect();
    if !rest.is_empty() {
        text.push_str(&wrapped(&format!("  {}", rest.join(", ")), width));
    }
    if rows.tested > 0 {
        let tested = counted(rows.tested as u64, "rows");
        text.push_str(&wrapped(
            &format!("  {tested} tested: by chance about {:.1} would seem to differ", rows.by_chance),
            width,
        ));
    }
    text
}

fn table(measure: &MeasureRows, rows: &[&Row]) -> TextTable {
    let mut table = TextTable::new([
        ("NAME", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("CHANGE", Align::Right),
        ("SHARE OF B", Align::Right),
        ("VERDICT", Align::Left),
    ]);
    for row in rows.iter().take(SHOWN) {
        let verdict = match &row.because {
            Some(because) => format!("{}: {because}", row.verdict.word()),
            None => row.verdict.word().to_owned(),
        };
        table.row([
            row.name.clone(),
            row.a.shown(measure.measure),
            row.b.shown(measure.measure),
            row.change(),
            row.b.share.map_or_else(|| "-".to_owned(), percent),
            verdict,
        ]);
    }
    table
}

/// A share as people read it.
fn percent(part: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
    let millionths = (part * 1e6).round() as u64;
    share(millionths, 1_000_000)
}
