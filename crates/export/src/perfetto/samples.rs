//! Samples with their stacks. Functions, modules, frames and stacks get numbers, and are written where they occur first.

use std::collections::HashMap;
use std::hash::Hash;

use base::error::Result;
use base::progress::stop_if_cancelled;
use published::sampling::Sampling;

use super::packets::{Packets, Sequence, id};
use crate::cut::cut;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::profile::{Call, Code, Place, Weights, amounts, build_id, too_many};
use crate::protobuf::Message;
use crate::request::Of;

/// Samples that there is room for: 64 MiB, and more in the viewer, which holds all of them.
const MOST_SAMPLES: usize = 1 << 20;
/// Bytes of a name.
const MOST_NAME: usize = 1024;

/// Fields of `TracePacket`.
const INTERNED_DATA: u64 = 12;
const SEQUENCE_FLAGS: u64 = 13;
const DEFAULTS: u64 = 59;
const PERF_SAMPLE: u64 = 66;
/// `SEQ_INCREMENTAL_STATE_CLEARED`, `SEQ_NEEDS_INCREMENTAL_STATE`.
const CLEARED: u64 = 1;
const NEEDS: u64 = 2;
/// `TracePacketDefaults.perf_sample_defaults`, `PerfSampleDefaults.timebase`, fields of `PerfEvents.Timebase`, `SW_CPU_CLOCK`.
const SAMPLE_DEFAULTS: u64 = 12;
const TIMEBASE: u64 = 1;
const PERIOD: u64 = 1;
const COUNTER: u64 = 4;
const CPU_CLOCK: u64 = 1;
/// Fields of `PerfSample`.
const CPU: u64 = 1;
const PID: u64 = 2;
const TID: u64 = 3;
const CALLSTACK: u64 = 4;
/// Fields of `InternedData`, and of the messages in it.
const FUNCTION_NAMES: u64 = 5;
const FRAMES: u64 = 6;
const CALLSTACKS: u64 = 7;
const BUILD_IDS: u64 = 16;
const MAPPING_PATHS: u64 = 17;
const MAPPINGS: u64 = 19;
const IID: u64 = 1;
const STR: u64 = 2;
const FRAME_FUNCTION: u64 = 2;
const FRAME_MAPPING: u64 = 3;
const FRAME_REL_PC: u64 = 4;
const MAPPING_BUILD_ID: u64 = 2;
const MAPPING_PATH: u64 = 7;
const STACK_FRAME: u64 = 2;

/// A sample.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: i64,
    machine: i64,
    process: Option<i64>,
    thread: Option<i64>,
    cpu: Option<i64>,
    place: Place,
}

/// Writes the samples that are asked for; how many.
///
/// # Errors
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when there are more than there is room for;
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the packets cannot be written.
pub(super) fn samples(opened: &Opened<'_>, packets: &mut Packets<'_, '_>, exported: &mut Exported) -> Result<u64> {
    let (mut weights, mut samples) = (Weights::default(), Vec::new());
    let (mut beyond, mut beyond_from) = (0u64, None);
    amounts(opened, Of::Samples, &mut Exported::default(), |amount| {
        if samples.len() >= MOST_SAMPLES {
            beyond = beyond.saturating_add(1);
            beyond_from.get_or_insert(amount.time);
            return;
        }
        let (_, place) = weights.place(&amount);
        let (time, machine, process, thread) = (amount.time, amount.machine, amount.process, amount.thread);
        samples.push(Sample { time, machine, process, thread, cpu: amount.cpu, place });
    })?;
    if let Some(from) = beyond_from {
        return Err(too_many(opened, MOST_SAMPLES, (beyond, from))?);
    }
    if samples.is_empty() {
        return Ok(0);
    }
    weights.warn(exported);
    let code = Code::of(opened, &mut weights, exported)?;
    packets.put(Sequence::Samples, 0, None, head(Sampling::of(&opened.source)?.interval()))?;
    let mut interned = Interned::new(&code);
    for sample in &samples {
        stop_if_cancelled(opened.source.progress())?;
        let stack = interned.stack(sample.place);
        let mut fields = Message::default().value(SEQUENCE_FLAGS, NEEDS);
        let data = std::mem::take(&mut interned.data);
        if !data.as_bytes().is_empty() {
            fields = fields.message(INTERNED_DATA, &data);
        }
        let message = Message::default().maybe(CPU, id(sample.cpu)).maybe(PID, id(sample.process));
        let message = message.maybe(TID, id(sample.thread)).value(CALLSTACK, stack);
        packets.put(Sequence::Samples, sample.machine, Some(sample.time), fields.message(PERF_SAMPLE, &message))?;
    }
    Ok(u64::try_from(samples.len()).unwrap_or(u64::MAX))
}

