//! The tables of a plan: their columns, and what writes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{Field, Schema};
use base::error::Result;
use columnar::columns::KeyTable;
use columnar::dataset::{FileNaming, TableSpec, TableWriter};
use columnar::output::{Output, options_hash};
use rayon::prelude::*;

use super::write_options::WriteOptions;
use crate::plan::{PlanResult, PlannedInputs, PlannedTable};
use crate::survey::{Progress, Step, timed};
use crate::table::{ShapeConstants, TableColumns};

/// Sets up the tables of a plan.
pub(super) struct TableSetup<'a> {
    pub plan: &'a PlanResult,
    pub inputs: &'a PlannedInputs<'a>,
    pub options: &'a WriteOptions,
    pub output: Arc<dyn Output>,
    /// The names of processes.
    pub names: &'a Arc<KeyTable>,
}

impl TableSetup<'_> {
    /// The columns and the writer of each table.
    pub(super) fn tables(&self, progress: &dyn Progress) -> Result<(Vec<Arc<TableColumns>>, Vec<TableWriter>)> {
        let (local_shapes, header, metadata) = (self.local_shapes(), self.header_fields(), self.metadata());
        let set_up = |table| {
            let columns = self.columns(table, &header, &local_shapes);
            let writer = self.writer(table, &columns, &metadata)?;
            Ok((columns, writer))
        };
        let tables = self.plan.tables.par_iter().map(|table| timed(progress, Step::Schema, || set_up(table)));
        let tables: Vec<_> = tables.collect::<Result<_>>()?;
        Ok(tables.into_iter().unzip())
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

    fn columns(
        &self,
        table: &PlannedTable,
        header: &BTreeMap<&'static str, Arc<Field>>,
        local_shapes: &Arc<[u32]>,
    ) -> Arc<TableColumns> {
        let types = self.options.types;
        let header = table.header.iter().map(|column| Arc::clone(&header[column.name()]));
        let payload = table.columns.columns.iter().map(|column| Arc::clone(&column.field));
        let fields: Vec<Arc<Field>> = header.chain(payload).collect();
        let (schema, local_shapes) = (Arc::new(Schema::new(fields)), Arc::clone(local_shapes));
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
        TableWriter::new(Arc::clone(&self.output), spec, &self.options.encode_options())
    }
}
