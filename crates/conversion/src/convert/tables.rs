//! The tables of a plan: their columns, and the writers of their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use columnar::columns::{KeyTable, TypeOptions};
use columnar::dataset::{FileNaming, TableSpec, TableWriter};
use columnar::output::{Output, options_hash};
use rayon::prelude::*;

use super::write_options::WriteOptions;
use crate::plan::{PlanResult, PlannedInputs, PlannedTable};
use crate::table::header::HeaderColumn;
use crate::table::{ShapeConstants, TableColumns};

/// Sets up the tables of a plan.
pub(super) struct TableSetup<'a> {
    pub plan: &'a PlanResult,
    pub inputs: &'a PlannedInputs<'a>,
    pub options: &'a WriteOptions,
    /// The names of processes.
    pub names: &'a Arc<KeyTable>,
}

impl TableSetup<'_> {
    /// The columns of each table.
    pub(super) fn columns(&self, progress: &dyn Progress) -> Result<Vec<Arc<TableColumns>>> {
        let (local_shapes, header) = (self.local_shapes(), self.header_fields());
        let columns = |table| {
            stop_if_cancelled(progress)?;
            Ok(timed(progress, Step::Schema, || self.columns_of(table, &header, &local_shapes)))
        };
        self.plan.tables.par_iter().map(columns).collect()
    }

    /// The writer of each table, which has these columns.
    pub(super) fn writers(
        &self,
        columns: &[Arc<TableColumns>],
        output: &Arc<dyn Output>,
        progress: &dyn Progress,
    ) -> Result<Vec<TableWriter>> {
        let metadata = self.metadata();
        let tables = self.plan.tables.par_iter().zip(columns);
        let writer = |(table, columns): (&PlannedTable, &Arc<TableColumns>)| {
            timed(progress, Step::Schema, || self.writer(table, columns, output, &metadata))
        };
        tables.map(writer).collect()
    }

    /// The fields of all header columns, by name: tables share them.
    fn header_fields(&self) -> BTreeMap<&'static str, Arc<Field>> {
        let mut fields = BTreeMap::new();
        for column in self.plan.tables.iter().flat_map(|table| &table.header) {
            fields.entry(column.name()).or_insert_with(|| Arc::new(column.field(&self.options.types)));
        }
        fields
    }

    /// The index of every shape among those of its table.
    fn local_shapes(&self) -> Arc<[u32]> {
        let mut indexes = vec![0; self.plan.shapes.len()];
        for table in &self.plan.tables {
            table.shapes.iter().zip(0..).for_each(|(&shape, index)| indexes[shape as usize] = index);
        }
        indexes.into()
    }

    /// What the footers of all tables say: nothing that varies between runs.
    fn metadata(&self) -> [(String, String); 2] {
        let hashes: Vec<&str> = self.inputs.iter().filter_map(|input| input.blake3.as_deref()).collect();
        [
            ("etl2parquet.input_blake3".to_owned(), hashes.join(",")),
            ("etl2parquet.options_hash".to_owned(), options_hash(&self.options.settings)),
        ]
    }

    fn columns_of(
        &self,
        table: &PlannedTable,
        header: &BTreeMap<&'static str, Arc<Field>>,
        local_shapes: &Arc<[u32]>,
    ) -> Arc<TableColumns> {
        let types = self.options.types;
        let schema = schema_of(table, |column| Arc::clone(&header[column.name()]));
        let local_shapes = Arc::clone(local_shapes);
        let constants = table.shapes.iter().map(|&shape| {
            let entry = self.plan.entry(&self.plan.shapes[shape as usize]);
            ShapeConstants::new(&entry.shape.key.identity, entry.event_name(), entry.shape.decode_source)
        });
        let (constants, names) = (constants.collect::<Vec<_>>(), Arc::clone(self.names));
        Arc::new(TableColumns::new(table.header.clone(), schema, types, &constants, local_shapes, names))
    }

    fn writer(
        &self,
        table: &PlannedTable,
        columns: &TableColumns,
        output: &Arc<dyn Output>,
        metadata: &[(String, String); 2],
    ) -> Result<TableWriter> {
        let mut pairs = vec![("etl2parquet.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
        pairs.extend(table.provider_id.map(|id| ("etl2parquet.provider_id".to_owned(), id.to_string())));
        pairs.extend(table.provider_name.clone().map(|name| ("etl2parquet.provider_name".to_owned(), name)));
        pairs.extend_from_slice(metadata);
        let spec = TableSpec {
            folder: format!("events/{}", table.dataset),
            files: FileNaming::Parts,
            schema: Arc::clone(&columns.schema),
            metadata: pairs,
            provider_id: table.provider_id,
            provider_name: table.provider_name.clone(),
        };
        TableWriter::new(Arc::clone(output), spec, &self.options.encode_options())
    }
}

/// The columns of a table as readers meet them.
pub fn table_schema(table: &PlannedTable, types: &TypeOptions) -> SchemaRef {
    schema_of(table, |column| Arc::new(column.field(types)))
}

fn schema_of(table: &PlannedTable, header: impl Fn(&HeaderColumn) -> Arc<Field>) -> SchemaRef {
    let payload = table.columns.columns.iter().map(|column| Arc::clone(&column.field));
    let fields: Vec<Arc<Field>> = table.header.iter().map(header).chain(payload).collect();
    Arc::new(Schema::new(fields))
}
