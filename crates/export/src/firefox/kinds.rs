//! The kinds of markers, with their fields.

use fxprof_processed_profile::{
    CategoryHandle, Marker, MarkerFieldFlags, MarkerFieldFormat, MarkerFieldFormatKind, MarkerLocations,
    MarkerTypeHandle, Profile, RuntimeSchemaMarkerField, RuntimeSchemaMarkerSchema, StringHandle,
};

/// What a marker is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A thread waited.
    Wait,
    /// .NET stopped the threads of the process.
    GcPause,
    /// .NET threw an exception.
    Exception,
    /// A disk operation.
    Disk,
    /// An operation on a file, as the program asked for it.
    File,
    /// Bytes over the network.
    Network,
    /// A module was loaded.
    ImageLoad,
    /// What a program did, from its start to its stop, as events with an activity id record it.
    Activity,
}

/// A field of a kind: its key, what the viewer calls it, and how it shows it.
type Field = (&'static str, &'static str, MarkerFieldFormat);

impl Kind {
    /// All of them.
    pub(super) const ALL: [Kind; 8] = [
        Kind::Wait,
        Kind::GcPause,
        Kind::Exception,
        Kind::Disk,
        Kind::File,
        Kind::Network,
        Kind::ImageLoad,
        Kind::Activity,
    ];

    /// What the viewer calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Wait => "Wait",
            Kind::GcPause => "GC pause",
            Kind::Exception => "Exception",
            Kind::Disk => "Disk I/O",
            Kind::File => "File I/O",
            Kind::Network => "Network",
            Kind::ImageLoad => "Image load",
            Kind::Activity => "Activity",
        }
    }

    /// Its fields, those of texts first.
    fn fields(self) -> Vec<Field> {
        let text = |key, label| (key, label, MarkerFieldFormat::String);
        let number = |key, label| (key, label, MarkerFieldFormat::Integer);
        let bytes = ("bytes", "Bytes", MarkerFieldFormat::Bytes);
        match self {
            Kind::Wait => Vec::new(),
            Kind::GcPause => vec![text("reason", "Reason")],
            Kind::Exception => vec![text("type", "Type"), text("message", "Message")],
            Kind::Disk => vec![text("operation", "Operation"), bytes, number("disk", "Disk")],
            Kind::File => vec![text("operation", "Operation"), text("path", "Path"), bytes],
            Kind::Network => vec![text("operation", "Operation"), text("remote", "Addresses"), bytes],
            Kind::ImageLoad => vec![text("path", "Path"), bytes],
            Kind::Activity => vec![
                text("event", "Event"),
                text("provider", "Provider"),
                text("activity", "Activity"),
                text("related", "Related activity"),
            ],
        }
    }

    /// What the viewer shows in its chart and table: the first field.
    fn label(self) -> Option<String> {
        self.fields().first().map(|(key, ..)| format!("{{marker.data.{key}}}"))
    }

    /// Makes the kind known to a profile.
    pub(super) fn register(self, profile: &mut Profile) -> MarkerTypeHandle {
        let fields = self.fields().into_iter().map(|(key, label, format)| RuntimeSchemaMarkerField {
            key: key.to_owned(),
            label: label.to_owned(),
            flags: match format.kind() {
                MarkerFieldFormatKind::String => MarkerFieldFlags::SEARCHABLE,
                MarkerFieldFormatKind::Number => MarkerFieldFlags::empty(),
            },
            format,
        });
        profile.register_marker_type(RuntimeSchemaMarkerSchema {
            type_name: self.name().to_owned(),
            description: None,
            locations: MarkerLocations::MARKER_CHART | MarkerLocations::MARKER_TABLE,
            chart_label: self.label(),
            tooltip_label: None,
            table_label: self.label(),
            fields: fields.collect(),
            graphs: Vec::new(),
        })
    }
}

/// A marker with the values of its fields: texts and numbers, each in the order of their fields.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    /// Its kind.
    pub(super) kind: MarkerTypeHandle,
    /// What it is called.
    pub(super) name: StringHandle,
    /// Its category.
    pub(super) category: CategoryHandle,
    /// Values of all fields, those of texts first.
    pub(super) values: Vec<Value>,
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A text.
    Text(StringHandle),
    /// A number.
    Number(f64),
}

impl Marker for Filled {
    fn marker_type(&self, _profile: &mut Profile) -> MarkerTypeHandle {
        self.kind
    }

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, field: u32) -> StringHandle {
        match self.value(field) {
            Some(Value::Text(text)) => text,
            // Asked of fields of texts alone.
            _ => self.name,
        }
    }

    fn number_field_value(&self, field: u32) -> f64 {
        match self.value(field) {
            Some(Value::Number(number)) => number,
            _ => 0.0,
        }
    }
}

impl Filled {
    fn value(&self, field: u32) -> Option<Value> {
        self.values.get(usize::try_from(field).ok()?).copied()
    }
}
