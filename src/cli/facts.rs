//! The facts of a trace, as `inspect --json` shows them; the page for people is made from the same ones.
//!
//! Keys are those of the sidecar's columns where there is one. Times are Unix nanoseconds in `_ns`, text otherwise.

use std::collections::BTreeMap;

use serde::Serialize;

use super::loss::LossFacts;
use super::undecoded::UndecodedFacts;
use crate::calendar::rfc3339;
use crate::clock::{Clock, FileTime, Ticks};
use crate::convert::job::Report;
use crate::error::Result;
use crate::layout::logfile::{LOG_FILE_MODES, bit_names, mode};
use crate::plan::{CatalogEntry, DecodeSource};
use crate::survey::streams::{Stream, streams};
use crate::survey::{FileSurvey, Finding};

/// A trace.
#[derive(Debug, Serialize)]
pub(super) struct TraceFacts {
    pub trace: String,
    pub events: u64,
    pub decodable_events: u64,
    pub damaged_events: u64,
    pub damaged_bytes: u64,
    pub time: TimeRange,
    pub files: Vec<FileFacts>,
    pub providers: Vec<ProviderFacts>,
    /// What is not decodable, most events first.
    pub undecodable: Vec<UndecodedFacts>,
}

/// From the first to the last event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct TimeRange {
    pub first_time: Option<String>,
    pub last_time: Option<String>,
    pub first_time_ns: Option<i64>,
    pub last_time_ns: Option<i64>,
}

/// An input file.
#[derive(Debug, Serialize)]
pub(super) struct FileFacts {
    pub source: String,
    pub size: u64,
    pub session: SessionFacts,
    pub buffers: BufferFacts,
    pub clock: ClockFacts,
    pub loss: LossFacts,
    pub streams: Vec<StreamFacts>,
    pub findings: Vec<FindingFacts>,
}

/// What the header event says of the session.
#[derive(Debug, Serialize)]
pub(super) struct SessionFacts {
    pub logger_name: String,
    pub log_file_name: String,
    pub os_version: String,
    pub os_build: u32,
    pub pointer_size: u32,
    pub cpu_count: u32,
    pub log_file_mode: u32,
    pub log_file_mode_names: Vec<String>,
    pub maximum_file_size: u64,
    pub boot_time: Option<String>,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub start_time_ns: Option<i64>,
    pub end_time_ns: Option<i64>,
    pub closed: bool,
}

/// The buffers of a file, and how they lie in it.
#[derive(Debug, Serialize)]
pub(super) struct BufferFacts {
    pub buffer_size: u32,
    pub buffers_found: u64,
    /// `None` when the session was never closed.
    pub buffers_written: Option<u32>,
    pub layout_version: String,
    pub compressed: bool,
    pub truncated: bool,
    pub wrapped: bool,
}

/// The clock of a file.
#[derive(Debug, Serialize)]
pub(super) struct ClockFacts {
    pub clock_type: u32,
    pub clock: &'static str,
    pub perf_frequency: i64,
    pub cpu_mhz: u32,
    pub ticks_to_ns_numerator: Option<i64>,
    pub ticks_to_ns_denominator: Option<i64>,
    pub resolution_ns: Option<i64>,
    pub quality: &'static str,
    pub anchor: &'static str,
    pub start_anchor_ns: Option<i64>,
    pub boot_anchor_ns: Option<i64>,
    pub anchor_difference_ns: Option<i64>,
}

/// The buffers of one processor.
#[derive(Debug, Serialize)]
pub(super) struct StreamFacts {
    pub cpu: Option<u16>,
    pub buffers: u64,
    pub events: u64,
    pub bytes_used: u64,
    pub fill_ratio: f64,
    pub first_time_ns: Option<i64>,
    pub last_time_ns: Option<i64>,
    pub disorder_in_buffer: u64,
    pub disorder_between_buffers: u64,
    pub sequence_gaps: Option<u64>,
}

/// Something unusual.
#[derive(Debug, Serialize)]
pub(super) struct FindingFacts {
    pub severity: &'static str,
    pub code: &'static str,
    pub buffer: Option<u64>,
    pub offset: Option<u64>,
    pub time_ns: Option<i64>,
    pub message: String,
}

/// The events of one dataset.
#[derive(Debug, Serialize)]
pub(super) struct ProviderFacts {
    pub dataset: String,
    pub provider_id: Option<String>,
    pub provider_name: Option<String>,
    pub shapes: u64,
    pub events: u64,
    pub decodable_events: u64,
    /// Events by the source of their layout.
    pub decode_sources: BTreeMap<&'static str, u64>,
    pub time: TimeRange,
    /// What would make events decodable that are not.
    pub fix_hint: Option<String>,
}