/// The fields of the first packet: what a sample stands for.
fn head(interval: Option<u64>) -> Message {
    let timebase = Message::default().number(PERIOD, interval.unwrap_or(0)).value(COUNTER, CPU_CLOCK);
    let defaults = Message::default().message(TIMEBASE, &timebase);
    let defaults = Message::default().message(SAMPLE_DEFAULTS, &defaults);
    Message::default().value(SEQUENCE_FLAGS, CLEARED | NEEDS).message(DEFAULTS, &defaults)
}

/// What has a number already, and what is to be written for what has got one.
struct Interned<'a> {
    code: &'a Code,
    data: Message,
    names: Numbers<String>,
    paths: Numbers<String>,
    builds: Numbers<String>,
    mappings: Numbers<Option<u32>>,
    frames: Numbers<(u64, u64, u64)>,
    stacks: Numbers<Place>,
    /// The numbers of the frames of a frame of the trace: inlined functions are frames of their own.
    known: HashMap<u32, Vec<u64>>,
}

/// Numbers from 1 on.
struct Numbers<K>(HashMap<K, u64>);

impl<K: Eq + Hash> Numbers<K> {
    /// The number, and whether it is new.
    fn of(&mut self, key: K) -> (u64, bool) {
        let next = u64::try_from(self.0.len()).unwrap_or(u64::MAX).saturating_add(1);
        let number = *self.0.entry(key).or_insert(next);
        (number, number == next)
    }
}

impl<'a> Interned<'a> {
    fn new(code: &'a Code) -> Interned<'a> {
        Interned {
            code,
            data: Message::default(),
            names: Numbers(HashMap::new()),
            paths: Numbers(HashMap::new()),
            builds: Numbers(HashMap::new()),
            mappings: Numbers(HashMap::new()),
            frames: Numbers(HashMap::new()),
            stacks: Numbers(HashMap::new()),
            known: HashMap::new(),
        }
    }

    fn put(&mut self, field: u64, message: &Message) {
        self.data = std::mem::take(&mut self.data).message(field, message);
    }

    fn text(&mut self, field: u64, text: &str) -> u64 {
        let text = cut(text, MOST_NAME);
        let texts = match field {
            MAPPING_PATHS => &mut self.paths,
            BUILD_IDS => &mut self.builds,
            _ => &mut self.names,
        };
        let (number, is_new) = texts.of(text.to_owned());
        if is_new {
            self.put(field, &Message::default().value(IID, number).bytes(STR, text.as_bytes()));
        }
        number
    }

    fn mapping(&mut self, module: Option<u32>) -> u64 {
        let (number, is_new) = self.mappings.of(module);
        if is_new {
            let found = module.and_then(|module| self.code.module(module));
            let name = found.and_then(|found| found.file_name.as_deref()).unwrap_or("(no module)").to_owned();
            let build = found.map(build_id).unwrap_or_default();
            let (path, build) = (self.text(MAPPING_PATHS, &name), self.text(BUILD_IDS, &build));
            let mapping = Message::default().value(IID, number).value(MAPPING_BUILD_ID, build);
            self.put(MAPPINGS, &mapping.value(MAPPING_PATH, path));
        }
        number
    }

    fn frame(&mut self, call: &Call<'_>) -> u64 {
        let name = call.function.map_or_else(|| call.to_string(), str::to_owned);
        let address = call.offset.and_then(|offset| u64::try_from(offset).ok()).unwrap_or(0);
        let key = (self.text(FUNCTION_NAMES, &name), self.mapping(call.module), address);
        self.keyed(key)
    }

    fn keyed(&mut self, key: (u64, u64, u64)) -> u64 {
        let (number, is_new) = self.frames.of(key);
        if is_new {
            let frame = Message::default().value(IID, number).value(FRAME_FUNCTION, key.0);
            self.put(FRAMES, &frame.value(FRAME_MAPPING, key.1).value(FRAME_REL_PC, key.2));
        }
        number
    }

    fn frames_of(&mut self, frame: u32) -> Vec<u64> {
        if let Some(known) = self.known.get(&frame) {
            return known.clone();
        }
        let code = self.code;
        let numbers: Vec<u64> = code.calls(frame).map(|call| self.frame(&call)).collect();
        self.known.insert(frame, numbers.clone());
        numbers
    }

    /// The number of a stack, whose frames stand from the outermost on.
    fn stack(&mut self, place: Place) -> u64 {
        let (number, is_new) = self.stacks.of(place);
        if is_new {
            let code = self.code;
            let mut frames: Vec<u64> = code.stack(place).iter().flat_map(|frame| self.frames_of(*frame)).collect();
            if frames.is_empty() {
                let key = (self.text(FUNCTION_NAMES, place.text()), self.mapping(None), 0);
                frames.push(self.keyed(key));
            }
            let begin = Message::default().value(IID, number);
            let stack = frames.iter().rev().fold(begin, |stack, frame| stack.value(STACK_FRAME, *frame));
            self.put(CALLSTACKS, &stack);
        }
        number
    }
}
