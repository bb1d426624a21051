//! What a plan says.

use hashbrown::HashMap;

use super::catalog::CatalogEntry;
use super::filter::CompiledFilter;
use super::resolve::Resolved;
use super::tables::PlannedTable;
use crate::decode;
use crate::event::Shape;
use crate::schema::DecodeSource;
use crate::schema::wpp::CompiledMessage;
use crate::survey::Issues;

/// How events of one shape become rows.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each of them says another thing of the shape")]
pub struct ShapeDecoder {
    /// Index of the table.
    pub table: u32,
    /// The compiled layout; `None` keeps the payload as it is.
    pub plan: Option<decode::Program>,
    /// Whether the layout has fields; one without describes only empty payloads.
    pub has_fields: bool,
    /// Whether a layout is known and contradicted by every sample, so that the rows are errors.
    pub is_refused: bool,
    /// Whether the layout is that of events which say that their payload is one string.
    pub is_string: bool,
    /// How WPP messages are shown.
    pub message: Option<CompiledMessage>,
    /// Whether each row says itself what its shape says elsewhere.
    pub is_other: bool,
}

/// Everything that pass 2 needs to know.
#[derive(Debug)]
pub struct PlanResult {
    /// The event shapes; the index is the shape's number.
    pub catalog: Vec<CatalogEntry>,
    /// How each shape becomes rows, by number.
    pub shapes: Vec<ShapeDecoder>,
    /// The number of each shape.
    pub numbers: HashMap<Shape, u32>,
    /// The datasets.
    pub tables: Vec<PlannedTable>,
    /// What keeps events from becoming rows; `None` where all of them do.
    pub filter: Option<CompiledFilter>,
    /// Unusual findings per file, beside those of the survey.
    pub findings: Vec<Issues>,
}

impl ShapeDecoder {
    /// The decoder of a shape that goes to the given table.
    pub(super) fn new(shape: &Resolved, decode: Option<decode::Program>, table: u32) -> ShapeDecoder {
        let is_refused = shape.choice.as_ref().is_some_and(super::choose::Choice::is_refused);
        ShapeDecoder {
            table,
            plan: decode.filter(|_| !is_refused),
            has_fields: shape.choice.as_ref().is_some_and(|choice| !choice.candidate.schema.fields.is_empty()),
            is_refused,
            is_string: shape.choice.as_ref().is_some_and(|choice| choice.candidate.source == DecodeSource::String),
            message: shape.message.clone().map(CompiledMessage::new),
            is_other: false,
        }
    }
}
