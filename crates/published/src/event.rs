//! What the sidecar of a trace tells of events: their names, and the columns of their fields.

use std::collections::HashMap;

use base::error::Result;

use super::sidecar::Sidecar;
use super::table::Batch;

/// An event shape, as traces are compared by it.
#[derive(Clone, Debug)]
pub(super) struct EventFact {
    /// The provider's id; its folder where it has none.
    pub provider: String,
    /// What tells the event from others of its provider.
    pub event: String,
    /// Its name, of an event that is not its name.
    pub comparable_name: Option<String>,
}

/// A field of an event shape and one of its columns.
#[derive(Clone, Debug)]
pub(super) struct FieldFact {
    /// The field with its place, the type of the column and what of the field that holds: the same in every trace.
    pub field: String,
    /// The column.
    pub column: String,
}

/// What of the sidecar is handed on, as it is read.
pub(super) enum SidecarFact<'a> {
    /// An event shape.
    Event(&'a EventFact),
    /// A field of one.
    Field(&'a EventFact, FieldFact),
}

/// Hands over the events of a trace and their fields.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when its sidecar cannot be read.
pub(super) fn read_events(sidecar: &Sidecar<'_>, each: &mut dyn FnMut(SidecarFact<'_>)) -> Result<()> {
    let mut events: HashMap<i64, EventFact> = HashMap::new();
    sidecar.read("catalog", CATALOG, &mut |batch| {
        for row in 0..batch.rows() {
            let Some((shape, event)) = batch.integer(0, row).zip(event(batch, row)) else { continue };
            each(SidecarFact::Event(&event));
            events.insert(shape, event);
        }
        Ok(())
    })?;
    sidecar.read("fields", FIELDS, &mut |batch| {
        for row in 0..batch.rows() {
            let event = batch.integer(0, row).and_then(|shape| events.get(&shape));
            let Some((event, field)) = event.zip(field(batch, row)) else { continue };
            each(SidecarFact::Field(event, field));
        }
        Ok(())
    })
}

const CATALOG: &[&str] =
    &["shape", "provider_id", "dataset", "kind", "event_id", "event_version", "opcode", "event_name", "metadata"];

/// An event of the catalog; WPP messages have neither names nor fields.
fn event(batch: &Batch, row: usize) -> Option<EventFact> {
    let dataset = batch.text(2, row)?;
    if batch.text(3, row) == Some("message") {
        return None;
    }
    let folder = dataset.split('/').next().unwrap_or(dataset);
    let provider = batch.text(1, row).unwrap_or(folder).to_owned();
    let (name, describes_itself) = (batch.text(7, row), !batch.is_null(8, row));
    let version = batch.integer(5, row).map(|version| format!(" version {version}")).unwrap_or_default();
    let event = match (batch.integer(4, row), batch.integer(6, row)) {
        (Some(_), _) if describes_itself => format!("event {}{version}", name.unwrap_or_default()),
        (Some(id), _) => format!("event {id}{version}"),
        (None, Some(opcode)) => format!("opcode {opcode}{version}"),
        (None, None) => return None,
    };
    let comparable_name = (!describes_itself).then(|| name.unwrap_or("no name").to_owned());
    Some(EventFact { provider, event, comparable_name })
}

const FIELDS: &[&str] = &["shape", "position", "field", "column", "column_type"];

fn field(batch: &Batch, row: usize) -> Option<FieldFact> {
    let (position, field) = (batch.integer(1, row)?, batch.text(2, row)?);
    let (column, column_type) = (batch.text(3, row)?, batch.text(4, row)?);
    let role = ["_label", "_filetime", "_ns"].into_iter().find(|suffix| column.ends_with(suffix)).unwrap_or_default();
    Some(FieldFact { field: format!("{position} {field}{role} ({column_type})"), column: column.to_owned() })
}
