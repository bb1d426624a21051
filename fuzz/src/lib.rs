//! Feeds every room of etl2parquet bytes of all kinds, and holds what comes out against an oracle.
//!
//! A [`Target`](target::Target) is a function that takes bytes, hands them to one room, and stops (by a panic) where what the
//! room says cannot be: an oracle does not know the right answer, but a property of every right answer. The same
//! targets are used three times, so that none can rot:
//!
//! - the tests of this crate run each over its seeds (`seeds/<name>/`) and some hundred inputs made from them,
//! - the program `fuzz-loop` runs each over a fixed number of inputs, which two runs make alike, and prints a hash of all
//!   outcomes,
//! - the program `libfuzzer` runs one of them for as long as one likes, led by the coverage of branches (`scripts/check/fuzz`).
//!
//! [`amplify`] asks another question: what does one block of a trace cost, where there are more and more of it?
//!
//! An input fails ([`harness`]) that makes a panic, in whichever thread, or takes more memory or time than its target
//! allows. [`planted`] faults show that each of them would be found.

pub mod amplify;
pub mod bytes;
pub mod digest;
pub mod fields;
pub mod harness;
pub mod made;
pub mod mutate;
pub mod oracle;
pub mod planted;
pub mod random;
pub mod run;
pub mod seeds;
pub mod target;
mod targets;

#[path = "../../tests/synth/mod.rs"]
mod synth;

/// Counts what is allocated, by all threads: `PeakAlloc` what is there at a time, `Cap` all of it.
#[global_allocator]
static ALLOCATOR: cap::Cap<peak_alloc::PeakAlloc> = cap::Cap::new(peak_alloc::PeakAlloc, usize::MAX);
