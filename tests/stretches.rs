//! A survey that is put together from stretches of the input is the survey of one pass, whatever the trace.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use columnar::output::{MemoryStore, Store};
use conversion::convert::{ConvertOptions, InputFile, Recording};
use conversion::job::steps::{self, CommitOutcome, PartOutcome, PlanOutcome, StepOptions};
use conversion::survey::{FileSurvey, Keeps, Stretch, Stretches, SurveyOptions};
use conversion::survey::{survey, survey_joined, survey_stretch};
use etl::input::{Input, InputId, Inputs, MemoryInput};
use etl2parquet::ErrorKind;
use spill::SpillSpace;
use support::{Sandbox, corpus, options};
use synth::*;

const COUNTS: [u32; 5] = [1, 2, 3, 7, 16];

const NOTHING: Keeps = Keeps { subjects: &[], stacks: false };
const OPTIONS: SurveyOptions = SurveyOptions { anchor: ClockAnchor::Start, hash: true, offset_ns: 0, keeps: NOTHING };

/// All that is known, as text.
fn text(file: &FileSurvey) -> String {
    format!("{:?}\n{}", &file.buffers[..], serde_json::to_string(file).unwrap())
}

fn survey_one(input: &dyn Input, store: &dyn Store, number: u32, count: u32) -> etl2parquet::Result<()> {
    let stretch = Stretch::new(number, count).unwrap();
    survey_stretch(&SpillSpace::temporary(), (input, 0), stretch, store, &NoProgress)
}

fn joined(input: &dyn Input, store: Arc<MemoryStore>) -> etl2parquet::Result<FileSurvey> {
    let stretches = Stretches::find(store, 0).unwrap();
    survey_joined(&SpillSpace::temporary(), input, "a.etl".to_owned(), &OPTIONS, &stretches, &NoProgress)
}

/// The survey of the stretches of an input, but for those that `is_missing`, equals that of one pass. Says whether it is a trace.
#[track_caller]
fn t(input: &dyn Input, counts: &[u32], is_missing: impl Fn(u32) -> bool, what: &str) -> bool {
    let Ok(expected) = survey(input, "a.etl".to_owned(), &OPTIONS, &NoProgress) else { return false };
    for &count in counts {
        let store = Arc::new(MemoryStore::default());
        // From the last one to the first.
        for number in (0..count).rev().filter(|&number| !is_missing(number)) {
            survey_one(input, &*store, number, count).unwrap();
        }
        let found = joined(input, store).unwrap();
        assert!(text(&found) == text(&expected), "{what} in {count} stretches:\n{found:#?}\n{expected:#?}");
    }
    true
}

fn made(bytes: Vec<u8>, what: &str) -> bool {
    t(&MemoryInput::new("a.etl", bytes), &COUNTS, |_| false, what)
}

/// Doubles a buffer, behind another one.
fn twice(trace: &Trace, copied: usize, behind: usize) -> Vec<u8> {
    let (bytes, positions) = (trace.to_bytes(), trace.buffer_positions());
    let place = |buffer: usize| positions.get(buffer).copied().unwrap_or(bytes.len());
    [&bytes[..place(behind)], &bytes[place(copied)..place(copied + 1)], &bytes[place(behind)..]].concat()
}

#[test]
fn made_traces_are_the_same_in_stretches() {
    for compressed in [false, true] {
        let trace = bulk(4000, 4, 3, 5).buffer_size(0x1000).compressed(compressed).trace();
        let bytes = trace.to_bytes();
        let count = trace.buffer_positions().len();
        assert!(count > 40, "{count} buffers");
        assert!(made(bytes.clone(), "whole"));
        for kept in [1, 71, 0x800, bytes.len() / 2, bytes.len() - 100, bytes.len() - 1] {
            made(bytes[..kept].to_vec(), "cut");
        }
        for (copied, behind) in [(3, 4), (3, count - 2), (count - 2, count), (1, 2), (count / 2, count / 2 + 1)] {
            assert!(made(twice(&trace, copied, behind), "a buffer that stands twice"));
        }
        for (filler, len) in [(0, 0x10_0000), (0xFF, 0x4321), (0xAB, 0x9999), (0, 100)] {
            let middle = trace.buffer_positions()[count / 2];
            let unused = vec![filler; len];
            assert!(made([&bytes[..], &unused].concat(), "filled up"));
            assert!(made([&bytes[..middle], &unused, &bytes[middle..]].concat(), "a hole"));
            let mut wiped = bytes.clone();
            let end = (middle + len).min(wiped.len() - 0x200);
            wiped[middle..end].fill(filler);
            assert!(made(wiped, "wiped"));
        }
        let mut noisy = bytes;
        let middle = noisy.len() / 3;
        damage::noise(&mut noisy, middle, 0x3210, 7);
        assert!(made(noisy, "noise"));
    }
}

