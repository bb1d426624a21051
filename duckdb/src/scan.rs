//! The calls of DuckDB: a function is bound, started, and asked for its rows, 2,048 at a time.

#![expect(unsafe_code, reason = "DuckDB calls functions of C, and hands them pointers")]

use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use base::error::{Error, Result};
use batch::caught;
use libduckdb_sys::{duckdb_bind_info, duckdb_data_chunk, duckdb_function_info, duckdb_init_info};
use quack_rs::connection::{Connection, Registrar as _};
use quack_rs::data_chunk::DataChunk;
use quack_rs::error::ExtensionError;
use quack_rs::replacement_scan::ReplacementScanInfo;
use quack_rs::table::{BindFn, BindInfo, FfiBindData, FfiInitData, FunctionInfo, InitInfo, TableFunctionBuilder};
use quack_rs::types::TypeId;
use quack_rs::vector::vector_size;
use quack_rs::{replacement_scan_callback, table_bind_callback, table_init_callback, table_scan_callback};

use super::functions::{Bound, FUNCTIONS, OF_FILES, Source, TableFunction};
use super::types::logical_type;
use super::{arguments, interrupt, vectors};

/// Adds the functions, and files in the place of tables.
///
/// # Errors
/// Why DuckDB does not take a function.
pub(crate) fn register(connection: &Connection) -> Result<(), ExtensionError> {
    let binds: [BindFn; FUNCTIONS.len()] = [bind_events, bind_datasets, bind_table];
    for (function, bind) in FUNCTIONS.iter().zip(binds) {
        let builder = builder(function).bind(bind).init(init).scan(scan).projection_pushdown(true);
        // SAFETY: the calls are for each other: `init` and `scan` read what `bind` and `init` have left.
        unsafe { connection.register_table(builder)? };
    }
    // SAFETY: the call takes no data.
    unsafe { connection.register_replacement_scan(replace, std::ptr::null_mut(), None) };
    Ok(())
}

fn builder(function: &TableFunction) -> TableFunctionBuilder {
    let mut builder = TableFunctionBuilder::new(function.name);
    for _ in 0..=function.others {
        builder = builder.param(TypeId::Varchar);
    }
    for name in function.named {
        builder = builder.named_param(name, TypeId::Varchar);
    }
    function.options().fold(builder, |builder, option| builder.named_param(&option.name, TypeId::Any))
}

table_bind_callback!(bind_events, |info| { bind(&FUNCTIONS[0], info) });
table_bind_callback!(bind_datasets, |info| { bind(&FUNCTIONS[1], info) });
table_bind_callback!(bind_table, |info| { bind(&FUNCTIONS[2], info) });

fn bind(function: &TableFunction, info: duckdb_bind_info) {
    interrupt::begin();
    // SAFETY: `info` is what DuckDB has called with.
    let call = unsafe { BindInfo::new(info) };
    let bound = caught(|| {
        let (texts, named) = arguments::of_call(function, &call)?;
        let bound = function.bind(&texts, named)?;
        for field in bound.schema.fields() {
            call.add_result_column_with_type(field.name(), &logical_type(field.data_type())?);
        }
        Ok(bound)
    });
    match bound {
        Ok(bound) => {
            if let Some(count) = bound.count {
                call.set_cardinality(count, true);
            }
            // SAFETY: `info` is as above, and this is the only place that sets what was bound.
            unsafe { FfiBindData::set(info, bound) };
        }
        Err(error) => call.set_error(&error.to_string()),
    }
}

table_init_callback!(init, |info| { begin(info) });

