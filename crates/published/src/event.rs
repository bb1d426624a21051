//! What the sidecar of a trace records of events: their names, and the columns of their fields.

use std::collections::HashMap;

use base::error::Result;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::fields::FieldRow;

use super::sidecar::Sidecar;

/// An event shape, as traces are compared by it.
#[derive(Clone, Debug)]
pub(super) struct EventFact {
    /// The provider's id; its folder where it has none.
    pub provider: String,
    /// What distinguishes the event from others of its provider.
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
    let mut events: HashMap<u32, EventFact> = HashMap::new();
    sidecar.rows::<ShapeName<'_>>(|row| {
        let Some(event) = row.event() else { return };
        each(SidecarFact::Event(&event));
        events.insert(row.shape, event);
    })?;
    sidecar.rows::<FieldColumn<'_>>(|row| {
        let Some((event, field)) = events.get(&row.shape).zip(row.fact()) else { return };
        each(SidecarFact::Field(event, field));
    })
}

read_columns! {
    /// An event shape of the catalog.
    struct ShapeName<'b> of CatalogRow<'static> {
        shape: u32,
        provider_id: Option<&'b str>,
        dataset: &'b str,
        kind: &'b str,
        event_id: Option<u16>,
        event_version: Option<u16>,
        opcode: Option<u8>,
        event_name: Option<&'b str>,
        metadata: Option<&'b [u8]>,
    }
}

impl ShapeName<'_> {
    /// The event; WPP messages have neither names nor fields.
    fn event(&self) -> Option<EventFact> {
        if self.kind == "message" {
            return None;
        }
        let folder = self.dataset.split('/').next().unwrap_or(self.dataset);
        let describes_itself = self.metadata.is_some();
        let version = self.event_version.map(|version| format!(" version {version}")).unwrap_or_default();
        let event = match (self.event_id, self.opcode) {
            (Some(_), _) if describes_itself => format!("event {}{version}", self.event_name.unwrap_or_default()),
            (Some(id), _) => format!("event {id}{version}"),
            (None, Some(opcode)) => format!("opcode {opcode}{version}"),
            (None, None) => return None,
        };
        let comparable_name = (!describes_itself).then(|| self.event_name.unwrap_or("no name").to_owned());
        Some(EventFact { provider: self.provider_id.unwrap_or(folder).to_owned(), event, comparable_name })
    }
}

read_columns! {
    /// A field of a shape, and one of its columns.
    struct FieldColumn<'b> of FieldRow {
        shape: u32,
        position: u32,
        field: &'b str,
        column: Option<&'b str>,
        column_type: Option<&'b str>,
    }
}

impl FieldColumn<'_> {
    fn fact(&self) -> Option<FieldFact> {
        let FieldColumn { position, field, .. } = self;
        let (column, column_type) = (self.column?, self.column_type?);
        let role = ["_label", "_filetime", "_ns"].into_iter().find(|suffix| column.ends_with(suffix));
        let role = role.unwrap_or_default();
        Some(FieldFact { field: format!("{position} {field}{role} ({column_type})"), column: column.to_owned() })
    }
}
