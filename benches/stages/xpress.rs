//! Expanding compressed buffers.

use criterion::{Criterion, Throughput};
use etl::buffer::content::{self, Scratch};
use etl::input::InputId;

use crate::inputs;

pub(crate) fn bench(criterion: &mut Criterion) {
    let path = inputs::on_disk(&inputs::trace().compressed(true));
    let file = inputs::surveyed(&path);
    let input = inputs::inputs(std::slice::from_ref(&file)).get(InputId::default()).expect("the trace is there");
    let mut scratch = Scratch::default();
    let mut expand_all = || {
        let max_buffer_size = file.session.max_buffer_size();
        let lengths = file.buffers.iter().map(|buffer| {
            let content = content::read(&*input, &buffer.extent, max_buffer_size, &mut scratch);
            content.expect("the trace can be read").bytes().len() as u64
        });
        lengths.sum::<u64>()
    };
    let mut group = criterion.benchmark_group("xpress");
    group.throughput(Throughput::ElementsAndBytes { elements: file.events(), bytes: expand_all() });
    group.bench_function("expand", |bencher| bencher.iter(&mut expand_all));
    group.finish();
}
