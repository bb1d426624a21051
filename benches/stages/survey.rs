//! Headers only: the first pass over a trace.

use conversion::survey::BufferSummary;
use criterion::{Criterion, Throughput};

use crate::{inputs, on_one_thread};

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("survey");
    for (name, compressed) in [("uncompressed", false), ("compressed", true)] {
        let path = inputs::on_disk(&inputs::trace().compressed(compressed));
        let file = inputs::surveyed(&path);
        // Of a compressed trace, the bytes after expansion.
        let bytes = file.buffers.iter().map(BufferSummary::used_bytes).sum();
        group.throughput(Throughput::ElementsAndBytes { elements: file.events(), bytes });
        group.bench_function(name, |bencher| {
            on_one_thread(|| bencher.iter(|| inputs::surveyed(&path)));
        });
    }
    group.finish();
}
