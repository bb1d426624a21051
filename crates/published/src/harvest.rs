//! What a published trace keeps of the descriptions in its input: the rows of those that merging tools appended, the chunks of
//! manifests that providers wrote, and the names of providers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::error::Result;
use base::guid::Guid;
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::CommitRecord;
use conversion::read_columns;
use conversion::sidecar::SessionRow;
use conversion::sidecar::catalog::CatalogRow;
use etl::layout::kernel::EVENT_METADATA_CLASS;
use etl::layout::logfile::mode;
use schema::budget::Budget;
use schema::event_info::{AddError, EventInfoSet, OPCODE_EVENT_INFO, OPCODE_MAP_INFO};
use schema::eventsource::{self, ChunkLocation, ChunkPayloads, Delivery, EventSourceManifests};
use schema::harvest::Harvest;

use super::sidecar::Sidecar;
use super::table::TableFile;
use super::trace::PublishedTrace;

/// What all descriptions of a trace may take, as in a conversion.
const MAX_KEPT_BYTES: usize = 32 << 20;
/// Descriptions that are wrong and named; the rest is a number.
const NAMED: usize = 64;

/// What a published trace says of payloads, and what of it is not used, as messages.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read,
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn harvest_of(trace: &PublishedTrace, progress: &dyn Progress) -> Result<(Harvest, Vec<String>)> {
    let record = trace.record()?;
    let sidecar = Sidecar::of(&*trace.store, &record, progress);
    let mut reader = Reader {
        trace,
        record: &record,
        progress,
        budget: Budget::new(MAX_KEPT_BYTES),
        issues: Vec::new(),
        more_issues: 0,
    };
    let (mut shapes, mut harvest) = (Shapes::default(), Harvest::default());
    sidecar.rows::<ShapeOf<'_>>(|row| shapes.add(&row, &mut harvest))?;
    let mut infos = EventInfoSet::new();
    for dataset in &shapes.described {
        reader.descriptions(dataset, &mut infos)?;
    }
    harvest.add_event_info(&infos.finish(), build(&sidecar)?);
    let mut manifests = EventSourceManifests::new();
    for (dataset, providers) in &shapes.chunks {
        reader.chunks(dataset, providers, &mut manifests)?;
    }
    manifests.finish();
    for issue in manifests.take_issues() {
        reader.note(format!("manifest that provider {} wrote into the trace: {}", issue.provider, issue.fault));
    }
    manifests.all().for_each(|manifest| harvest.add_manifest(manifest));
    Ok((harvest, reader.into_issues()))
}

read_columns! {
    /// Of an event shape, where its rows are and what describes it.
    struct ShapeOf<'b> of CatalogRow<'static> {
        shape: u32,
        provider_id: Option<&'b str>,
        provider_name: Option<&'b str>,
        dataset: &'b str,
        event_id: Option<u16>,
        opcode: Option<u8>,
        decode_source: &'b str,
    }
}

read_columns! {
    /// The system that recorded an input.
    struct System of SessionRow {
        os_build: u32,
        log_file_mode: u32,
    }
}

read_columns! {
    /// A description that a merging tool appended.
    struct DescriptionRow<'b> {
        opcode: Option<u8> = "opcode",
        info: Option<&'b [u8]> = "TraceEventInfo",
        provider: Option<&'b str> = "ProviderGuid",
        map: Option<&'b [u8]> = "EventMapInfo",
    }
}

read_columns! {
    /// A chunk of a manifest.
    struct ChunkRow<'b> {
        shape: Option<u32> = "shape",
        process_id: Option<u32> = "process_id",
        ticks: Option<i64> = "timestamp_ns",
        format: Option<u8> = "Format",
        major: Option<u8> = "MajorVersion",
        minor: Option<u8> = "MinorVersion",
        magic: Option<u8> = "Magic",
        total: Option<u16> = "TotalChunks",
        number: Option<u16> = "ChunkNumber",
        data: Option<&'b str> = "Data",
    }
}

/// Where rows with descriptions are.
#[derive(Default)]
struct Shapes {
    /// The datasets with descriptions that merging tools appended.
    described: BTreeSet<String>,
    /// Those with chunks of manifests, and by shape whose they are.
    chunks: BTreeMap<String, HashMap<u32, Guid>>,
}

impl Shapes {
    fn add(&mut self, row: &ShapeOf<'_>, harvest: &mut Harvest) {
        let Some(provider) = row.provider_id.and_then(|id| id.parse::<Guid>().ok()) else { return };
        let is_description = matches!(row.opcode, Some(OPCODE_EVENT_INFO | OPCODE_MAP_INFO));
        if provider == EVENT_METADATA_CLASS && is_description {
            self.described.insert(row.dataset.to_owned());
        }
        if row.event_id == Some(eventsource::EVENT_ID) && row.decode_source == "eventsource" {
            self.chunks.entry(row.dataset.to_owned()).or_default().insert(row.shape, provider);
        }
        if row.decode_source == "tracelogging" {
            harvest.add_name(provider, row.provider_name.unwrap_or_default());
        }
    }
}

