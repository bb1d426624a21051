//! One bench per stage of a conversion, with throughput in bytes and events.
//!
//! ```text
//! cargo bench                 all of them, about a minute
//! cargo bench -- decode       those of one stage
//! ```
//!
//! Stages run on one thread, the conversion as a whole on one and on two.

#[path = "../../tests/synth/mod.rs"]
mod synth;

#[path = "../../examples/encode_baseline/ready.rs"]
mod ready;

mod columns;
mod convert;
mod decode;
mod encode;
mod inputs;
mod merge;
mod survey;
mod xpress;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

criterion_group! {
    name = stages;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = survey::bench, xpress::bench, merge::bench, decode::bench, encode::bench, columns::bench, convert::bench
}
criterion_main!(stages);

/// Runs `work` on a pool of one thread, as the only worker of a conversion.
fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be started");
    pool.install(work)
}
