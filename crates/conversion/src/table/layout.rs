//! The columns of one table, and what its rows have in common by shape.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use base::guid::Guid;
use columnar::columns::packed::Packed;
use columnar::columns::{KeyTable, TypeOptions};
use etl::event::EventIdentity;
use schema::DecodeSource;

use super::header::{HeaderColumn, guid_weight, text_weight, unsigned_width};

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
    /// The Arrow bytes of what a row does not hold itself, for each shape of the table.
    shape_weights: Vec<u64>,
    /// The index of every shape of the trace in its table; one list for all tables.
    local_shapes: Arc<[u32]>,
    /// The names of processes.
    names: Arc<KeyTable>,
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
}

impl ShapeConstants {
    /// Those of a shape with this identity, event name and schema source.
    pub fn new(identity: &EventIdentity, event_name: Option<&str>, source: DecodeSource) -> ShapeConstants {
        ShapeConstants {
            event_id: identity.event_id(),
            event_version: identity.event_version(),
            opcode: identity.event_opcode(),
            event_name: event_name.map(Box::from),
            decode_source: source,
            message_guid: identity.provider_id(),
        }
    }

    /// The Arrow bytes of those columns of a table that the shape fills.
    fn weight(&self, header: &[HeaderColumn], has_identities: bool, types: &TypeOptions) -> u64 {
        let number = |is_there: bool, bytes| if is_there { unsigned_width(bytes, types) } else { 0 };
        let weight = |column: &HeaderColumn| match column {
            HeaderColumn::EventName => self.event_name.as_deref().map_or(0, text_weight),
            HeaderColumn::DecodeSource => text_weight(self.decode_source.name()),
            HeaderColumn::MessageGuid => self.message_guid.map_or(0, |_| guid_weight(types)),
            column if has_identities && column.is_of_identity() => 0,
            HeaderColumn::EventId => number(self.event_id.is_some(), 2),
            HeaderColumn::EventVersion => number(self.event_version.is_some(), 2),
            HeaderColumn::Opcode => number(self.opcode.is_some(), 1),
            _ => 0,
        };
        header.iter().map(weight).sum()
    }
}

impl TableColumns {
    /// The columns of a table of shapes with these constants; `local_shapes` has the index of each shape of the trace
    /// among those of its table, and `names` are those of processes, by their numbers.
    pub fn new(
        header: Vec<HeaderColumn>,
        schema: SchemaRef,
        types: TypeOptions,
        constants: &[ShapeConstants],
        local_shapes: Arc<[u32]>,
        names: Arc<KeyTable>,
    ) -> Self {
        // Rows say themselves what else their shape would, as those of the dataset `Other`.
        let has_identities = header.contains(&HeaderColumn::ProviderId);
        let source = |&column: &HeaderColumn| HeaderSource::of(column, constants, has_identities, &names);
        let sources = header.iter().map(source).collect();
        let weight = |shape: &ShapeConstants| shape.weight(&header, has_identities, &types);
        let shape_weights = constants.iter().map(weight).collect();
        TableColumns { header, schema, types, sources, shape_weights, local_shapes, names }
    }

    /// The Arrow bytes of what a row of a shape does not hold itself.
    pub fn shape_weight(&self, shape: u32) -> u64 {
        self.shape_weights[self.local_shape(shape) as usize]
    }

    /// The Arrow bytes of the texts of a column that holds names of processes; none of any other.
    pub(super) fn name_weight(&self, column: HeaderColumn, values: &Packed) -> u64 {
        let Packed::Fixed(numbers) = values else { return 0 };
        if column != HeaderColumn::ProcessName {
            return 0;
        }
        let keys = numbers.bytes.as_chunks().0.iter().map(|&key| u32::from_le_bytes(key));
        keys.map(|key| self.names.text(key as usize).map_or(0, str::len) as u64).sum()
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
    fn of(
        column: HeaderColumn,
        constants: &[ShapeConstants],
        has_identities: bool,
        names: &Arc<KeyTable>,
    ) -> HeaderSource {
        let numbers = |value: fn(&ShapeConstants) -> Option<i64>| {
            HeaderSource::by_shape(KeyTable::Numbers(constants.iter().map(value).collect()))
        };
        match column {
            HeaderColumn::Timestamp => HeaderSource::Time,
            HeaderColumn::ProcessName => HeaderSource::Label(Arc::clone(names)),
            HeaderColumn::Attribution
            | HeaderColumn::DecodeStatus
            | HeaderColumn::Recovered
            | HeaderColumn::TimeStatus => {
                HeaderSource::Label(Arc::new(KeyTable::of_texts(column.labels().into_iter().map(Some))))
            }
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
}
