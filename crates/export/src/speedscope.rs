//! The file format of speedscope: a profile for each thread, with its samples or waits in the order of time.
//!
//! Names of keys and their meaning: <https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources>, and the schema
//! <https://www.speedscope.app/file-format-schema.json>. Stacks are written out from the outermost function on, as numbers of frames;
//! the frames stand at the end, when all of them are known.

use std::collections::HashMap;

use base::error::Result;
use base::progress::stop_if_cancelled;
use published::sampling::Sampling;
use serde_json::{Value, json};

use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::profile::{Call, Code, Place, Processes, Record, Records, Thread, Weights};
use crate::request::Of;

/// Samples or waits that there is room for: 64 MiB, and more in speedscope, which holds all of them.
const MOST_RECORDS: usize = 1 << 21;

/// Writes a trace for speedscope. Samples weigh the nanoseconds that they stand for, or each 1 where the trace does not say
/// these; waits weigh their nanoseconds.
///
/// # Errors
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when there are more samples than there is room for;
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the file cannot be written.
pub(crate) fn speedscope(opened: &Opened<'_>, of: Of, output: &mut Output<'_>) -> Result<Exported> {
    let (mut exported, mut weights) = (Exported::default(), Weights::default());
    let records = Records::read(opened, of, MOST_RECORDS, &mut weights, &mut exported, |_| true)?;
    weights.warn(&mut exported);
    let code = Code::of(opened, &mut weights, &mut exported)?;
    let each = match of {
        Of::Samples => Sampling::of(&opened.source)?.interval(),
        Of::Waits => Some(1),
    };
    let mut frames = Frames { code: &code, names: Vec::new(), numbers: HashMap::new(), known: HashMap::new() };
    output.put(head(opened.name()).as_bytes())?;
    for (position, (thread, records)) in records.by_thread().enumerate() {
        stop_if_cancelled(opened.source.progress())?;
        let separator = if position == 0 { "" } else { ",\n" };
        let unit = if each.is_some() { "nanoseconds" } else { "none" };
        let title = title(&weights.processes, thread);
        output.put(format!("{separator}{{\"type\":\"sampled\",\"name\":{title},\"unit\":\"{unit}\",").as_bytes())?;
        let profile = Profile { records, each: each.unwrap_or(1) };
        profile.write(&mut frames, output)?;
    }
    output.put(b"],\n\"shared\":{\"frames\":[")?;
    for (position, frame) in frames.names.iter().enumerate() {
        let separator = if position == 0 { "" } else { ",\n" };
        output.put(format!("{separator}{frame}").as_bytes())?;
    }
    output.put(b"]}}\n")?;
    Ok(exported)
}

fn head(name: &str) -> String {
    let exporter = json!(concat!("etl2parquet ", env!("CARGO_PKG_VERSION")));
    format!(
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":{},\"exporter\":{exporter},\
         \"activeProfileIndex\":0,\n\"profiles\":[",
        json!(name)
    )
}

/// What a profile is called, as a text of JSON.
fn title(processes: &Processes, thread: Thread) -> Value {
    let process = processes.get(thread.process).map(ToString::to_string).unwrap_or_default();
    json!(thread.id.map_or(process.clone(), |id| format!("{process}, thread {id}")))
}

/// The profile of a thread.
struct Profile<'a> {
    records: &'a [Record],
    /// What an amount of 1 weighs.
    each: u64,
}

impl Profile<'_> {
    fn write(&self, frames: &mut Frames<'_>, output: &mut Output<'_>) -> Result<()> {
        let weights = || self.records.iter().map(|record| record.amount.saturating_mul(self.each));
        let sum = weights().fold(0_u64, u64::saturating_add);
        output.put(format!("\"startValue\":0,\"endValue\":{sum},\n\"samples\":[").as_bytes())?;
        let mut text = String::new();
        for (position, record) in self.records.iter().enumerate() {
            text.clear();
            text.push_str(if position == 0 { "[" } else { ",[" });
            frames.push(record.place, &mut text);
            text.push(']');
            output.put(text.as_bytes())?;
        }
        output.put(b"],\n\"weights\":[")?;
        for (position, weight) in weights().enumerate() {
            output.put(format!("{}{weight}", if position == 0 { "" } else { "," }).as_bytes())?;
        }
        output.put(b"]}")
    }
}

/// The functions, each once.
struct Frames<'a> {
    code: &'a Code,
    /// As they stand in the file.
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    known: HashMap<u32, Vec<u32>>,
}

impl Frames<'_> {
    /// Writes the numbers of the functions of a place, from the outermost on, with commas between.
    fn push(&mut self, place: Place, text: &mut String) {
        let code = self.code;
        let mut numbers: Vec<u32> = code.stack(place).iter().flat_map(|frame| self.of(*frame)).collect();
        if numbers.is_empty() {
            numbers.push(self.number(&json!({ "name": place.text() })));
        }
        for (position, number) in numbers.iter().rev().enumerate() {
            text.push_str(if position == 0 { "" } else { "," });
            text.push_str(&number.to_string());
        }
    }

    /// The numbers of the functions of a frame, the one that is inlined furthest first.
    fn of(&mut self, frame: u32) -> Vec<u32> {
        if let Some(numbers) = self.known.get(&frame) {
            return numbers.clone();
        }
        let code = self.code;
        let numbers: Vec<u32> = code.calls(frame).map(|call| self.call(&call)).collect();
        self.known.insert(frame, numbers.clone());
        numbers
    }

    fn call(&mut self, call: &Call<'_>) -> u32 {
        let name = call.to_string();
        match call.source_file {
            Some(file) => self.number(&json!({ "name": name, "file": file })),
            None => self.number(&json!({ "name": name })),
        }
    }

    fn number(&mut self, frame: &Value) -> u32 {
        let text = frame.to_string();
        let Frames { names, numbers, .. } = self;
        *numbers.entry(text).or_insert_with_key(|text| {
            names.push(text.clone());
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        })
    }
}