impl TraceFacts {
    /// The facts of an inspected trace.
    ///
    /// # Errors
    /// When the ledger of losses cannot be read.
    pub(super) fn of(trace: &str, report: &Report) -> Result<Self> {
        let files = report.files.iter().map(FileFacts::of).collect::<Result<_>>()?;
        let providers = providers(&report.catalog);
        Ok(TraceFacts {
            trace: trace.to_owned(),
            events: report.files.iter().map(FileSurvey::events).sum(),
            decodable_events: providers.iter().map(|provider| provider.decodable_events).sum(),
            damaged_events: report.files.iter().map(FileSurvey::damaged_events).sum(),
            damaged_bytes: report.files.iter().map(FileSurvey::damaged_bytes).sum(),
            time: TimeRange::of(report.time_range),
            files,
            providers,
            undecodable: UndecodedFacts::of(report),
        })
    }
}

impl TimeRange {
    /// The range as numbers and as text.
    pub(super) fn of(range: Option<(i64, i64)>) -> Self {
        let (first, last) = range.unzip();
        TimeRange {
            first_time: first.map(rfc3339),
            last_time: last.map(rfc3339),
            first_time_ns: first,
            last_time_ns: last,
        }
    }

    /// The range as numbers.
    pub(super) fn ns(&self) -> Option<(i64, i64)> {
        self.first_time_ns.zip(self.last_time_ns)
    }
}

impl FileFacts {
    fn of(file: &FileSurvey) -> Result<Self> {
        let ns = |ticks: i64| file.clock.to_unix(Ticks(ticks)).0;
        Ok(FileFacts {
            source: file.name.clone(),
            size: file.source.len(),
            session: SessionFacts::of(file),
            buffers: BufferFacts::of(file),
            clock: ClockFacts::of(&file.clock),
            loss: LossFacts::of(file)?,
            streams: streams(file).iter().map(StreamFacts::of).collect(),
            findings: file.findings.rows().map(|finding| FindingFacts::of(finding, ns)).collect(),
        })
    }
}

/// A file time in Unix nanoseconds; 0 and less stand for none.
fn unix_ns(time: FileTime) -> Option<i64> {
    (time.0 > 0).then(|| time.to_unix().0)
}

impl SessionFacts {
    fn of(file: &FileSurvey) -> Self {
        let session = &file.session;
        let (start, end) = (unix_ns(session.start_time), unix_ns(session.end_time));
        SessionFacts {
            logger_name: session.logger_name.clone(),
            log_file_name: session.log_file_name.clone(),
            os_version: format!("{}.{}", session.os_version.0, session.os_version.1),
            os_build: session.os_build,
            pointer_size: session.pointer_size,
            cpu_count: session.cpu_count,
            log_file_mode: session.log_file_mode,
            log_file_mode_names: bit_names(session.log_file_mode, &LOG_FILE_MODES),
            maximum_file_size: session.maximum_file_size,
            boot_time: unix_ns(session.boot_time).map(rfc3339),
            start_time: start.map(rfc3339),
            end_time: end.map(rfc3339),
            start_time_ns: start,
            end_time_ns: end,
            closed: session.is_closed(),
        }
    }
}

impl BufferFacts {
    fn of(file: &FileSurvey) -> Self {
        let session = &file.session;
        let (written, found) = (session.buffers_written, file.buffers.len() as u64);
        BufferFacts {
            buffer_size: session.buffer_size,
            buffers_found: found,
            buffers_written: session.is_closed().then_some(written),
            layout_version: format!("{}.{}", session.layout_version.0, session.layout_version.1),
            compressed: file.buffers.iter().any(|buffer| buffer.frame.is_compressed()),
            truncated: file.is_truncated(),
            wrapped: session.is_closed() && session.has_mode(mode::CIRCULAR) && u64::from(written) > found,
        }
    }
}

impl ClockFacts {
    fn of(clock: &Clock) -> Self {
        let facts = clock.facts();
        let (numerator, denominator) = clock.ratio().unzip();
        let (start, boot) = (unix_ns(facts.start_time), clock.boot_anchor_ns().map(|time| time.0));
        ClockFacts {
            clock_type: facts.clock_type,
            clock: clock.kind().name(),
            perf_frequency: facts.perf_frequency,
            cpu_mhz: facts.cpu_mhz,
            ticks_to_ns_numerator: numerator,
            ticks_to_ns_denominator: denominator,
            resolution_ns: clock.resolution_ns(),
            quality: clock.quality(),
            anchor: clock.anchor().name(),
            start_anchor_ns: start,
            boot_anchor_ns: boot,
            anchor_difference_ns: start.zip(boot).and_then(|(start, boot)| boot.checked_sub(start)),
        }
    }
}

