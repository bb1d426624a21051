//! Whole traces, from bytes in memory to files in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use bytes::Bytes as FileBytes;
use columnar::output::MemoryOutput;
use columnar::output::manifest::MANIFEST_PATH;
use conversion::convert::{Outcome, Report};
use conversion::job;
use conversion::plan::{self, Partition, PlanFile, PlanOptions, PlanResult, PlannedInput, PlannedInputs, partition};
use conversion::survey::{self, FileFacts, FileSurvey, SurveyOptions};
use etl::input::{Input, Inputs, MemoryInput};
use etl2parquet::{
    ClockAnchor, Compression, ConvertOptions, DatasetSplit, Error, ErrorKind, IfExists, InputFile, NoProgress,
    RawPolicy, Recording,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use spill::SpillSpace;

use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;

/// The name of the only input.
const SOURCE: &str = "made.etl";

/// What a trace may be refused for: that it is none, or that it cannot be read as one.
pub(super) fn refused(error: &Error, digest: &mut Digest) {
    assert_eq!(error.kind(), ErrorKind::Input, "trace: nothing but the input is at fault: {error}");
    digest.add(error.to_string());
}

/// Surveys a trace.
///
/// # Errors
/// Those of a survey.
pub fn surveyed(trace: &[u8]) -> Result<(Arc<dyn Input>, FileSurvey), Error> {
    let input: Arc<dyn Input> = Arc::new(MemoryInput::new(SOURCE, trace.to_vec()));
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: true, ..SurveyOptions::default() };
    let file = survey::survey(&*input, SOURCE.to_owned(), &options, &NoProgress)?;
    Ok((input, file))
}

/// Surveys a trace.
///
/// Oracles: tiling of the file by buffers, unreadable regions and tail; conserved: what the survey counts per buffer are
/// the counts per shape; two surveys say the same.
pub fn survey(input: &[u8], digest: &mut Digest) {
    let file = match surveyed(input) {
        Ok((_, file)) => file,
        Err(error) => return refused(&error, digest),
    };
    let buffers = file.buffers.iter().map(|buffer| (buffer.extent.offset, u64::from(buffer.extent.stored_len)));
    assert_eq!(file.unreadable.further(), None, "survey: so short a file has few regions");
    let unreadable = file.unreadable.listed().iter().map(|region| (region.offset, region.len));
    let tail = file.tail.iter().map(|tail| (tail.offset, tail.len));
    let mut parts: Vec<_> = buffers.chain(unreadable).chain(tail).map(|(start, len)| start..start + len).collect();
    parts.sort_by_key(|part| part.start);
    oracle::tiling(parts, 0..input.len() as u64);
    let of_shapes: u64 = file.shapes.iter().map(|(_, shape)| shape.events).sum();
    assert_eq!(of_shapes, file.events(), "survey: each event is of one shape");
    oracle::monotone(file.buffers.iter().map(|buffer| buffer.extent.ordinal));
    let again = surveyed(input).map(|(_, file)| file).expect("survey: what could be read can be read again");
    let value = |file: &FileSurvey| serde_json::to_string(file).expect("survey: it can be written");
    assert!(value(&again) == value(&file) && again.buffers[..] == file.buffers[..], "survey: two are alike");
    digest.add(value(&file));
    let mut files = [file];
    survey::settle(&mut files);
    for facts in FileFacts::of(&files, &NoProgress).expect("survey: nobody interrupts") {
        digest.add((facts.window, facts.ledger.rows.len(), facts.streams.len()));
    }
}

