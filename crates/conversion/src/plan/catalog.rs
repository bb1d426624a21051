//! What is known of every event shape of a recording, as the table `catalog` of the sidecar has it.

use schema::model::EventSchema;
use schema::pack::{EventFacts, Pack};

use super::result::{PlanResult, PlannedShape, PlannedTable, ShapeName};
use crate::decode::FieldColumn;

/// One event shape with its table and its schema.
#[derive(Clone, Copy, Debug)]
pub struct CatalogEntry<'a> {
    /// The shape.
    pub shape: &'a PlannedShape,
    /// Its table.
    pub table: &'a PlannedTable,
    /// What describes its payloads.
    pub schema: Option<&'a EventSchema>,
    /// What its events say in words.
    pub template: Option<&'a str>,
}

impl PlanResult {
    /// The shapes, in the order of their numbers.
    pub fn catalog(&self) -> impl ExactSizeIterator<Item = CatalogEntry<'_>> {
        self.shapes.iter().map(|shape| self.entry(shape))
    }

    /// A shape of the plan with its table and its schema.
    pub fn entry<'a>(&'a self, shape: &'a PlannedShape) -> CatalogEntry<'a> {
        CatalogEntry {
            shape,
            table: &self.tables[shape.table as usize],
            schema: self.schema(shape).map(|schema| &**schema),
            template: self.template(shape).map(|template| &**template),
        }
    }
}

impl<'a> CatalogEntry<'a> {
    /// The provider's name, if anything names it.
    pub fn provider_name(self) -> Option<&'a str> {
        self.table.provider_name.as_deref()
    }

    /// Folder of the dataset below `events`.
    pub fn dataset(self) -> &'a str {
        &self.table.dataset
    }

    /// The name people know the event by.
    pub fn event_name(self) -> Option<&'a str> {
        match &self.shape.event_name {
            ShapeName::Declared => self.declared_name(),
            ShapeName::Settled(name) => Some(name),
            ShapeName::Unknown => None,
        }
    }

    /// The name that its schema has for the event.
    pub fn declared_name(self) -> Option<&'a str> {
        self.schema?.event_name.as_deref()
    }

    /// The task's name.
    pub fn task_name(self) -> Option<&'a str> {
        self.schema?.task_name.as_deref()
    }

    /// The opcode's name.
    pub fn opcode_name(self) -> Option<&'a str> {
        self.schema.and_then(|schema| schema.opcode_name.as_deref()).or(self.shape.opcode_name.as_deref())
    }

    /// Names of the declared keywords.
    pub fn keyword_names(self) -> &'a [String] {
        self.schema.map_or(&[], |schema| &schema.keyword_names)
    }

    /// Its rows of the sidecar table `fields`: the payload fields and their columns.
    pub fn field_columns(self) -> Vec<FieldColumn> {
        let listed = self.schema.filter(|_| self.shape.lists_fields);
        listed.map_or_else(Vec::new, |schema| self.table.field_columns(self.shape, schema, self.field_facts()))
    }

    /// What is known of its fields beyond their types.
    fn field_facts(self) -> EventFacts<'a> {
        let provider = self.shape.key.identity.provider_id();
        provider.map(|id| Pack::builtin().field_facts(&id, self.event_name())).unwrap_or_default()
    }
}
