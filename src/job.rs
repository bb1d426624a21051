//! The corridor from inputs to a published trace: survey, plan, convert, commit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use arrow_schema::{Field, Schema};
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::commit::{checks, record};
use crate::convert::decoders::Decoders;
use crate::convert::job::{ConvertOptions, Job, JobProgress, Outcome, Report, Stage};
use crate::convert::part_report::{JoinedCounts, PartReport};
use crate::convert::pipeline::{self, Limits};
use crate::convert::repeated;
use crate::table::{ShapeConstants, TableColumns};

use crate::convert::slice::SliceContext;
use crate::dataset::{EncodeOptions, FileNaming, TableSpec, TableWriter};
use crate::error::{Error, ErrorKind, Result};
use crate::input::{InputId, Inputs};
use crate::output::folder::{self, Published};
use crate::output::manifest::{EventCounts, FORMAT_VERSION, FileEntry, MANIFEST_PATH};
use crate::output::{IfExists, LocalFolder};
use crate::plan::{self, Partitions, PlanOptions, PlanResult, PlannedInputs, partition};
use crate::sidecar::{self, SidecarFacts};
use crate::spill::SpillSpace;
use crate::survey::{self, FileFacts, FileSurvey, Step, SurveyOptions, timed};

/// Surveys and plans a job and says what a conversion would find; writes nothing.
///
/// # Errors
/// [`ErrorKind::Input`] when a file is no trace or cannot be read.
pub fn inspect(job: &Job, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Report> {
    let pool = pool(options)?;
    let surveyed = survey_and_plan(&pool, job, &inputs(job)?, options, &SpillSpace::temporary(), false, progress)?;
    Ok(report(Path::new(""), surveyed))
}

/// Converts a job and publishes it as one trace.
///
/// # Errors
/// [`ErrorKind::Input`] when a file is no trace or cannot be read, [`ErrorKind::Output`] when the trace is there
/// already or cannot be written, [`ErrorKind::Interrupted`] when the caller asked to stop, [`ErrorKind::Internal`] when
/// an input changed or the counts do not meet. Whatever the error, nothing is left half-published.
pub fn convert(job: &Job, options: &ConvertOptions, progress: &dyn JobProgress) -> Result<Outcome> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let pool = pool(options)?;
    let staged = || LocalFolder::create_in(&progress.custody(), &options.out, &job.name);
    let staging = (!options.dry_run).then(staged).transpose()?;
    folder::check_absent(&options.out, &job.name, options.if_exists)?;
    let space = staging.as_ref().map_or_else(SpillSpace::temporary, |_| SpillSpace::new(&options.out));
    let inputs = &inputs(job)?;
    let surveyed = survey_and_plan(&pool, job, inputs, options, &space, true, progress)?;
    let target = folder::trace_folder(&options.out, &job.name);
    if passes_nothing(&surveyed.plan) {
        return Ok(Outcome::Empty(Box::new(all_filtered(report(&target, surveyed)))));
    }
    let Some(staging) = staging else { return Ok(Outcome::DryRun(Box::new(report(&target, surveyed)))) };
    let settings = record::options(options);
    if options.if_exists == IfExists::Skip {
        let hashes: Vec<String> = surveyed.files.iter().filter_map(|file| file.blake3.clone()).collect();
        let hash = crate::output::manifest::options_hash(&settings);
        if folder::is_current(&options.out, &job.name, &hashes, FORMAT_VERSION, &hash)? {
            return Ok(Outcome::Skipped);
        }
    }
    if let Some(reason) = checks::before(&surveyed.files, &surveyed.facts, &options.gates) {
        return Ok(Outcome::Gated(Box::new(report(&target, surveyed)), reason));
    }
    let Surveyed { files, facts, plan } = &surveyed;
    let planned = PlannedInputs::of(files, inputs);
    let partitions = pool.install(|| partition::cut(files, &planned, partition_bytes(options), &space, progress))?;
    let conversion =
        Conversion { job, options, files, facts, plan, inputs: &planned, partitions: &partitions, staging: &staging };
    let reports = conversion.write_events(&pool, &settings, &space, progress)?;
    let counts = JoinedCounts::of(&reports, files.len(), plan.shapes.len());
    let written = reports.into_iter().flat_map(|report| report.files).collect::<Vec<_>>();
    let events = conversion.account(&counts, &written)?;
    if events.written == 0 && events.filtered > 0 {
        return Ok(Outcome::Empty(Box::new(all_filtered(report(&target, surveyed)))));
    }
    progress.stage(Stage::Publish);
    let written = timed(progress, Step::Publish, || conversion.write_sidecar(&counts, written))?;
    let JoinedCounts { shapes, time_range, decode, .. } = counts;
    let time_range = time_range.map(|range| without_the_past(range, facts));
    let report = Report { shapes, events, decode, written, time_range, ..report(&target, surveyed) };
    if let Some(reason) = checks::after(&report, &options.gates) {
        return Ok(Outcome::Gated(Box::new(report), reason));
    }
    timed(progress, Step::Publish, || {
        let run = record::run(options, &report.files, started, clock.elapsed());
        let manifest = record::manifest(job, settings, &report, run);
        staging.write(MANIFEST_PATH, manifest.to_json()?.as_bytes())?;
        inputs.check_unchanged()
    })?;
    let Published { folder, warnings } = staging.commit(options.if_exists)?;
    Ok(Outcome::Published(Box::new(Report { folder, warnings, ..report })))
}

