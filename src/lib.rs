//! Converts Windows ETW traces (`.etl`) into Parquet datasets: one schema per provider, exact time order, any operating
//! system.
//!
//! # What an ETL file is
//!
//! Windows and its programs write *events*: a provider's GUID, an id, a time, a processor, a process, and a *payload* of
//! bytes that the event itself rarely describes. A recorder, the *session*, collects them in *buffers* of a fixed size,
//! one row of buffers per processor, and writes each to the file as it fills:
//!
//! ```text
//! a.etl  ┌──────────────┬──────────────┬──────────────┬──────────────┐
//!        │ buffer, CPU 0│ buffer, CPU 1│ buffer, CPU 0│ buffer, CPU 1│  …
//!        └──────────────┴──────────────┴──────────────┴──────────────┘
//!          72-byte header, then events: header, extended items, payload; times ascend within a processor only
//! ```
//!
//! The first event describes the session: its clock, its processors, what it lost. So three questions stand between the
//! file and a table: *in which order* were the events, which buffers of several processors hold each for itself; *what do
//! the payloads mean*, which manifests, event classes, message formats or the events themselves say; and *what is
//! missing*, for recorders drop events when they cannot keep up. A conversion answers all three, and says how.
//!
//! # The steps
//!
//! ```text
//! open ──► survey ──► plan ──► convert ──► commit
//!          every      which    payloads    counts must meet, then one rename
//!          header     layout   to columns  makes the trace appear
//! ```
//!
//! [`inspect`] ends behind the plan and writes nothing; [`convert`] goes all the way; [`steps`] has the same as functions
//! that several processes can share. Whatever happens, a trace is there whole or not at all.
//!
//! ```
//! use etl2parquet::{ConvertOptions, NoProgress, Outcome, Recording, convert, inspect};
//!
//! # fn main() -> etl2parquet::Result<()> {
//! let recording = Recording::of_file("examples/example.etl");
//! let out = tempfile::tempdir().expect("a temporary folder");
//! let options = ConvertOptions::new(out.path()).threads(2);
//!
//! // What is in it?
//! let found = inspect(&recording, &options, &NoProgress)?;
//! assert_eq!(found.report.events.found, 1219);
//!
//! // To Parquet: every event found is written, filtered or damaged, and nothing else.
//! let Outcome::Published(report) = convert(&recording, &options, &NoProgress)? else { panic!("expected a trace") };
//! assert!(report.folder.ends_with("trace=example"));
//! assert_eq!((report.events.written, report.events.damaged), (1219, 0));
//!
//! // The sidecar shows what the recording lost.
//! let losses: Vec<_> = report.facts.iter().flat_map(etl2parquet::rows::lost_events).collect();
//! assert!(losses.iter().any(|row| row.count == Some(3) && row.unit == "events"));
//! # Ok(())
//! # }
//! ```
//!
//! # Reading the result
//!
//! A dataset is a folder of Parquet files with one schema, so any reader will do.
//!
//! ```
//! # use etl2parquet::{ConvertOptions, NoProgress, Recording, convert};
//! use parquet::file::reader::{FileReader, SerializedFileReader};
//!
//! # let out = tempfile::tempdir().unwrap();
//! # convert(&Recording::of_file("examples/example.etl"), &ConvertOptions::new(out.path()), &NoProgress).unwrap();
//! let part = out.path().join("trace=example/events/Microsoft-Windows-DNS-Client/part-00000-00000.parquet");
//! let reader = SerializedFileReader::new(std::fs::File::open(part).unwrap()).unwrap();
//! let metadata = reader.metadata().file_metadata();
//! assert_eq!(metadata.num_rows(), 73);
//! let columns: Vec<&str> = metadata.schema_descr().columns().iter().map(|column| column.name()).collect();
//! assert!(columns.contains(&"timestamp") && columns.contains(&"QueryName"));
//! ```
//!
//! Without files between, [`Trace`] gives the rows of a dataset as Arrow record batches, in the order of their times: as
//! many columns and events as were asked for, as often as they are asked for, and no faster than they are taken.
//!
//! ```
//! use etl2parquet::{ConvertOptions, Filter, NoProgress, Recording, Trace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recording = Recording::of_file("examples/example.etl");
//! let trace = Trace::open(&recording, &ConvertOptions::new(""), &NoProgress)?;
//! let dns = trace.datasets().find(|dataset| dataset.name == "Microsoft-Windows-DNS-Client");
//! assert_eq!(dns.map(|dataset| dataset.events), Some(73));
//!
//! let errors = Filter { level: Some(2), ..Filter::default() };
//! let stream = trace.stream("Microsoft-Windows-DNS-Client", Some(&["timestamp", "QueryName"]), &errors)?;
//! for batch in stream {
//!     let batch = batch?;
//!     assert_eq!(batch.schema().field(1).name(), "QueryName");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Failures
//!
//! An [`Error`] says what was expected and found, where, and what to do about it; its [`code`](Error::code) stays the
//! same while messages may change. Damage in a trace is no failure: what can be read is converted, and the rest is counted
//! and listed.
//!
//! ```
//! use etl2parquet::{ConvertOptions, ErrorCode, NoProgress, Recording, inspect};
//!
//! let error = inspect(&Recording::of_file("Cargo.toml"), &ConvertOptions::new(""), &NoProgress).unwrap_err();
//! assert_eq!(error.code(), ErrorCode::NotATrace);
//! assert!(error.location().file.is_some() && error.hint().is_some());
//! ```
//!
//! What is not on this page is not part of the interface and changes without notice.

