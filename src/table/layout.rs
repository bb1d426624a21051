//! The columns of one table, and what its rows have in common by shape.

use std::sync::Arc;

use arrow_array::StringArray;
use arrow_schema::SchemaRef;

use super::header::HeaderColumn;
use crate::columns::TypeOptions;
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
    /// What the columns say that depend on the shape alone, for each shape of the table.
    pub(super) constants: Vec<ShapeConstants>,
    /// The event names, by the same index; empty where there is none.
    pub(super) event_names: StringArray,
    /// Whether rows say themselves what else their shape would, as those of the dataset `Other`.
    pub(super) has_identities: bool,
    /// The index of every shape of the trace in its table; one list for all tables.
    local_shapes: Arc<[u32]>,
}

/// What every row of a shape has in common.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are the columns of the same names")]
pub struct ShapeConstants {
    pub event_id: Option<u16>,
    pub event_version: Option<u16>,
    pub opcode: Option<u8>,
    pub event_name: Option<Box<str>>,
    pub decode_source: i32,
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
            decode_source: source as i32,
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
        let event_names = constants.iter().map(|constants| constants.event_name.as_deref().unwrap_or_default());
        let has_identities = header.contains(&HeaderColumn::ProviderId);
        let event_names = StringArray::from_iter_values(event_names);
        TableColumns { header, schema, types, constants, event_names, has_identities, local_shapes }
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
