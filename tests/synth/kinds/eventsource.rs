//! Processes that write the manifests of all of their EventSources when the session starts and when it ends.

use std::fmt::Write;

use super::Recorder;
use crate::synth::bulk::provider_guid;
use crate::synth::event::{Event, event64, eventsource_manifest};
use crate::synth::payload::payload;
use crate::synth::session::Random;

const PROCESSES: u32 = 8;
/// EventSources of every process.
const SOURCES: u32 = 6;
/// Kinds of events of every EventSource: its manifest has some 90 KB.
const EVENTS: u16 = 250;
/// Bytes of a manifest in one event, as .NET cuts them.
const CHUNK: usize = 0xFF00;

pub(super) fn record(recorder: &mut Recorder) {
    let manifests: Vec<String> = (0..SOURCES).map(manifest).collect();
    log_manifests(recorder, &manifests);
    while recorder.goes_on() {
        let (process, source) = (recorder.random.below(PROCESSES), recorder.random.below(SOURCES));
        let event = event(source, recorder.time, &mut recorder.random);
        recorder.log(event.pid(pid(process)).tid(pid(process) + 4));
    }
    log_manifests(recorder, &manifests);
}

fn pid(process: u32) -> u32 {
    3000 + 16 * process
}

/// They come on top of the events that are wanted.
fn log_manifests(recorder: &mut Recorder, manifests: &[String]) {
    for process in 0..PROCESSES {
        for (source, manifest) in (0..).zip(manifests) {
            let _ = recorder.goes_on();
            let left = recorder.left;
            for chunk in eventsource_manifest(provider_guid(source), recorder.time, manifest, CHUNK) {
                recorder.log(chunk.pid(pid(process)).tid(pid(process) + 4));
            }
            recorder.left = left;
        }
    }
}

/// An event of one of the first 40 kinds; the others are there to be enabled.
fn event(source: u32, time: i64, random: &mut Random) -> Event {
    let id = 1 + random.below(40_u16);
    let body = payload().wstr(&format!("item {}", random.below(300_u32))).u32(random.below(1000));
    let body = body.u64(0x1_0000_0000 + random.below(1_u64 << 20)).f64(f64::from(random.below(800_u32)) / 16.0);
    event64(provider_guid(source), id, 0, time).task(0xFFFE - id).keyword(1).payload(body)
}

fn manifest(source: u32) -> String {
    let (mut tasks, mut templates, mut events) = (String::new(), String::new(), String::new());
    for id in 1..=EVENTS {
        let task = 0xFFFE - id;
        write!(tasks, "<task name=\"Step{id}\" message=\"$(string.task_Step{id})\" value=\"{task}\"/>").expect(MEMORY);
        write!(templates, "<template tid=\"Step{id}Args\">{FIELDS}</template>").expect(MEMORY);
        write!(
            events,
            "<event value=\"{id}\" version=\"0\" level=\"win:Informational\" symbol=\"Step{id}\" task=\"Step{id}\" \
             keywords=\"All\" template=\"Step{id}Args\"/>"
        )
        .expect(MEMORY);
    }
    format!(
        "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"><instrumentation><events>\
         <provider name=\"Synth-Source-{source}\" guid=\"{{{source:08x}-5b1c-4b0e-9d3a-0123456789ab}}\" \
         resourceFileName=\"source.dll\" messageFileName=\"source.dll\" symbol=\"SynthSource{source}\">\
         <keywords><keyword name=\"All\" mask=\"0x1\"/></keywords><tasks>{tasks}</tasks>\
         <templates>{templates}</templates><events>{events}</events>\
         </provider></events></instrumentation></instrumentationManifest>"
    )
}

/// Of [`event`].
const FIELDS: &str = "<data name=\"Item\" inType=\"win:UnicodeString\"/><data name=\"Status\" inType=\"win:UInt32\"/>\
    <data name=\"Bytes\" inType=\"win:UInt64\"/><data name=\"Seconds\" inType=\"win:Double\"/>";

const MEMORY: &str = "a text takes all that is written to it";