/// Plans a trace.
///
/// Oracles: names unique, of datasets and of columns; every shape has its place in one table; the partitions tile the order
/// of all events; a plan that is written and read again is the same.
pub fn plan(input: &[u8], digest: &mut Digest) {
    let (input, file) = match surveyed(input) {
        Ok(surveyed) => surveyed,
        Err(error) => return refused(&error, digest),
    };
    let inputs = Inputs::of([input]);
    let planned = match planned(&file, &inputs) {
        Ok(plan) => plan,
        Err(error) => return refused(&error, digest),
    };
    oracle::unique(planned.tables.iter().map(|table| &table.dataset));
    for table in &planned.tables {
        oracle::unique(table.columns.columns.iter().map(|column| column.name()));
    }
    let placed: usize = planned.tables.iter().map(|table| table.shapes.len()).sum();
    assert_eq!(placed, planned.shapes.len(), "plan: a shape is in one table");
    let events: u64 = planned.shapes.iter().map(|shape| shape.events).sum();
    assert_eq!(events, file.events(), "plan: each event is of one shape");
    let all = PlannedInputs::of(std::slice::from_ref(&file), &inputs);
    let cut = partition::cut(std::slice::from_ref(&file), &all, 2000, &SpillSpace::temporary(), &NoProgress);
    let partitions = cut.expect("plan: bytes in memory can be read").list().to_vec();
    oracle::tiling(seams(&partitions), 0..file.events());
    let stored = PlanFile::new(vec![PlannedInput::of(&file, 0)], planned, partitions);
    let text = stored.to_text().expect("plan: it can be written");
    let read = PlanFile::read(text.bytes(), Path::new("plan.json")).expect("plan: what was written can be read");
    oracle::same(&read, &(stored, text.hash().to_owned()));
    digest.add(text.bytes());
}

/// Where the partitions that have events begin and end in the order of all events.
fn seams(partitions: &[Partition]) -> impl Iterator<Item = std::ops::Range<u64>> {
    let filled = partitions.iter().filter(|partition| partition.events > 0);
    filled.map(|partition| partition.first_seq..partition.first_seq + partition.events)
}

/// Plans a surveyed trace.
///
/// # Errors
/// Those of a plan.
pub fn planned(file: &FileSurvey, inputs: &Inputs) -> Result<PlanResult, Error> {
    let (plan, _) = plan::plan(std::slice::from_ref(file), inputs, &PlanOptions::default(), &NoProgress)?;
    Ok(plan)
}

/// Options that follow from the bytes of a trace, so that the same trace is always converted alike.
pub(super) fn options_of(input: &[u8], threads: usize) -> ConvertOptions {
    let sum = sum_of(input);
    let mut bytes = Bytes::new(&sum);
    let mut options = ConvertOptions::new("out").threads(threads);
    options.memory = ConvertOptions::MIN_MEMORY;
    options.types = super::decode::options(&mut bytes);
    options.raw = *bytes.pick(&[RawPolicy::Needed, RawPolicy::Needed, RawPolicy::Always, RawPolicy::Never]);
    options.layout = *bytes.pick(&[DatasetSplit::Provider, DatasetSplit::Provider, DatasetSplit::Event]);
    options.compression = *bytes.pick(&[Compression::default(), Compression::Snappy, Compression::None]);
    options.all_columns = bytes.below(8) == 0;
    options.partition_bytes = *bytes.pick(&[None, None, Some(2000), Some(500)]);
    options.if_exists = IfExists::Replace;
    options
}

/// A sum over the bytes of an input: 16 bytes of two hashes.
fn sum_of(input: &[u8]) -> Vec<u8> {
    let mut digest = Digest::default();
    digest.add(input);
    let first = digest.value();
    digest.add(first);
    [first.to_le_bytes(), digest.value().to_le_bytes()].concat()
}

/// Converts a trace in memory: the report and the files.
///
/// # Errors
/// Those of a conversion.
pub fn converted(trace: &[u8], options: &ConvertOptions) -> Result<(Outcome, BTreeMap<String, Vec<u8>>), Error> {
    let recording = Recording { name: "made".to_owned(), inputs: vec![InputFile::new(SOURCE, SOURCE)] };
    let inputs = Inputs::of([Arc::new(MemoryInput::new(SOURCE, trace.to_vec())) as Arc<dyn Input>]);
    let output = MemoryOutput::new("one");
    let outcome = job::convert_inputs(&recording, &inputs, Arc::new(output.clone()), options, &NoProgress)?;
    Ok((outcome, output.published().unwrap_or_default()))
}

