//! The unit and the meaning of a column's values: what decoding makes of a field, and what is known of it.

use schema::family::ColumnRole;
use schema::model::{Field, FieldKind};
use schema::pack::FieldFact;

use super::interpret::{self, Interpretation};

/// Ticks of the trace's clock or of the performance counter.
const TICKS: &str = "ticks";
/// What FILETIMEs count.
const FILETIME: &str = "100 ns";

/// What is known of a column of a field; `role` is `None` of a field without a column. `known`: what the built-in facts say of
/// the field's value.
pub(super) fn of_column(field: &Field, role: Option<ColumnRole>, known: FieldFact) -> FieldFact {
    let made = match role {
        None => of_wire(field),
        Some(ColumnRole::Value) => of_value(field),
        Some(role) => of_companion(field, role),
    };
    // What stands beside a value is no value in its unit.
    let unit = if matches!(role, None | Some(ColumnRole::Value)) { made.unit.or(known.unit) } else { made.unit };
    FieldFact { unit, description: known.description.or(made.description) }
}

fn interpretation(field: &Field) -> Option<Interpretation> {
    match field.kind {
        FieldKind::Value { .. } => interpret::interpret(field),
        FieldKind::Struct(_) => None,
    }
}

fn fact(unit: &'static str, description: &'static str) -> FieldFact {
    FieldFact { unit: Some(unit), description: Some(description) }
}

/// The value as the payload has it.
fn of_wire(field: &Field) -> FieldFact {
    match interpretation(field) {
        Some(Interpretation::TraceTime) => fact(TICKS, "a time of the trace's clock"),
        Some(Interpretation::FileTime) => fact(FILETIME, "since 1601-01-01 UTC"),
        _ => of_value(field),
    }
}

/// The column of the value itself. Of a timestamp the type is the unit.
fn of_value(field: &Field) -> FieldFact {
    match interpretation(field) {
        Some(Interpretation::Ticks) => fact(TICKS, "a span of the performance counter"),
        _ => FieldFact::default(),
    }
}

fn of_companion(field: &Field, role: ColumnRole) -> FieldFact {
    match (role, interpretation(field)) {
        (ColumnRole::FileTime, _) => fact(FILETIME, "since 1601-01-01 UTC"),
        (ColumnRole::Nanos, Some(Interpretation::TraceTime)) => fact("ns", "since 1970-01-01 UTC"),
        (ColumnRole::Nanos, _) => FieldFact { unit: Some("ns"), description: None },
        (ColumnRole::Value | ColumnRole::Label, _) => FieldFact::default(),
    }
}

#[cfg(test)]
mod tests {
    use schema::model::{Length, Meaning, Wire};

    use super::*;

    fn t(wire: Wire, meaning: Meaning, role: Option<ColumnRole>, known: FieldFact) -> String {
        let kind = FieldKind::Value { wire, meaning, length: Length::Natural };
        let FieldFact { unit, description } = of_column(&Field { kind, ..Field::value("X", wire) }, role, known);
        format!("{}, {}", unit.unwrap_or("-"), description.unwrap_or("-"))
    }

    #[test]
    fn units_follow_from_what_decoding_makes_of_a_field() {
        use ColumnRole::{FileTime, Label, Nanos, Value};
        let none = FieldFact::default();
        assert_eq!(t(Wire::TraceTime, Meaning::Plain, Some(Nanos), none), "ns, since 1970-01-01 UTC");
        assert_eq!(t(Wire::TraceTime, Meaning::Plain, None, none), "ticks, a time of the trace's clock");
        assert_eq!(t(Wire::UInt64, Meaning::Ticks, Some(Value), none), "ticks, a span of the performance counter");
        assert_eq!(t(Wire::UInt64, Meaning::Ticks, Some(Nanos), none), "ns, -");
        assert_eq!(t(Wire::FileTime, Meaning::Plain, Some(Value), none), "-, -");
        assert_eq!(t(Wire::FileTime, Meaning::Plain, Some(FileTime), none), "100 ns, since 1601-01-01 UTC");
        assert_eq!(t(Wire::UInt64, Meaning::FileTime, None, none), "100 ns, since 1601-01-01 UTC");
        assert_eq!(t(Wire::UInt32, Meaning::NtStatus, Some(Label), none), "-, -");
    }

    #[test]
    fn what_is_known_is_of_the_value_and_its_description_of_all_columns() {
        use ColumnRole::{FileTime, Label, Nanos, Value};
        let known = FieldFact { unit: Some("bytes"), description: Some("known") };
        assert_eq!(t(Wire::UInt32, Meaning::Plain, Some(Value), known), "bytes, known");
        assert_eq!(t(Wire::UInt32, Meaning::Plain, None, known), "bytes, known");
        assert_eq!(t(Wire::UInt32, Meaning::NtStatus, Some(Label), known), "-, known");
        assert_eq!(t(Wire::UInt64, Meaning::Ticks, Some(Value), known), "ticks, known");
        assert_eq!(t(Wire::UInt64, Meaning::Ticks, Some(Nanos), known), "ns, known");
        assert_eq!(t(Wire::FileTime, Meaning::Plain, Some(FileTime), known), "100 ns, known");
    }
}
