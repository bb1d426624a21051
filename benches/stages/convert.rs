//! The whole program, from a trace to a published dataset.

use std::path::Path;
use std::process::Command;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};

use crate::inputs;

pub(crate) fn bench(criterion: &mut Criterion) {
    let trace = inputs::on_disk(&inputs::trace());
    let file = inputs::surveyed(&trace);
    let mut group = criterion.benchmark_group("convert");
    group.throughput(Throughput::ElementsAndBytes { elements: file.events(), bytes: file.identity.size });
    for threads in [1, 2] {
        group.bench_function(BenchmarkId::new("threads", threads), |bencher| {
            let folder = || tempfile::tempdir().expect("the temporary folder can be written");
            bencher.iter_batched(folder, |out| convert(&trace, out.path(), threads), BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// Converts a trace with default options.
pub(crate) fn convert(trace: &Path, out: &Path, threads: u32) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
    program.arg("convert").arg(trace).arg("-o").arg(out).args(["-q", "--threads", &threads.to_string()]);
    assert!(program.status().expect("the program was built with the bench").success());
}