/// The build of Windows that recorded all inputs; `None` where it is not recorded, or not one.
fn build(sidecar: &Sidecar<'_>) -> Result<Option<u32>> {
    let mut builds = BTreeSet::new();
    sidecar.rows::<System>(|row| {
        // Programs that record themselves or write traces anew name an older system than the one that they run on.
        let is_of_system = row.log_file_mode & (mode::PRIVATE_LOGGER | mode::RELOG) == 0;
        builds.insert(Some(row.os_build).filter(|&build| build > 0 && is_of_system));
    })?;
    let only = builds.first().copied().flatten();
    Ok(only.filter(|_| builds.len() == 1))
}

struct Reader<'a> {
    trace: &'a PublishedTrace,
    record: &'a CommitRecord,
    progress: &'a dyn Progress,
    budget: Budget,
    issues: Vec<String>,
    more_issues: u64,
}

impl Reader<'_> {
    /// Takes note of what is not used, of each kind once.
    fn note(&mut self, issue: String) {
        if self.issues.contains(&issue) {
            return;
        }
        if self.issues.len() < NAMED {
            self.issues.push(issue);
        } else {
            self.more_issues += 1;
        }
    }

    fn into_issues(mut self) -> Vec<String> {
        if self.more_issues > 0 {
            self.issues.push(format!("{} more descriptions are not used", self.more_issues));
        }
        self.issues
    }

    /// The files of a dataset, in the order of their rows.
    fn files(&self, dataset: &str) -> Result<Vec<TableFile>> {
        let folder = format!("events/{dataset}/");
        let is_own = |path: &&str| path.strip_prefix(folder.as_str()).is_some_and(|rest| !rest.contains('/'));
        let mut paths: Vec<&str> = self.record.files.iter().map(|file| file.path.as_str()).filter(is_own).collect();
        paths.sort_unstable();
        paths.into_iter().map(|path| TableFile::open(&*self.trace.store, path)).collect()
    }

    fn descriptions(&mut self, dataset: &str, infos: &mut EventInfoSet) -> Result<()> {
        for file in self.files(dataset)? {
            stop_if_cancelled(self.progress)?;
            let progress = self.progress;
            file.rows::<DescriptionRow<'_>>(None, progress, |row| {
                if let Err(error) = add_description(&row, infos, &mut self.budget) {
                    self.note(format!("a schema description is not used: {error}"));
                }
            })?;
        }
        Ok(())
    }

    fn chunks(
        &mut self,
        dataset: &str,
        shapes: &HashMap<u32, Guid>,
        manifests: &mut EventSourceManifests,
    ) -> Result<()> {
        let payloads = ChunkPayloads::default();
        for file in self.files(dataset)? {
            let progress = self.progress;
            file.rows::<ChunkRow<'_>>(None, progress, |row| {
                let Some(&provider) = row.shape.and_then(|shape| shapes.get(&shape)) else { return };
                match row.payload() {
                    Ok(payload) => {
                        let payload = payloads.share(provider, &payload);
                        let location =
                            ChunkLocation { ticks: row.ticks.unwrap_or_default(), ..ChunkLocation::default() };
                        let process_id = row.process_id.unwrap_or(0);
                        let delivery = Delivery { provider, process_id, location, payload: &payload };
                        manifests.push(&delivery, &mut self.budget);
                    }
                    Err(reason) => {
                        self.note(format!("manifest that provider {provider} wrote into the trace: {reason}"));
                    }
                }
            })?;
        }
        Ok(())
    }
}

fn add_description(
    row: &DescriptionRow<'_>,
    infos: &mut EventInfoSet,
    budget: &mut Budget,
) -> std::result::Result<(), AddError> {
    match (row.opcode, row.info, row.provider, row.map) {
        (Some(OPCODE_EVENT_INFO), Some(info), ..) => infos.add_event_info(info, budget),
        (Some(OPCODE_MAP_INFO), _, Some(provider), Some(map)) => {
            let Ok(provider) = provider.parse::<Guid>() else { return Ok(()) };
            infos.add_map_info(&[&provider.0[..], map].concat(), budget)
        }
        _ => Ok(()),
    }
}

impl ChunkRow<'_> {
    /// The payload that the columns were made of.
    fn payload(&self) -> std::result::Result<Vec<u8>, &'static str> {
        let columns = (self.format, self.major, self.minor, self.magic, self.total, self.number, self.data);
        let (Some(format), Some(major), Some(minor), Some(magic), Some(total), Some(number), Some(data)) = columns
        else {
            return Err(
                "expected its chunks in the columns Format to Data, found them elsewhere: harvest the trace itself",
            );
        };
        if total > 1 && !data.is_ascii() {
            // A chunk can end within a character, and its text is then another.
            return Err("expected ASCII in a manifest of several chunks, found more: harvest the trace itself");
        }
        let head = [format, major, minor, magic];
        Ok([&head[..], &total.to_le_bytes(), &number.to_le_bytes(), data.as_bytes()].concat())
    }
}
