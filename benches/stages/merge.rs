//! The order of the events of a slice, from several processors.

use base::progress::NoProgress;
use conversion::convert::load::SliceMemory;
use conversion::convert::order::OrderedSlice;
use conversion::convert::slices;
use conversion::plan::{PlannedInputs, partition};
use criterion::{BenchmarkId, Criterion, Throughput};
use spill::SpillSpace;

use crate::inputs;
use crate::synth::bulk;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("merge");
    for cpus in [1, 8, 64] {
        let path = inputs::on_disk(&bulk(150_000, 8, cpus, 1));
        let files = [inputs::surveyed(&path)];
        let opened = inputs::inputs(&files);
        let (inputs, space) = (PlannedInputs::of(&files, &opened), SpillSpace::temporary());
        let partitions = partition::cut_at(&files, &inputs, &[], &space, &NoProgress).expect("the trace is valid");
        let view = partitions.view(&partitions.list()[0], &inputs);
        let slices = slices::plan(&view, &space, &NoProgress).expect("the trace is valid");
        let events = slices.iter().map(|slice| slice.events).sum();
        let bytes = slices.iter().map(|slice| slice.bytes).sum();
        let mut memory = SliceMemory::default();
        group.throughput(Throughput::ElementsAndBytes { elements: events, bytes });
        group.bench_function(BenchmarkId::new("processors", cpus), |bencher| {
            bencher.iter(|| {
                let ordered = slices.iter().map(|slice| {
                    let ordered = OrderedSlice::read(&view, None, &slices, slice, &mut memory);
                    let ordered = ordered.expect("the trace is valid");
                    let events = ordered.entries.len();
                    ordered.recycle(&mut memory);
                    events
                });
                ordered.sum::<usize>()
            });
        });
    }
    group.finish();
}
