//! The columns of one table, and what its rows have in common by shape.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::header::HeaderColumn;
use super::row::RowStatus;
use crate::clock::TimeStatus;
use crate::columns::{KeyTable, TypeOptions};
use crate::event::EventIdentity;
use crate::guid::Guid;
use crate::schema::DecodeSource;

/// What the columns of a table are.
#[derive(Debug)]
pub struct TableColumns {
    /// The header columns, which come first.
    pub header: Vec<HeaderColumn>,
    /// Header and payload columns.
    pub schema: SchemaRef,
    /// Column types.
    pub types: TypeOptions,
    /// Where the values of each header column come from.
    pub(super) sources: Vec<HeaderSource>,
    /// What the columns say that depend on the shape alone, for each shape of the table.
    constants: Vec<ShapeConstants>,
    /// The index of every shape of the trace in its table; one list for all tables.
    local_shapes: Arc<[u32]>,
}

/// Where the values of a header column come from.
#[derive(Debug)]
pub(super) enum HeaderSource {
    /// The rows have them.
    Rows,
    /// The time of the row.
    Time,
    /// The shape of the row, which is the key.
    Shape(Arc<KeyTable>),
    /// All shapes of the table say the same; the key is 0.
    Constant(Arc<KeyTable>),
    /// The rows have the key of a text.
    Label(Arc<KeyTable>),
}

/// What every row of a shape has in common.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are the columns of the same names")]
pub struct ShapeConstants {
    pub event_id: Option<u16>,
    pub event_version: Option<u16>,
    pub opcode: Option<u8>,
    pub event_name: Option<Box<str>>,
    pub decode_source: DecodeSource,
    pub message_guid: Option<Guid>,
    /// Arrow bytes of these columns in one row.
    pub weight: u64,
}

impl ShapeConstants {
    /// Those of a shape with this identity, event name and schema source.
    pub fn new(identity: &EventIdentity, event_name: Option<&str>, source: DecodeSource) -> ShapeConstants {
        let name = event_name.unwrap_or_default().len();
        ShapeConstants {
            event_id: identity.event_id(),
            event_version: identity.event_version(),
            opcode: identity.event_opcode(),
            event_name: event_name.map(Box::from),
            decode_source: source,
            message_guid: identity.provider_id(),
            weight: (2 + 2 + 1 + 4 + name + 4 + source.name().len() + 4 + 2) as u64,
        }
    }
}

impl TableColumns {
    /// The columns of a table of shapes with these constants; `local_shapes` has the index of each shape of the trace
    /// among those of its table.
    pub fn new(
        header: Vec<HeaderColumn>,
        schema: SchemaRef,
        types: TypeOptions,
        constants: Vec<ShapeConstants>,
        local_shapes: Arc<[u32]>,
    ) -> Self {
        // Rows say themselves what else their shape would, as those of the dataset `Other`.
        let has_identities = header.contains(&HeaderColumn::ProviderId);
        let sources = header.iter().map(|&column| HeaderSource::of(column, &constants, has_identities)).collect();
        TableColumns { header, schema, types, sources, constants, local_shapes }
    }

    /// What every row of a shape has in common.
    pub fn constants(&self, shape: u32) -> &ShapeConstants {
        &self.constants[self.local_shape(shape) as usize]
    }

    /// The index of a shape in the table.
    pub(super) fn local_shape(&self, shape: u32) -> u32 {
        self.local_shapes[shape as usize]
    }

    /// The number of a column among the packed ones: header columns have their own, payload columns follow.
    pub(super) fn number(&self, index: usize) -> usize {
        match self.header.get(index) {
            Some(&column) => column as usize,
            None => HeaderColumn::ALL.len() + index - self.header.len(),
        }
    }
}

impl HeaderSource {
    fn of(column: HeaderColumn, constants: &[ShapeConstants], has_identities: bool) -> HeaderSource {
        let numbers = |value: fn(&ShapeConstants) -> Option<i64>| {
            HeaderSource::by_shape(KeyTable::Numbers(constants.iter().map(value).collect()))
        };
        match column {
            HeaderColumn::Timestamp => HeaderSource::Time,
            HeaderColumn::DecodeStatus => HeaderSource::labels(RowStatus::ALL.map(RowStatus::name)),
            HeaderColumn::TimeStatus => HeaderSource::labels(TimeStatus::ALL.map(TimeStatus::name)),
            HeaderColumn::EventName => {
                let names = constants.iter().map(|constants| constants.event_name.as_deref());
                HeaderSource::by_shape(KeyTable::of_texts(names))
            }
            HeaderColumn::DecodeSource => {
                let sources = constants.iter().map(|constants| Some(constants.decode_source.name()));
                HeaderSource::by_shape(KeyTable::of_texts(sources))
            }
            HeaderColumn::MessageGuid => {
                let guids = constants.iter().map(|constants| constants.message_guid.map(Guid::to_text_order));
                HeaderSource::by_shape(KeyTable::Guids(guids.collect()))
            }
            column if has_identities || !column.is_of_identity() => HeaderSource::Rows,
            HeaderColumn::EventId => numbers(|constants| constants.event_id.map(i64::from)),
            HeaderColumn::EventVersion => numbers(|constants| constants.event_version.map(i64::from)),
            HeaderColumn::Opcode => numbers(|constants| constants.opcode.map(i64::from)),
            // The others of an identity stand in tables only that keep them.
            _ => numbers(|_| None),
        }
    }

    fn by_shape(table: KeyTable) -> HeaderSource {
        if table.is_constant() && !table.is_empty() {
            HeaderSource::Constant(Arc::new(table))
        } else {
            HeaderSource::Shape(Arc::new(table))
        }
    }

    fn labels<const N: usize>(labels: [&'static str; N]) -> HeaderSource {
        HeaderSource::Label(Arc::new(KeyTable::of_texts(labels.map(Some))))
    }
}