fn begin(info: duckdb_init_info) {
    interrupt::begin();
    // SAFETY: `info` is what DuckDB has called with.
    let call = unsafe { InitInfo::new(info) };
    // SAFETY: every function leaves a `Bound`.
    let bound = unsafe { FfiBindData::<Bound>::get_from_init(info) };
    let reader = caught(|| {
        let bound = bound.ok_or_else(|| Error::bug("the function is not bound"))?;
        Reader::start(bound, &call)
    });
    match reader {
        // SAFETY: `info` is as above, and this is the only place that sets what was started.
        Ok(reader) => unsafe { FfiInitData::set(info, Mutex::new(reader)) },
        Err(error) => call.set_error(&error.to_string()),
    }
}

table_scan_callback!(scan, |info, output| { fill(info, output) });

fn fill(info: duckdb_function_info, output: duckdb_data_chunk) {
    // SAFETY: `output` is what DuckDB has called with.
    let chunk = unsafe { DataChunk::from_raw(output) };
    // SAFETY: every function leaves one.
    let reader = unsafe { FfiInitData::<Mutex<Reader>>::get(info) };
    let rows = caught(|| {
        let reader = reader.ok_or_else(|| Error::bug("the function is not started"))?;
        // One that has failed within is not asked again.
        reader.lock().unwrap_or_else(PoisonError::into_inner).fill(&chunk)
    });
    let rows = rows.unwrap_or_else(|error| {
        // SAFETY: `info` is what DuckDB has called with.
        unsafe { FunctionInfo::new(info) }.set_error(&error.to_string());
        0
    });
    // SAFETY: so many rows are filled; no row is the end.
    unsafe { chunk.set_size(rows) };
}

/// Rows on their way to DuckDB.
struct Reader {
    source: Source,
    /// For each column of a chunk its number in the batches; `None` for one that is no column of the function, such as the one
    /// by which DuckDB counts rows.
    places: Vec<Option<usize>>,
    batch: Option<RecordBatch>,
    /// The row of the batch that comes next.
    next_row: usize,
}

impl Reader {
    fn start(bound: &Bound, call: &InitInfo) -> Result<Reader> {
        let known = bound.schema.fields().len();
        let asked = (0..call.projected_column_count()).map(|place| call.projected_column_index(place));
        let asked: Vec<Option<usize>> = asked.map(|column| column.filter(|&column| column < known)).collect();
        let mut columns = Vec::new();
        let places = asked.into_iter().map(|column| {
            let column = column?;
            columns.push(column);
            Some(columns.len() - 1)
        });
        let places = places.collect();
        Ok(Reader { source: bound.start(&columns)?, places, batch: None, next_row: 0 })
    }

    /// Fills a chunk; returns its rows.
    fn fill(&mut self, chunk: &DataChunk) -> Result<usize> {
        let batch = loop {
            match self.batch.take().filter(|batch| self.next_row < batch.num_rows()) {
                Some(batch) => break self.batch.insert(batch),
                None => self.next_row = 0,
            }
            match self.source.next_batch()? {
                Some(batch) => self.batch = Some(batch),
                None => return Ok(0),
            }
        };
        let room = usize::try_from(vector_size()).unwrap_or(usize::MAX);
        let rows = self.next_row..batch.num_rows().min(self.next_row.saturating_add(room));
        for (column, place) in self.places.iter().enumerate() {
            let Some(place) = place else { continue };
            // SAFETY: the chunk has a vector for each column that was asked for, of its type, with room for `room` rows.
            unsafe { vectors::write(batch.column(*place), rows.clone(), chunk.vector(column), 0)? };
        }
        self.next_row = rows.end;
        Ok(rows.len())
    }
}

replacement_scan_callback!(replace, |info, name, data| {
    let _ = data;
    // SAFETY: DuckDB calls with the name of a table, which ends with a zero.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    if is_trace(&name) {
        // SAFETY: `info` is what DuckDB has called with.
        unsafe { ReplacementScanInfo::new(info) }.set_function(OF_FILES).add_varchar_parameter(&name);
    }
});

/// Whether the name of a table is the path of a trace.
fn is_trace(name: &str) -> bool {
    let ending = name.len().checked_sub(4).and_then(|start| name.get(start..));
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(".etl"))
}
