//! What the conversion of repeated blocks takes.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use cpu_time::ProcessTime;
use etl2parquet::{ConvertOptions, IfExists, NoProgress, Outcome, Recording, convert, load_schemas};
use peak_alloc::PeakAlloc;

use super::blocks::{Block, Made};
use crate::ALLOCATOR;
use crate::harness::alone;

/// What a conversion took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Bytes of all inputs.
    pub input: usize,
    /// Bytes on the heap at a time.
    pub memory: usize,
    /// Bytes that were allocated, those that were given back counted each time: work, by a count that is nearly the same in
    /// every run.
    pub allocated: usize,
    /// Time of all threads.
    pub time: Duration,
    /// Rows of events that were written.
    pub rows: u64,
}

/// An amplifier on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// So many bytes are kept for each byte of the input.
    Kept(usize),
    /// So many bytes are kept for each byte of the input, times its kibibytes.
    KeptMore(usize),
    /// So many bytes are allocated for each byte of the input, times its kibibytes, and given back at once.
    Work(usize),
}

/// Converts a trace of so many blocks, on one thread, with the smallest budget.
///
/// # Panics
/// Where it cannot be converted: a block makes whole traces.
pub fn measure(block: &Block, blocks: usize, plant: Option<Plant>) -> Taken {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("there is room for the inputs");
        path
    };
    let Made { trace, schemas, excluded } = (block.make)(blocks);
    let input = trace.len() + schemas.iter().map(|(_, content)| content.len()).sum::<usize>();
    let path = file("made.etl", &trace);
    let files: Vec<PathBuf> = schemas.iter().map(|(name, content)| file(name, content)).collect();
    drop((trace, schemas));

    let (before, allocated, started) = (PeakAlloc.current_usage(), ALLOCATOR.total_allocated(), ProcessTime::now());
    PeakAlloc.reset_peak_usage();
    let planted = black_box(plant.map(|plant| plant.grow(input)));
    let mut options = ConvertOptions::new(folder.path().join("out")).threads(1).if_exists(IfExists::Replace);
    options.memory = ConvertOptions::MIN_MEMORY;
    options.filter.excluded_providers =
        excluded.iter().map(|name| name.parse().expect("it is the name of a provider")).collect();
    options = options.schemas(load_schemas(&files).expect("the schema files can be read"));
    let outcome = convert(&Recording::of_file(path), &options, &NoProgress);
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", block.name));
    let Outcome::Published(report) = outcome else { panic!("{}: {outcome:?}", block.name) };
    let rows = report.events.written;
    drop((report, options, planted));
    Taken {
        input,
        memory: PeakAlloc.peak_usage().saturating_sub(before),
        allocated: ALLOCATOR.total_allocated() - allocated,
        time: started.elapsed(),
        rows,
    }
}

impl Plant {
    /// What is kept meanwhile: room alone, which costs no time.
    fn grow(self, input: usize) -> Vec<u8> {
        match self {
            Plant::Kept(times) => Vec::with_capacity(times * input),
            Plant::KeptMore(times) => Vec::with_capacity(times * input * (input >> 10)),
            Plant::Work(times) => {
                (0..times * (input >> 10)).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(input))));
                Vec::new()
            }
        }
    }
}