impl StreamFacts {
    fn of(stream: &Stream) -> Self {
        StreamFacts {
            cpu: stream.cpu,
            buffers: stream.buffers,
            events: stream.events,
            bytes_used: stream.bytes_used,
            fill_ratio: stream.fill_ratio,
            first_time_ns: stream.first_ns,
            last_time_ns: stream.last_ns,
            disorder_in_buffer: stream.disorder_in_buffer,
            disorder_between_buffers: stream.disorder_between_buffers,
            sequence_gaps: stream.sequence_gaps,
        }
    }
}

impl FindingFacts {
    fn of(finding: Finding, ns: impl Fn(i64) -> i64) -> Self {
        FindingFacts {
            severity: finding.severity.name(),
            code: finding.code,
            buffer: finding.buffer,
            offset: finding.offset,
            time_ns: finding.ticks.map(ns),
            message: finding.message,
        }
    }
}

/// The shapes of each dataset added up; most events first.
pub(super) fn providers(catalog: &[CatalogEntry]) -> Vec<ProviderFacts> {
    let mut datasets: BTreeMap<&str, Vec<&CatalogEntry>> = BTreeMap::new();
    for entry in catalog {
        datasets.entry(&entry.dataset).or_default().push(entry);
    }
    let mut providers: Vec<_> = datasets.into_iter().map(|(dataset, entries)| provider(dataset, &entries)).collect();
    providers.sort_by_key(|provider| std::cmp::Reverse(provider.events));
    providers
}

fn provider(dataset: &str, entries: &[&CatalogEntry]) -> ProviderFacts {
    let decodable = || entries.iter().filter(|entry| entry.decode_source != DecodeSource::None);
    let mut decode_sources = BTreeMap::new();
    for entry in entries {
        *decode_sources.entry(entry.decode_source.name()).or_default() += entry.events;
    }
    let first = entries.iter().map(|entry| entry.first_ns).min();
    ProviderFacts {
        dataset: dataset.to_owned(),
        provider_id: entries.iter().find_map(|entry| entry.key.identity.provider_id()).map(|id| id.to_string()),
        provider_name: entries.iter().find_map(|entry| entry.provider_name.clone()),
        shapes: entries.len() as u64,
        events: entries.iter().map(|entry| entry.events).sum(),
        decodable_events: decodable().map(|entry| entry.events).sum(),
        decode_sources,
        time: TimeRange::of(first.zip(entries.iter().map(|entry| entry.last_ns).max())),
        fix_hint: entries.iter().find_map(|entry| entry.fix_hint.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Identity;
    use crate::guid::Guid;
    use crate::layout::header::HeaderKind;

    /// A shape of a dataset.
    fn entry(dataset: &str, source: DecodeSource, events: u64, first_ns: i64) -> CatalogEntry {
        let provider = Guid::from_parts(1, 2, 3, 4);
        let identity = Identity {
            provider,
            group: 0,
            id: 1,
            version: 0,
            opcode: 0,
            property: 0,
            pointer_size: 8,
            kind: HeaderKind::Event64,
        };
        CatalogEntry {
            provider_name: Some(dataset.to_owned()),
            dataset: dataset.to_owned(),
            fix_hint: (source == DecodeSource::None).then(|| "give its manifest".to_owned()),
            events,
            first_ns,
            last_ns: first_ns + 10,
            ..CatalogEntry::bare(identity, source)
        }
    }

    #[test]
    fn shapes_add_up_to_providers() {
        let catalog = [
            entry("Small", DecodeSource::TraceLogging, 3, 50),
            entry("Big", DecodeSource::None, 4, 20),
            entry("Big", DecodeSource::Pack, 6, 5),
        ];
        let found = providers(&catalog);
        let names: Vec<_> = found.iter().map(|provider| provider.dataset.as_str()).collect();
        assert_eq!(names, ["Big", "Small"]);
        let big = &found[0];
        assert_eq!((big.shapes, big.events, big.decodable_events), (2, 10, 6));
        assert_eq!(big.decode_sources, BTreeMap::from([("none", 4), ("pack", 6)]));
        assert_eq!(big.time.ns(), Some((5, 30)));
        assert_eq!(big.provider_id.as_deref(), Some("00000001-0002-0003-0000-000000000004"));
        assert_eq!(big.fix_hint.as_deref(), Some("give its manifest"));
        assert_eq!(found[1].fix_hint, None);
    }

    #[test]
    fn no_events_have_no_time() {
        assert_eq!(
            serde_json::to_string(&TimeRange::of(None)).unwrap(),
            r#"{"first_time":null,"last_time":null,"first_time_ns":null,"last_time_ns":null}"#
        );
        assert_eq!(TimeRange::of(Some((0, 1))).last_time.as_deref(), Some("1970-01-01T00:00:00.000000001Z"));
    }
}
