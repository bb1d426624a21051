//! A profile from its sums to its bytes.

use base::error::Result;
use base::progress::stop_if_cancelled;
use flate2::Compression;
use flate2::write::GzEncoder;
use published::sampling::Sampling;

use super::tables::Tables;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::{Output, failure};
use crate::profile::{Code, Place, Weight, Weights, amounts};
use crate::protobuf::Message;
use crate::request::Of;

/// Fields of `Profile`.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const TIME_NANOS: u64 = 9;
const DURATION_NANOS: u64 = 10;
const PERIOD_TYPE: u64 = 11;
const PERIOD: u64 = 12;
const COMMENT: u64 = 13;

/// Writes a trace as a profile of pprof: how many samples, and the time that they stand for where the trace says it; or how many
/// waits, and how long.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the file cannot be written.
pub(crate) fn pprof(opened: &Opened<'_>, of: Of, output: &mut Output<'_>) -> Result<Exported> {
    let (mut exported, mut weights, mut span) = (Exported::default(), Weights::default(), None);
    amounts(opened, of, &mut exported, |amount| {
        weights.add(&amount);
        let (first, last) = span.unwrap_or((amount.from, amount.time));
        span = Some((first.min(amount.from), last.max(amount.time)));
    })?;
    weights.warn(&mut exported);
    let code = Code::of(opened, &mut weights, &mut exported)?;
    let kind = Kind::of(of, opened)?;
    // Neither a name nor a time of the file is in the head: the same trace is the same bytes.
    let mut tables = Tables::begin(GzEncoder::new(output, Compression::default()), &code)?;
    kind.put(&mut tables, span)?;
    let mut places = Places { code: &code, weights: &weights, nowhere: [None; 2] };
    for (process, place, weight) in weights.iter() {
        stop_if_cancelled(opened.source.progress())?;
        let locations = places.locations(place, &mut tables)?;
        let mut sample = Message::default().numbers(1, locations).numbers(2, kind.values(weight));
        for label in places.labels(process, &mut tables)? {
            sample = sample.message(3, &label);
        }
        tables.put(&Message::default().message(SAMPLE, &sample))?;
    }
    tables.end().finish().map_err(failure)?;
    Ok(exported)
}

/// What is counted.
#[derive(Clone, Copy)]
struct Kind {
    of: Of,
    /// Nanoseconds that a sample stands for.
    interval: Option<u64>,
}

impl Kind {
    fn of(of: Of, opened: &Opened<'_>) -> Result<Kind> {
        let interval = match of {
            Of::Samples => Sampling::of(&opened.source)?.interval(),
            Of::Waits => None,
        };
        Ok(Kind { of, interval })
    }

    /// The values of a sample, in the order of their types.
    fn values(self, weight: Weight) -> Vec<u64> {
        // The format has signed ones.
        let most = |value: u64| value.min(i64::MAX.unsigned_abs());
        match (self.of, self.interval) {
            (Of::Waits, _) => vec![most(weight.count), most(weight.amount)],
            (Of::Samples, Some(each)) => vec![most(weight.count), most(weight.count.saturating_mul(each))],
            (Of::Samples, None) => vec![most(weight.count)],
        }
    }

    /// Writes what the values are, and when they were.
    fn put<W: std::io::Write>(self, tables: &mut Tables<'_, W>, span: Option<(i64, i64)>) -> Result<()> {
        let types: &[(&str, &str)] = match (self.of, self.interval) {
            (Of::Waits, _) => &[("waits", "count"), ("off_cpu", "nanoseconds")],
            (Of::Samples, Some(_)) => &[("samples", "count"), ("cpu", "nanoseconds")],
            (Of::Samples, None) => &[("samples", "count")],
        };
        let mut fields = Message::default();
        for (name, unit) in types {
            fields = fields.message(SAMPLE_TYPE, &value_type(tables, name, unit)?);
        }
        let (first, last) = span.unwrap_or((0, 0));
        let length = last.checked_sub(first).and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
        fields = fields.number(TIME_NANOS, first.cast_unsigned()).number(DURATION_NANOS, length);
        if let Some(each) = self.interval {
            fields = fields.message(PERIOD_TYPE, &value_type(tables, "cpu", "nanoseconds")?).number(PERIOD, each);
        }
        let comment = tables.string(concat!("etl2parquet ", env!("CARGO_PKG_VERSION")))?;
        tables.put(&fields.numbers(COMMENT, [comment]))
    }
}

fn value_type<W: std::io::Write>(tables: &mut Tables<'_, W>, name: &str, unit: &str) -> Result<Message> {
    Ok(Message::default().number(1, tables.string(name)?).number(2, tables.string(unit)?))
}

/// Where sums belong.
struct Places<'a> {
    code: &'a Code,
    weights: &'a Weights,
    /// The locations of what has no stack: none was recorded, there was no room for it.
    nowhere: [Option<u64>; 2],
}

impl Places<'_> {
    /// The locations of a place, the leaf first.
    fn locations<W: std::io::Write>(&mut self, place: Place, tables: &mut Tables<'_, W>) -> Result<Vec<u64>> {
        let frames = self.code.stack(place);
        if !frames.is_empty() {
            return frames.iter().map(|frame| tables.location(*frame)).collect();
        }
        let [missing, left_out] = &mut self.nowhere;
        let kept = if place == Place::LeftOut { left_out } else { missing };
        let number = kept.map_or_else(|| tables.nowhere(place.text()), Ok)?;
        *kept = Some(number);
        Ok(vec![number])
    }

    /// Whose a sample is.
    fn labels<W: std::io::Write>(&self, process: u32, tables: &mut Tables<'_, W>) -> Result<Vec<Message>> {
        let mut labels = Vec::new();
        let Some(process) = self.weights.processes.get(process) else { return Ok(labels) };
        let (key, text) = (tables.string("process")?, tables.string(&process.to_string())?);
        labels.push(Message::default().number(1, key).number(2, text));
        if let Some(id) = process.id.and_then(|id| u64::try_from(id).ok()) {
            labels.push(Message::default().number(1, tables.string("pid")?).number(3, id));
        }
        Ok(labels)
    }
}