#[test]
fn preallocated_and_circular_traces_are_the_same_in_stretches() {
    // Preallocated, circular, appended, relogged.
    for mode in [0x21, 0x02, 0x22, 0x05, 0x1_0001] {
        for compressed in [0, 0x0400_0000] {
            let mut bytes = bulk(3000, 3, 2, 9).buffer_size(0x1000).compressed(compressed != 0).to_bytes();
            // The mode of the session, 32 bytes into what follows the header of the header event.
            let at = 72 + 32 + 32;
            let known = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!(known, 1 | compressed, "the mode stands elsewhere");
            damage::overwrite(&mut bytes, at, &(mode | compressed).to_le_bytes());
            let old = bytes[0x1000..0x5000].to_vec();
            assert!(made(bytes.clone(), "of another mode"));
            assert!(made([&bytes[..], &vec![0; 0x8765]].concat(), "with an end of zeros"));
            assert!(made([&bytes[..], &old, &vec![0xFF; 0x8000]].concat(), "with an end of older buffers"));
        }
    }
}

#[test]
fn which_buffers_are_old_may_depend_on_their_number() {
    // Preallocated, and of sizes that may differ: half of the buffers are counted, and the numbers of all begin again.
    let trace = bulk(3000, 3, 2, 9).buffer_size(0x1000).trace();
    let (mut bytes, positions) = (trace.to_bytes(), trace.buffer_positions());
    damage::overwrite(&mut bytes, 72 + 32 + 32, &0x0400_0021_u32.to_le_bytes());
    let counted = u32::try_from(positions.len() / 2).unwrap();
    damage::overwrite(&mut bytes, 72 + 32 + 36, &counted.to_le_bytes());
    positions[1..].iter().for_each(|at| damage::overwrite(&mut bytes, at + 0x18, &[0; 8]));
    let input = MemoryInput::new("a.etl", bytes.clone());
    let found = survey(&input, "a.etl".to_owned(), &OPTIONS, &NoProgress).unwrap();
    assert_eq!(found.buffers.len(), counted as usize);
    assert!(made(bytes, "numbered anew"));
}

#[test]
fn damaged_traces_are_the_same_in_stretches() {
    let mut random = Random::new(3);
    let mut traces = 0;
    for seed in 0..150 {
        let trace = bulk(random.below(2500_u64) + 10, 3, random.below(4_u16) + 1, seed)
            .buffer_size(0x1000 << random.below(2_u32))
            .compressed(seed % 2 == 0);
        let mut bytes = trace.to_bytes();
        let header = 0x1000.min(bytes.len() as u64);
        for _ in 0..random.below(30_u32) {
            let at = header + random.below(bytes.len() as u64 - header + 1);
            if let Ok(at) = usize::try_from(at.min(bytes.len() as u64 - 1)) {
                damage::flip(&mut bytes, at, random.below(8_u32));
            }
        }
        if seed % 5 == 0 {
            let (at, len) = (bytes.len() / 3, bytes.len() / 4);
            let filler = [0, 0xFF, 0xC0][random.below(3_u32) as usize];
            bytes[at..at + len].fill(filler);
        }
        let missing = random.below(20_u32);
        let what = format!("seed {seed}");
        traces += u32::from(t(&MemoryInput::new("a.etl", bytes), &[2, 5, 40], |number| number == missing, &what));
    }
    assert!(traces > 100, "{traces} have a survey");
}

