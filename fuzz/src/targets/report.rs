//! The page of a report: of traces, and of converted ones that somebody changed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt64Array, new_null_array};
use bytes::Bytes as FileBytes;
use etl2parquet::{ConvertOptions, Error, ErrorKind, NoProgress, Outcome};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use published::PublishedTrace;
use published::report::{facts, page};

use super::stored::{Files, change, folder_in_memory, write_all};
use super::traces::{converted, options_of, refused};
use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;

/// Bytes that no page takes.
const LARGEST: usize = 2 << 20;

/// The page of a folder of a trace.
fn page_of(folder: &Path) -> Result<(String, bool), Error> {
    let facts = facts(&PublishedTrace::in_folder(folder), &NoProgress)?;
    Ok((page(&facts), facts.is_damaged()))
}

fn hold(page: &str) {
    assert!(page.len() < LARGEST, "report: a page of {} bytes", page.len());
    oracle::markup(page);
}

/// Converts a trace and makes a page of it.
///
/// Oracles: the page is markup of few words and no text of the trace is any; it is small; it says that the trace is damaged where
/// the conversion does.
pub fn report(input: &[u8], digest: &mut Digest) {
    let (outcome, files) = match converted(input, &options_of(input, 1)) {
        Ok(converted) => converted,
        Err(error) => return refused(&error, digest),
    };
    let Outcome::Published(report) = outcome else { panic!("report: {outcome:?} without a filter or a check") };
    let folder = folder_in_memory();
    write_all(folder.path(), &files);
    let (page, is_damaged) = page_of(folder.path()).expect("report: what was converted can be read");
    hold(&page);
    assert_eq!(is_damaged, report.is_damaged(), "report: damage is reported alike");
    digest.add((page, is_damaged));
}

/// The example of the project, converted.
pub(super) fn honest() -> &'static Files {
    static HONEST: OnceLock<Files> = OnceLock::new();
    HONEST.get_or_init(|| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/example.etl");
        let trace = std::fs::read(example).expect("the example is there");
        let mut options = ConvertOptions::new("out").threads(1);
        options.memory = ConvertOptions::MIN_MEMORY;
        converted(&trace, &options).expect("report: the example can be converted").1
    })
}

/// Changes one file of a converted trace and makes a page of it: columns of a table get values, types and rows that no trace
/// gives them, or bytes change without a thought of what they are.
///
/// Oracles: those of [`report`], or an error that blames the files.
pub fn report_stored(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let mut files = honest().clone();
    let names: Vec<String> = files.keys().filter(|name| is_read(name)).cloned().collect();
    let is_table = bytes.below(4) > 0;
    let names: Vec<&String> = names.iter().filter(|name| !is_table || name.ends_with(".parquet")).collect();
    let name = (*bytes.pick(&names)).clone();
    let content = files.get_mut(&name).expect("it is there");
    if is_table {
        *content = rewritten(content, &mut bytes);
    } else {
        change(content, &mut bytes);
    }
    let folder = folder_in_memory();
    write_all(folder.path(), &files);
    let outcome = match page_of(folder.path()) {
        Ok((page, is_damaged)) => {
            hold(&page);
            digest.add((page, is_damaged));
            "page"
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Output, "report: nothing but {name} is at fault: {error}");
            "refused"
        }
    };
    digest.count(if is_table { "table" } else { "bytes" }, outcome);
}

/// Whether a page may depend on a file: scripts of views are for others.
fn is_read(name: &str) -> bool {
    [".parquet", ".json"].iter().any(|end| name.ends_with(end))
}

/// A table with up to four columns that hold what no trace gives them, and perhaps with many times its rows.
fn rewritten(content: &[u8], bytes: &mut Bytes<'_>) -> Vec<u8> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(FileBytes::copy_from_slice(content));
    let reader = reader.and_then(ParquetRecordBatchReaderBuilder::build).expect("report: it is a Parquet file");
    let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("report: it can be read")).collect();
    let Some(first) = batches.first() else { return content.to_vec() };
    let schema = first.schema();
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let kinds: BTreeMap<&String, (usize, usize)> =
        (0..=bytes.below(4)).map(|_| (*bytes.pick(&names), (bytes.below(6), bytes.u8().into()))).collect();
    let times = *bytes.pick(&[1, 1, 2, 40]);
    let changed = batches.iter().map(|batch| {
        let columns = schema.fields().iter().zip(batch.columns()).filter_map(|(field, column)| {
            let column = match kinds.get(field.name()) {
                Some(&(kind, from)) => made(kind, from, column)?,
                None => Arc::clone(column),
            };
            Some((field.name().clone(), column, true))
        });
        RecordBatch::try_from_iter_with_nullable(columns)
    });
    let changed: Vec<RecordBatch> = changed.filter_map(Result::ok).collect();
    let Some(first) = changed.first() else { return content.to_vec() };
    let mut writer = ArrowWriter::try_new(Vec::new(), first.schema(), None).expect("report: it can be written");
    for batch in (0..times).flat_map(|_| &changed) {
        writer.write(batch).expect("report: it can be written");
    }
    writer.into_inner().expect("report: it can be written")
}

/// A column of hostile values, from a place among these on; `None` is no column.
fn made(kind: usize, from: usize, column: &ArrayRef) -> Option<ArrayRef> {
    const NUMBERS: &[i64] = &[0, -1, 1, i64::MIN, i64::MAX, 1 << 32, 4, 0xFFFF, 1_700_000_000_000_000_000, -(1 << 47)];
    const TEXTS: &[&str] = &[
        "",
        "<script>alert(1)</script>",
        "\" onload='x' <b",
        "&lt;&#x3c;&",
        "a\u{202e}exe.\u{0}\u{1b}[31m\u{2028}",
        "-->]]></style></title></svg>",
        "PerfInfo/SampleProf",
        "truncated_tail",
        "buffers",
        "javascript:alert(1)",
    ];
    let rows = column.len();
    let number = |row: usize| NUMBERS[(from + row) % NUMBERS.len()];
    let text = |row: usize| match (from + row) % (TEXTS.len() + 2) {
        long if long == TEXTS.len() => "<é".repeat(4000),
        own if own > TEXTS.len() => format!("{row}<"),
        short => TEXTS[short].to_owned(),
    };
    Some(match kind {
        0 | 1 => Arc::new((0..rows).map(number).map(Some).collect::<Int64Array>()),
        2 => Arc::new((0..rows).map(|row| Some(number(row).cast_unsigned())).collect::<UInt64Array>()),
        3 => Arc::new((0..rows).map(|row| Some(text(row))).collect::<StringArray>()),
        4 if from.is_multiple_of(2) => new_null_array(column.data_type(), rows),
        4 => Arc::new((0..rows).map(|row| Some(row % 2 == 0)).collect::<BooleanArray>()),
        _ => return None,
    })
}
