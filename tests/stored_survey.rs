//! A survey that was written and read again is the same, and what is damaged is never taken for one.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use columnar::output::{LocalStore, MemoryStore, Store};
use conversion::survey::{FileSurvey, SurveyOptions, SurveyResult, settle, survey};
use etl::input::{Input, LocalFile, MemoryInput};
use etl2parquet::ErrorKind;
use spill::SpillSpace;
use support::corpus;
use synth::*;

const FILES: [&str; 2] = ["survey.json", "survey.buffers"];

fn surveyed(input: &dyn Input) -> etl2parquet::Result<FileSurvey> {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: true, ..SurveyOptions::default() };
    survey(input, "made.etl".to_owned(), &options, &NoProgress)
}

fn made(bytes: Vec<u8>) -> etl2parquet::Result<FileSurvey> {
    surveyed(&MemoryInput::new("made.etl", bytes))
}

/// All that is known, as text; buffers are distinguished from the rest.
fn text(file: &FileSurvey) -> String {
    format!("{:?}\n{}", &file.buffers[..], serde_json::to_string(file).unwrap())
}

fn assert_survives(store: &dyn Store, mut files: Vec<FileSurvey>) {
    settle(&mut files);
    let result = SurveyResult { files };
    result.write(store, &NoProgress).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Once with all buffers in memory, once with all on disk.
    for room in [1 << 30, 0] {
        let read =
            SurveyResult::read(store, &SpillSpace::with_room(folder.path(), room, 1 << 12), &NoProgress).unwrap();
        assert_eq!(read.files.len(), result.files.len());
        for (read, file) in read.files.iter().zip(&result.files) {
            assert_eq!(text(read), text(file));
            assert_eq!((&read.clock, read.rules(), read.events()), (&file.clock, file.rules(), file.events()));
        }
    }
}

#[test]
fn surveys_of_all_sorts_survive() {
    let mut random = Random::new(11);
    let mut refused = 0;
    for seed in 0..60 {
        let cpus = random.below(4_u16) + 1;
        let trace = bulk(random.below(3000_u64), random.below(6_u32) + 1, cpus, seed)
            .buffer_size(0x2000)
            .compressed(seed % 3 == 0);
        let mut bytes = trace.to_bytes();
        for _ in 0..random.below(8_u32) {
            let at = random.below(bytes.len() as u64);
            damage::flip(&mut bytes, usize::try_from(at).unwrap(), random.below(8_u32));
        }
        if seed % 4 == 0 {
            let kept = random.below(bytes.len() as u64);
            bytes.truncate(usize::try_from(kept).unwrap());
        }
        let files: Vec<_> = [made(bytes), made(trace.to_bytes())].into_iter().flatten().collect();
        refused += 2 - files.len();
        assert_survives(&MemoryStore::default(), files);
    }
    assert!(refused < 20, "most of the traces must have a survey: {refused} have none");
    assert_survives(&MemoryStore::default(), Vec::new());
}

#[test]
fn surveys_of_real_traces_survive() {
    let Some(corpus) = corpus() else { return };
    let folder = tempfile::tempdir().unwrap();
    let traces = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let traces: Vec<_> = traces.filter(|path| path.extension().is_some_and(|extension| extension == "etl")).collect();
    assert!(traces.len() > 10);
    let files = traces.iter().map(|path| surveyed(&LocalFile::open(path).unwrap()).unwrap());
    assert_survives(&LocalStore::new(folder.path()), files.collect());
}

#[test]
fn damage_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = made(bulk(2000, 2, 2, 1).buffer_size(0x1000).to_bytes()).unwrap();
    let store = LocalStore::new(folder.path());
    SurveyResult { files: vec![file] }.write(&store, &NoProgress).unwrap();
    let read = || SurveyResult::read(&store, &SpillSpace::temporary(), &NoProgress);
    let refused = |what: &str| {
        let error = read().expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Input, "{what}: {error}");
        error.to_string()
    };
    for name in FILES {
        let path = folder.path().join(name);
        let whole = fs::read(&path).unwrap();
        assert!(whole.len() > 1000);
        for kept in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
            fs::write(&path, &whole[..kept]).unwrap();
            refused(name);
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        refused(name);
        for at in (0..whole.len()).step_by(41) {
            let mut bytes = whole.clone();
            damage::flip(&mut bytes, at, 5);
            // Of the seal, blanks at its end say nothing.
            if bytes[at].is_ascii_graphic() || at >= 512 {
                fs::write(&path, &bytes).unwrap();
                refused(&format!("{name}, flipped at {at}"));
            }
        }
        fs::remove_file(&path).unwrap();
        assert!(refused(name).contains(name));
        fs::write(&path, whole).unwrap();
    }
    read().unwrap();
    let path = folder.path().join(FILES[0]);
    let text = fs::read_to_string(&path).unwrap();
    let (own, other) = (format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"9.9.9\"");
    assert_eq!(own.len(), other.len());
    fs::write(&path, text.replacen(&own, other, 1)).unwrap();
    assert!(refused("another version").contains("found one of 9.9.9"));
}