#[test]
fn what_was_surveyed_is_not_read_again() {
    // The last one ends in space that was never used.
    for (compressed, unused) in [(false, 0), (true, 0), (false, 48 << 20)] {
        let mut bytes = bulk(250_000, 4, 1, 5).compressed(compressed).to_bytes();
        damage::zero_tail(&mut bytes, unused);
        let size = bytes.len() as u64;
        assert!(size > 6 << 20, "{size} bytes");
        let inputs = Inputs::of([Arc::new(MemoryInput::new("a.etl", bytes)) as Arc<dyn Input>]);
        let input = inputs.get(InputId::default()).unwrap();
        let store = Arc::new(MemoryStore::default());
        for number in 0..4 {
            survey_one(&*input, &*store, number, 4).unwrap();
        }
        let before = inputs.bytes_read();
        let found = joined(&*input, store).unwrap();
        let read = inputs.bytes_read() - before;
        // The header, and for the hash the last MiB, which is not worth more than that.
        assert!(read <= (1 << 20) + (128 << 10), "{read} bytes of {size} were read, compressed: {compressed}");
        assert_eq!(text(&found), text(&survey(&*input, "a.etl".to_owned(), &OPTIONS, &NoProgress).unwrap()));
    }
}

#[test]
fn a_guess_that_is_wrong_costs_time_alone() {
    // What looks like buffers within a buffer: whoever begins in it goes astray.
    let trace = bulk(9000, 2, 1, 8).buffer_size(0x1000).compressed(true).trace();
    let inner = trace.to_bytes();
    let count = trace.buffer_positions().len();
    assert!(count > 20, "{count} buffers");
    let place = trace.buffer_positions()[count / 2];
    let mut outer = buffer(0x4_0000).cpu(0).sequence(1000);
    let copy = inner[trace.buffer_positions()[1]..].iter().copied().take(0x8000).collect::<Vec<u8>>();
    outer.push(&event64(guid("11111111-2222-3333-4444-555555555555"), 1, 0, T0 + 5).payload(copy).on_disk());
    let bytes = [&inner[..place], &outer.on_disk()[..], &inner[place..]].concat();
    assert!(made(bytes, "a trace in an event"));
}

/// The files of a folder, but for locks and folders.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> =
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

fn job(path: &Path) -> Recording {
    Recording { name: "t".to_owned(), inputs: vec![InputFile::new(path.to_owned(), "t.etl")] }
}

fn planned(path: &Path, options: &ConvertOptions) -> Option<PathBuf> {
    match steps::plan(&job(path), options, &NoProgress) {
        Ok(PlanOutcome::Planned { folder, .. }) => Some(folder),
        _ => None,
    }
}

fn survey_ahead(path: &Path, options: &ConvertOptions, number: u32, count: u32) {
    let stretch = Stretch::new(number, count).unwrap();
    steps::survey_stretch(&job(path), options, stretch, &NoProgress).unwrap();
}