#[doc(hidden)]
pub mod cli;

pub use base::clock::ClockAnchor;
pub use base::error::{Error, ErrorCode, ErrorKind, Location, Result};
pub use base::guid::Guid;
pub use base::progress::{NoProgress, Progress, Step};
pub use columnar::columns::types::{GuidType, IntegerType, TimestampType, TypeOptions};
pub use columnar::dataset::properties::Compression;
pub use columnar::output::IfExists;
pub use columnar::output::folder::CleanupRegistry;
pub use columnar::output::manifest::{CommitRecord, EventCounts, FileEntry, InputEntry, LossCounts, RunInfo};
pub use conversion::convert::options::ConvertOptions;
pub use conversion::convert::{
    Checks, InputCounts, InputFile, JobProgress, MaxLoss, MessagePolicy, Outcome, RawPolicy, Recording, Report,
    ShapeCounts, StackPolicy, Stage, ViewScripts,
};
pub use conversion::inspect::Inspection;
pub use conversion::job::stream::EventStream;
pub use conversion::job::trace::{DatasetInfo, Trace};
pub use conversion::job::{Inspected, convert, inspect};
pub use conversion::plan::datasets::DatasetSplit;
pub use conversion::plan::filter::{EventPattern, Filter, NamePattern, NumberSet, TimeBound};
pub use conversion::sidecar::SidecarBatches;
pub use schema::files::SkippedSchema;
pub use schema::load::{SchemaSet, load as load_schemas, load_in as load_schemas_in};

/// A conversion in steps that other processes or machines may take: the plan is a folder, and each partition of it can be
/// converted by whoever sees that folder and the inputs, again after a failure, in any order.
///
/// ```
/// use etl2parquet::steps::{CommitOutcome, PlanOutcome, StepOptions, commit, convert_partition, plan};
/// use etl2parquet::{ConvertOptions, NoProgress, Outcome, Recording};
///
/// # fn main() -> etl2parquet::Result<()> {
/// # let out = tempfile::tempdir().expect("a temporary folder");
/// let recording = Recording::of_file("examples/example.etl");
/// let planned = plan(&recording, &ConvertOptions::new(out.path()), &NoProgress)?;
/// let PlanOutcome::Planned { folder, partitions } = planned else { panic!("expected a plan") };
/// for number in (0..).take(partitions) {
///     convert_partition(&folder, number, &StepOptions::default(), &NoProgress)?;
/// }
/// let committed = commit(&folder, &StepOptions::default(), &NoProgress)?;
/// let CommitOutcome::Done(Outcome::Published(report)) = committed else { panic!("expected a trace") };
/// assert_eq!(report.events.written, 1219);
/// # Ok(())
/// # }
/// ```
pub mod steps {
    pub use conversion::job::steps::{
        CommitOutcome, PartOutcome, PlanOutcome, StepOptions, commit, convert_partition, plan, survey_stretch,
    };
    pub use conversion::survey::Stretch;
}

/// Rows of the sidecar's tables that follow from a report, as the files and `inspect --json` have them.
pub mod rows {
    pub use conversion::sidecar::answers::rows as answers;
    pub use conversion::sidecar::clock::row as clock;
    pub use conversion::sidecar::issues::{advice, rows as issues};
    pub use conversion::sidecar::lost_events::rows as lost_events;
    pub use conversion::sidecar::sessions::row as session;
    pub use conversion::sidecar::streams::rows as streams;
    pub use conversion::sidecar::{AnswerRow, ClockRow, IssueRow, LossRow, NotRecorded, SessionRow, StreamRow, Time};
    pub use conversion::survey::loss::LossKind;
    pub use conversion::survey::{IssueCode, Severity};
}