fn pool(options: &ConvertOptions) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .thread_name(|number| format!("worker-{number}"))
        .build()
        .map_err(|cause| Error::new(ErrorKind::Internal, "cannot start the worker threads").caused_by(cause))
}

fn inputs(job: &Job) -> Result<Inputs> {
    Inputs::open(job.inputs.iter().map(|input| input.path.clone()))
}

/// What is known of a job before pass 2.
struct Surveyed {
    files: Vec<FileSurvey>,
    facts: Vec<FileFacts>,
    plan: PlanResult,
}

fn survey_and_plan(
    pool: &ThreadPool,
    job: &Job,
    inputs: &Inputs,
    options: &ConvertOptions,
    space: &SpillSpace,
    hash: bool,
    progress: &dyn JobProgress,
) -> Result<Surveyed> {
    progress.stage(Stage::Survey { bytes: inputs.identities().map(|identity| identity.size).sum() });
    let survey_options = SurveyOptions { anchor: options.anchor, hash };
    let plan_options = PlanOptions {
        types: options.types,
        all_columns: options.all_columns,
        layout: options.layout,
        schemas: Arc::clone(&options.schemas),
        filter: options.filter.clone(),
    };
    pool.install(|| {
        let mut files = Vec::with_capacity(inputs.len());
        for (id, input) in (0..).map(InputId).zip(&job.inputs) {
            let file = inputs.get(id)?;
            files.push(survey::survey_within(space, &*file, input.source.clone(), &survey_options, progress)?);
        }
        repeated::check(&mut files, options.allow_repeated)?;
        progress.stage(Stage::Plan);
        let facts = timed(progress, Step::Plan, || survey::settle(&mut files));
        let mut plan = plan::plan(&files, inputs, &plan_options, progress)?;
        for (file, issues) in files.iter_mut().zip(std::mem::take(&mut plan.issues)) {
            file.issues.append(issues);
        }
        Ok(Surveyed { files, facts, plan })
    })
}

/// Whether the filters leave out every event shape.
fn passes_nothing(plan: &PlanResult) -> bool {
    plan.filter.is_some() && (0..).zip(&plan.shapes).all(|(shape, _)| !plan.may_pass(shape))
}

