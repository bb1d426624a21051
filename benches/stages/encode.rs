//! Ready columns to Parquet, by this crate and by arrow-rs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use columnar::columns::RowSource;
use columnar::dataset::EncoderKind;
use columnar::output::LocalFolder;
use criterion::{Criterion, Throughput};

use crate::ready::ReadyFile;
use crate::{convert, inputs};

pub(crate) fn bench(criterion: &mut Criterion) {
    let trace = inputs::on_disk(&inputs::trace());
    let folder = tempfile::tempdir().expect("the temporary folder can be written");
    convert::convert(&trace, folder.path(), 1);
    let scratch = tempfile::tempdir().expect("the temporary folder can be written");
    let output = Arc::new(LocalFolder::create(scratch.path(), "again").expect("the folder is empty"));
    let mut group = criterion.benchmark_group("encode");
    for (name, dataset) in [("kernel_thread", "Kernel-Thread"), ("tracelogging", "Synth.Bulk.1")] {
        let file = ReadyFile::open(&file_of(folder.path(), dataset)).expect("the converter wrote it");
        assert_eq!(file.row_groups(), 1);
        let ready = file.row_group(0).expect("the converter wrote it");
        for (encoder, beside) in [(EncoderKind::Own, ""), (EncoderKind::Arrow, "_arrow")] {
            let writer = file.writer(&output, "again".to_owned(), encoder).expect("the same was written before");
            let encode = || writer.encode(&ready).expect("the same was written before").bytes();
            group.throughput(Throughput::ElementsAndBytes { elements: ready.rows() as u64, bytes: encode() });
            group.bench_function(format!("{name}{beside}"), |bencher| bencher.iter(encode));
        }
    }
    group.finish();
}

/// The only file of a dataset of the only trace.
fn file_of(out: &Path, dataset: &str) -> PathBuf {
    let mut traces = std::fs::read_dir(out).expect("the converter wrote it");
    let trace = traces.next().expect("the converter wrote it").expect("the converter wrote it");
    trace.path().join("events").join(dataset).join("part-00000-00000.parquet")
}
