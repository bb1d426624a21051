//! Payloads to columns, by the kind of their description.

use std::hint::black_box;

use base::progress::NoProgress;
use columnar::columns::{ColumnBuffers, PackedColumns, gather};
use conversion::convert::decoders::Decoders;
use conversion::decode::{NoClock, PayloadColumn};
use conversion::plan::{DecodeSource, PlanResult, ShapeFinder};
use conversion::survey::FileSurvey;
use criterion::{Criterion, Throughput};
use etl::buffer::content::{self, Scratch};
use etl::event::{Event, Walk, WalkStep};
use etl::input::InputId;

use crate::inputs;

/// A usual number of rows of one table in a slice.
const BATCH: usize = 16_384;

pub(crate) fn bench(criterion: &mut Criterion) {
    let path = inputs::on_disk(&inputs::trace());
    let files = [inputs::surveyed(&path)];
    let plan = inputs::planned(&files);
    let decoders = Decoders::new(&plan, &NoProgress).expect("nobody asks to stop");
    let mut group = criterion.benchmark_group("decode");
    for (name, source) in [
        ("kernel", DecodeSource::Kernel),
        ("manifest_with_strings", DecodeSource::EventSource),
        ("tracelogging_with_arrays", DecodeSource::TraceLogging),
    ] {
        let payloads = payloads(&files[0], &plan, &decoders, source);
        let bytes = payloads.iter().map(|(_, payload)| payload.len() as u64).sum();
        group.throughput(Throughput::ElementsAndBytes { elements: payloads.len() as u64, bytes });
        group.bench_function(name, |bencher| bencher.iter(|| decode(&plan, &decoders, &payloads)));
    }
    group.finish();
}

/// Shape and payload of the events that are described by one source.
fn payloads(file: &FileSurvey, plan: &PlanResult, decoders: &Decoders, source: DecodeSource) -> Vec<(u32, Vec<u8>)> {
    let (mut found, mut scratch) = (Vec::new(), Scratch::default());
    let (context, mut shapes) = (file.session.context(), ShapeFinder::new(&decoders.ids));
    let inputs = inputs::inputs(std::slice::from_ref(file));
    let input = inputs.get(InputId::default()).expect("the trace is there");
    for buffer in file.buffers.iter() {
        let content = content::read(&*input, &buffer.extent, file.session.max_buffer_size(), &mut scratch);
        for step in Walk::new(content.expect("the trace can be read").bytes(), 0) {
            let WalkStep::Event(raw) = step else { continue };
            let shape = shapes.find(&raw, &context).expect("the plan has all shapes");
            if plan.shapes[shape as usize].decode_source == source && decoders.shapes[shape as usize].program.is_some()
            {
                found.push((shape, Event::of(&raw, &context).payload.to_vec()));
            }
        }
    }
    found
}

/// Decodes all payloads into arrays, in batches; says how many arrays came out.
fn decode(plan: &PlanResult, decoders: &Decoders, payloads: &[(u32, Vec<u8>)]) -> usize {
    payloads.chunks(BATCH).map(|batch| decode_batch(plan, decoders, batch)).sum()
}

fn decode_batch(plan: &PlanResult, decoders: &Decoders, batch: &[(u32, Vec<u8>)]) -> usize {
    let mut tables: Vec<Option<(ColumnBuffers, u32)>> = plan.tables.iter().map(|_| None).collect();
    for (shape, payload) in batch {
        let shape = &decoders.shapes[*shape as usize];
        let columns = &plan.tables[shape.table as usize].columns.columns;
        let (columns, rows) = tables[shape.table as usize]
            .get_or_insert_with(|| (ColumnBuffers::new(columns.iter().map(PayloadColumn::data_type)), 0));
        if let Some(program) = &shape.program {
            program.decode(payload, *rows, columns, &NoClock);
        }
        *rows += 1;
    }
    let finished = tables.iter_mut().zip(&plan.tables).filter_map(|(table, plan)| Some((table.as_mut()?, plan)));
    finished.map(|((columns, rows), table)| arrays(&columns.finish(), *rows, &table.columns.columns)).sum()
}

fn arrays(values: &PackedColumns, rows: u32, columns: &[PayloadColumn]) -> usize {
    let filled = columns.iter().enumerate().filter(|(index, _)| values.has_values(*index, &(0..rows)));
    let array = |(index, column): (usize, &PayloadColumn)| gather(&[(values, 0..rows)], index, column.data_type());
    filled.map(|column| black_box(array(column).expect("the values of one batch fit"))).fold(0, |count, _| count + 1)
}