/// The report of a trace of which no event passes the filters.
fn all_filtered(report: Report) -> Report {
    let events = EventCounts { filtered: report.events.found - report.events.damaged, ..report.events };
    Report { events, ..report }
}

/// What can be said before pass 2.
fn report(folder: &Path, surveyed: Surveyed) -> Report {
    let Surveyed { files, facts, plan } = surveyed;
    let damaged = files.iter().map(FileSurvey::damaged_events).sum::<u64>();
    let events = EventCounts {
        found: files.iter().map(FileSurvey::events).sum::<u64>() + damaged,
        written: 0,
        filtered: 0,
        damaged,
        damaged_bytes: files.iter().map(FileSurvey::damaged_bytes).sum(),
    };
    Report {
        folder: folder.to_owned(),
        time_range: window(&facts),
        files,
        facts,
        plan,
        shapes: Vec::new(),
        events,
        decode: BTreeMap::new(),
        written: Vec::new(),
        warnings: Vec::new(),
    }
}

/// From the first to the last event of all files.
fn window(facts: &[FileFacts]) -> Option<(i64, i64)> {
    let windows = || facts.iter().filter_map(FileFacts::window);
    windows().map(|window| window.0).min().zip(windows().map(|window| window.1).max())
}

/// The time of the rows without what a ring keeps from before its window: the events of its header buffer.
fn without_the_past((first, last): (i64, i64), facts: &[FileFacts]) -> (i64, i64) {
    let begin = window(facts).map_or(first, |window| window.0);
    if (first..=last).contains(&begin) { (begin, last) } else { (first, last) }
}

/// Event bytes of a partition.
fn partition_bytes(options: &ConvertOptions) -> u64 {
    options.partition_bytes.unwrap_or(partition::PARTITION_BYTES)
}

/// A conversion between plan and commit.
struct Conversion<'a> {
    job: &'a Job,
    options: &'a ConvertOptions,
    files: &'a [FileSurvey],
    facts: &'a [FileFacts],
    plan: &'a PlanResult,
    inputs: &'a PlannedInputs<'a>,
    partitions: &'a Partitions,
    staging: &'a LocalFolder,
}

