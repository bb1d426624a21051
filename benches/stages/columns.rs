//! One column to Parquet, by what its values are like.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, ListArray, StringArray,
    UInt32Array, UInt64Array, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use columnar::columns::RowSource;
use columnar::dataset::{EncodeOptions, FileNaming, TableSpec, TableWriter};
use columnar::output::{LocalFolder, Output};
use criterion::{Criterion, Throughput};

use crate::synth::Random;

/// Four pages.
const ROWS: usize = 1 << 18;

pub(crate) fn bench(criterion: &mut Criterion) {
    let scratch = tempfile::tempdir().expect("the temporary folder can be written");
    let output = Arc::new(LocalFolder::create(scratch.path(), "columns").expect("the folder is empty"));
    let mut group = criterion.benchmark_group("columns");
    group.throughput(Throughput::Elements(ROWS as u64));
    for (name, column) in columns() {
        // Times are stored by their name.
        let field = if name == "times" { "timestamp_ns" } else { name };
        let spec = TableSpec {
            folder: name.to_owned(),
            files: FileNaming::Parts,
            schema: Arc::new(Schema::new(vec![Field::new(field, data_type(&column), true)])),
            metadata: Vec::new(),
            provider_id: None,
            provider_name: None,
        };
        let output = Arc::clone(&output) as Arc<dyn Output>;
        let writer = TableWriter::new(output, spec, &EncodeOptions::default()).expect("the types are supported");
        let column = Column(column);
        let encode = || writer.encode(&column).expect("the array has the type of the schema").bytes();
        group.bench_function(name, |bencher| bencher.iter(encode));
    }
    group.finish();
}

/// The type of the file's column: that of a dictionary's values.
fn data_type(column: &ArrayRef) -> DataType {
    match column.data_type() {
        DataType::Dictionary(_, values) => (**values).clone(),
        other => other.clone(),
    }
}

fn columns() -> Vec<(&'static str, ArrayRef)> {
    let mut random = Random::new(1);
    let mut any = |limit: u64| (0..ROWS).map(|_| random.below(limit)).collect::<Vec<u64>>();
    let (few, many, sparse, stacks) = (any(40), any(1 << 40), any(1000), any(400));
    let (texts, steps, ids) = (any(100_000), any(4000), any(u64::MAX));
    let text = |n: &u64| format!("\\Device\\HarddiskVolume3\\module{n:05}.dll");
    let keys = Int32Array::from_iter_values(few.iter().map(|&n| i32::try_from(n).expect("there are 40")));
    let numbers = UInt32Array::from_iter_values(few.iter().map(|&n| u32::try_from(n).expect("there are 40")));
    let sparse: UInt64Array = sparse.into_iter().map(|n| (n < 20).then_some(n)).collect();
    let names = StringArray::from_iter_values((0..40).map(|n| format!("Task/Opcode{n}")));
    let times = steps.iter().scan(1_735_689_600_000_000_000, |time, &step| {
        *time += i64::try_from(step).expect("small steps");
        Some(*time)
    });
    let guids = ids.iter().map(|id| [id.to_le_bytes(), [7; 8]].concat());
    vec![
        ("numbers_few", Arc::new(numbers)),
        ("numbers_many", Arc::new(UInt64Array::from(many))),
        ("numbers_sparse", Arc::new(sparse)),
        ("times", Arc::new(Int64Array::from_iter_values(times))),
        ("texts_few", Arc::new(StringArray::from_iter_values(few.iter().map(text)))),
        ("texts_many", Arc::new(StringArray::from_iter_values(texts.iter().map(text)))),
        ("keys", Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(names)))),
        ("guids", Arc::new(FixedSizeBinaryArray::try_from_iter(guids).expect("all have 16 bytes"))),
        ("all_null", new_null_array(&DataType::UInt64, ROWS)),
        ("constant", Arc::new(UInt32Array::from_value(7, ROWS))),
        ("stacks", Arc::new(stack_lists(&stacks))),
    ]
}

/// Lists of 20 addresses, 400 of them distinct.
fn stack_lists(stacks: &[u64]) -> ListArray {
    const FRAMES: usize = 20;
    let frames =
        stacks.iter().flat_map(|stack| (0..FRAMES as u64).map(move |n| 0x7FFB_0000_0000 + stack * 0x53 + n * n));
    let field = Arc::new(Field::new("element", DataType::UInt64, true));
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(FRAMES, stacks.len()));
    ListArray::new(field, offsets, Arc::new(UInt64Array::from_iter_values(frames)), None)
}

/// A row group of one column.
struct Column(ArrayRef);

impl RowSource for Column {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn column(&self, _: usize, rows: Range<usize>) -> etl2parquet::Result<ArrayRef> {
        Ok(self.0.slice(rows.start, rows.len()))
    }

    fn all_null(&self, _: usize, _: Range<usize>) -> bool {
        self.0.null_count() == self.0.len()
    }
}