/// The folders of plans and of stretches in an output.
fn folders(out: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The plan of a trace is the same, file by file, after its stretches were surveyed.
#[track_caller]
fn same_plan(path: &Path, counts: &[u32]) -> bool {
    let sandbox = Sandbox::new();
    let out = sandbox.path("out");
    let options = options(out.clone());
    let Some(folder) = planned(path, &options) else { return false };
    let expected = files(&folder);
    assert!(expected.len() > 4);
    for &count in counts {
        fs::remove_dir_all(&out).unwrap();
        (0..count).rev().for_each(|number| survey_ahead(path, &options, number, count));
        let [ahead] = &folders(&out)[..] else { panic!("expected the folder of stretches alone") };
        assert_eq!(files(ahead).len(), count as usize);
        assert_eq!(planned(path, &options).as_ref(), Some(&folder));
        let found = files(&folder);
        assert!(found == expected, "{} in {count} stretches", path.display());
    }
    true
}

#[test]
fn plans_of_the_example_are_the_same() {
    assert!(same_plan(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/example.etl"), &COUNTS));
}

#[test]
fn plans_of_real_traces_are_the_same() {
    let Some(corpus) = corpus() else { return };
    let traces = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = traces(corpus.clone()).chain(traces(corpus.join("wpp")));
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "etl");
    let mut same = 0;
    for path in all.filter(is_trace) {
        same += u32::from(same_plan(&path, &COUNTS));
    }
    assert!(same > 40, "{same} traces have a plan");
}

#[test]
fn stretches_go_with_the_commit_and_repeated_ones_do_no_harm() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("t.etl", &bulk(3000, 2, 2, 1).buffer_size(0x1000).to_bytes());
    let (out, whole) = (sandbox.path("out"), sandbox.path("whole"));
    let options = options(out.clone());
    // Each of them several times at a time.
    std::thread::scope(|scope| {
        for number in [0, 1, 2, 2, 1, 0, 1] {
            let (path, options) = (&path, &options);
            scope.spawn(move || survey_ahead(path, options, number, 3));
        }
    });
    let ahead = folders(&out);
    let before = files(&ahead[0]);
    assert_eq!((ahead.len(), before.len()), (1, 3));
    survey_ahead(&path, &options, 1, 3);
    assert!(files(&ahead[0]) == before);
    let folder = planned(&path, &options).unwrap();
    assert_eq!(folders(&out).len(), 2);
    let step = StepOptions { threads: 1, memory: 512 << 20, ..StepOptions::default() };
    assert!(matches!(steps::convert_partition(&folder, 0, &step, &NoProgress), Ok(PartOutcome::Converted { .. })));
    assert!(matches!(steps::commit(&folder, &step, &NoProgress), Ok(CommitOutcome::Done(_))));
    assert_eq!(folders(&out), [out.join("trace=t")]);
    // The trace is there now.
    let stretch = Stretch::new(0, 3).unwrap();
    let error = steps::survey_stretch(&job(&path), &options, stretch, &NoProgress).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(planned(&path, &support::options(whole)).is_some());
}

#[test]
fn a_changed_input_has_other_stretches() {
    let sandbox = Sandbox::new();
    let bytes = bulk(2000, 2, 2, 1).buffer_size(0x1000).to_bytes();
    let path = sandbox.file("t.etl", &bytes);
    let out = sandbox.path("out");
    let options = options(out.clone());
    (0..2).for_each(|number| survey_ahead(&path, &options, number, 2));
    fs::write(&path, &bytes[..bytes.len() - 0x1000]).unwrap();
    let folder = planned(&path, &options).unwrap();
    let expected = files(&folder);
    fs::remove_dir_all(&out).unwrap();
    planned(&path, &options).unwrap();
    assert!(files(&folder) == expected);
}

/// The file of a stretch with its seal for whatever stands behind.
fn sealed(file: &[u8]) -> Vec<u8> {
    let seal = std::str::from_utf8(&file[..512]).unwrap().trim_end().to_owned();
    let hash = blake3::hash(&file[512..]).to_hex();
    let start = seal.find("\"blake3\":\"").unwrap() + 10;
    let seal = format!("{}{hash}{}", &seal[..start], &seal[start + 64..]);
    [format!("{seal:<511}\n").as_bytes(), &file[512..]].concat()
}

#[test]
fn what_is_damaged_is_never_taken_for_a_survey() {
    let input = MemoryInput::new("a.etl", bulk(1500, 2, 2, 1).buffer_size(0x1000).to_bytes());
    let store = Arc::new(MemoryStore::default());
    for number in 0..2 {
        survey_one(&input, &*store, number, 2).unwrap();
    }
    let name = "stretch-00000-00001-of-00002";
    let whole = store.get(name, u64::MAX - 1).unwrap();
    let expected = text(&joined(&input, Arc::clone(&store)).unwrap());
    let read = |bytes: &[u8]| {
        store.put(name, bytes).unwrap();
        joined(&input, Arc::clone(&store))
    };
    let refused = |bytes: &[u8], what: &str| {
        let error = read(bytes).expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Input, "{what}: {error}");
        assert!(error.to_string().contains("remove the file"), "{error}");
    };
    for kept in (0..whole.len()).step_by(1999).chain([511, 512, whole.len() - 1]) {
        refused(&whole[..kept], "cut");
    }
    refused(&[&whole[..], b"x"].concat(), "longer");
    for at in (0..whole.len()).step_by(997) {
        let mut bytes = whole.clone();
        damage::flip(&mut bytes, at, 5);
        if bytes[at].is_ascii_graphic() || at >= 512 {
            refused(&bytes, &format!("flipped at {at}"));
        }
        // With a seal that fits, it is refused or contradicts nothing; it never stops the program.
        for bit in 0..8 {
            let mut bytes = whole.clone();
            damage::flip(&mut bytes, at.max(512), bit);
            _ = read(&sealed(&bytes));
        }
    }
    assert_eq!(text(&read(&sealed(&whole)).unwrap()), expected);
    // One of another trace in the place of this one.
    let other = MemoryInput::new("b.etl", bulk(1500, 2, 2, 2).buffer_size(0x1000).to_bytes());
    let of_other = MemoryStore::default();
    survey_one(&other, &of_other, 1, 2).unwrap();
    refused(&of_other.get(name, u64::MAX - 1).unwrap(), "of another input");
}