impl Conversion<'_> {
    /// Pass 2: every event that the filters pass becomes a row of its table.
    fn write_events(
        &self,
        pool: &ThreadPool,
        settings: &serde_json::Value,
        space: &SpillSpace,
        progress: &dyn JobProgress,
    ) -> Result<Vec<PartReport>> {
        progress.stage(Stage::Convert { events: self.files.iter().map(FileSurvey::events).sum() });
        let (columns, writers) = pool.install(|| self.tables(settings, progress))?;
        let decoders = pool.install(|| Decoders::new(self.plan, progress))?;
        let context = SliceContext { plan: self.plan, decoders: &decoders, columns: &columns, raw: self.options.raw };
        let limits = Limits { row_group_rows: self.options.row_group_rows, memory: self.options.memory };
        let view = |partition| self.partitions.view(partition, self.inputs);
        let partitions: Vec<_> = self.partitions.list().iter().map(view).collect();
        pipeline::run(pool, context, &partitions, &writers, limits, space, progress)
    }

    /// The layout and the writer of each table.
    fn tables(
        &self,
        settings: &serde_json::Value,
        progress: &dyn JobProgress,
    ) -> Result<(Vec<Arc<TableColumns>>, Vec<TableWriter>)> {
        let (places, header) = (self.places(), self.header_fields());
        let set_up = |table| {
            let layout = self.layout(table, &header, &places);
            let writer = self.writer(table, &layout, settings)?;
            Ok((layout, writer))
        };
        let tables = self.plan.tables.par_iter().map(|table| timed(progress, Step::Schema, || set_up(table)));
        let tables: Vec<_> = tables.collect::<Result<_>>()?;
        Ok(tables.into_iter().unzip())
    }

    /// The fields of all header columns, by name: tables share them.
    fn header_fields(&self) -> BTreeMap<&'static str, Arc<Field>> {
        let mut fields = BTreeMap::new();
        for column in self.plan.tables.iter().flat_map(|table| &table.header) {
            fields.entry(column.name()).or_insert_with(|| Arc::new(column.field(&self.options.types)));
        }
        fields
    }

    /// The index of every shape among those of its table.
    fn places(&self) -> Arc<[u32]> {
        let mut places = vec![0; self.plan.shapes.len()];
        for table in &self.plan.tables {
            table.shapes.iter().zip(0..).for_each(|(&shape, place)| places[shape as usize] = place);
        }
        places.into()
    }

    fn layout(
        &self,
        table: &plan::PlannedTable,
        header: &BTreeMap<&'static str, Arc<Field>>,
        places: &Arc<[u32]>,
    ) -> Arc<TableColumns> {
        let types = self.options.types;
        let header = table.header.iter().map(|column| Arc::clone(&header[column.name()]));
        let payload = table.columns.columns.iter().map(|column| Arc::clone(&column.field));
        let fields: Vec<Arc<Field>> = header.chain(payload).collect();
        let (schema, places) = (Arc::new(Schema::new(fields)), Arc::clone(places));
        let constants = table.shapes.iter().map(|&shape| {
            let entry = self.plan.entry(&self.plan.shapes[shape as usize]);
            ShapeConstants::new(&entry.shape.key.identity, entry.event_name(), entry.shape.decode_source)
        });
        Arc::new(TableColumns::new(table.header.clone(), schema, types, constants.collect(), places))
    }

    fn writer(
        &self,
        table: &plan::PlannedTable,
        layout: &TableColumns,
        settings: &serde_json::Value,
    ) -> Result<TableWriter> {
        let spec = TableSpec {
            folder: format!("events/{}", table.dataset),
            files: FileNaming::Parts,
            schema: Arc::clone(&layout.schema),
            metadata: record::file_metadata(table, self.files, settings),
            provider_id: table.provider_id,
            provider_name: table.provider_name.clone(),
        };
        TableWriter::new(self.staging, spec, &self.encode_options())
    }

    fn encode_options(&self) -> EncodeOptions {
        EncodeOptions { compression: self.options.compression, max_file_size: self.options.max_file_size }
    }

    /// Holds three independent counts against one another: what the survey found, what the footers hold, and what
    /// pass 2 left out or could not read.
    fn account(&self, counts: &JoinedCounts, written: &[FileEntry]) -> Result<EventCounts> {
        let found_damaged: u64 = self.files.iter().map(FileSurvey::damaged_events).sum();
        let events = EventCounts {
            found: self.files.iter().map(FileSurvey::events).sum::<u64>() + found_damaged,
            written: written.iter().map(|file| file.rows).sum(),
            filtered: counts.inputs.iter().map(|file| file.filtered).sum(),
            damaged: counts.inputs.iter().map(|file| file.damaged).sum(),
            damaged_bytes: self.files.iter().map(FileSurvey::damaged_bytes).sum(),
        };
        if events.is_conserved() {
            return Ok(events);
        }
        let message = format!(
            "found {} events, but wrote {}, filtered {} and could not read {}",
            events.found, events.written, events.filtered, events.damaged
        );
        Err(Error::new(ErrorKind::Internal, message)
            .in_file(&self.job.inputs[0].path)
            .with_hint("the input changed while it was read, or this is a bug: please report it"))
    }

    fn write_sidecar(&self, counts: &JoinedCounts, mut written: Vec<FileEntry>) -> Result<Vec<FileEntry>> {
        let facts = SidecarFacts {
            files: self.files,
            facts: self.facts,
            file_counts: &counts.inputs,
            plan: self.plan,
            shape_counts: &counts.shapes,
        };
        written.extend(sidecar::write(self.staging, &facts, &self.encode_options())?);
        Ok(written)
    }
}