/// Converts a trace and reads everything that was written.
///
/// Oracles: conserved; each file has as many rows as its entry says, its columns are valid in full and its order is that
/// of `seq`; all files of a dataset together have each `seq` of theirs once; scripts are whole.
pub fn convert(input: &[u8], digest: &mut Digest) {
    let (outcome, files) = match converted(input, &options_of(input, 1)) {
        Ok(converted) => converted,
        Err(error) => return refused(&error, digest),
    };
    let Outcome::Published(report) = outcome else { panic!("convert: {outcome:?} without a filter or a check") };
    read_back(&report, &files, digest);
}

fn read_back(report: &Report, files: &BTreeMap<String, Vec<u8>>, digest: &mut Digest) {
    oracle::conserved(&report.events);
    assert_eq!(files.len(), report.written.len() + 1, "convert: the files and the manifest are there");
    let mut rows_of_events = 0;
    let mut sequence = Vec::new();
    for entry in &report.written {
        let content = &files[&entry.path];
        assert_eq!(content.len() as u64, entry.bytes, "convert: {} is as long as it is said to be", entry.path);
        digest.add((&entry.path, &entry.sha256));
        if !entry.is_table() {
            assert!(entry.rows == 0 && content.ends_with(b";\n"), "convert: {} is a whole script", entry.path);
            continue;
        }
        let file = FileBytes::from(content.clone());
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("convert: it is a Parquet file");
        oracle::unique(reader.schema().fields().iter().map(|field| field.name()));
        let mut rows = 0;
        for batch in reader.build().expect("convert: it can be read") {
            let batch = batch.expect("convert: each batch can be read");
            batch.columns().iter().for_each(|column| oracle::valid_in_full(column, batch.num_rows()));
            rows += batch.num_rows() as u64;
            if entry.path.starts_with("events/") {
                sequence.extend(numbers(&batch, "seq"));
            }
        }
        assert_eq!(rows, entry.rows, "convert: {} has the rows that it is said to have", entry.path);
        rows_of_events += if entry.path.starts_with("events/") { rows } else { 0 };
    }
    assert_eq!(rows_of_events, report.events.written, "convert: what was written is there");
    sequence.sort_unstable();
    assert!(sequence.iter().copied().eq(0..rows_of_events), "convert: every number of the order is there once");
}

/// A column of numbers without NULL.
fn numbers(batch: &RecordBatch, name: &str) -> Vec<u64> {
    let column = batch.column_by_name(name).unwrap_or_else(|| panic!("convert: there is a column {name}"));
    assert_eq!(column.null_count(), 0, "convert: {name} is never NULL");
    match column.as_primitive_opt::<UInt64Type>() {
        Some(numbers) => numbers.values().to_vec(),
        None => column.as_primitive::<arrow_array::types::Int64Type>().values().iter().map(|&n| n as u64).collect(),
    }
}

/// Converts a trace with one thread and with four.
///
/// Oracle: 1 thread = 4 threads, byte by byte, but for what the manifest says of the run.
pub fn threads(input: &[u8], digest: &mut Digest) {
    let mut one = converted(input, &options_of(input, 1));
    let mut four = converted(input, &options_of(input, 4));
    for (_, files) in [&mut one, &mut four].into_iter().flatten() {
        if let Some(manifest) = files.get_mut(MANIFEST_PATH) {
            let mut value: serde_json::Value = serde_json::from_slice(manifest).expect("threads: the manifest is JSON");
            value.as_object_mut().and_then(|value| value.remove("run")).expect("threads: the manifest records the run");
            *manifest = value.to_string().into_bytes();
        }
    }
    match (one, four) {
        (Ok((_, one)), Ok((_, four))) => {
            let differing = one.iter().find(|(path, content)| four.get(*path) != Some(content));
            let named = differing.map(|(path, _)| path);
            assert!(named.is_none() && one.len() == four.len(), "threads: {named:?} differs");
            digest.add(one);
        }
        (Err(one), Err(four)) => {
            oracle::same(&four.to_string(), &one.to_string());
            refused(&one, digest);
        }
        (one, four) => panic!("threads: {one:?} with one, {four:?} with four"),
    }
}
