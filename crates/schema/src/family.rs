//! Families of fields: what decides a column's type, and its name where fields of one name differ; and which columns a
//! field has.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The family of a field. They are in the order in which those that share a name claim it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Text of any encoding, GUIDs, SIDs and addresses of networks.
    Text,
    /// Integers of any width and sign.
    Int,
    /// Floating-point numbers.
    Float,
    /// Truth values.
    Bool,
    /// Points in time, in UTC.
    Time,
    /// Calendar times of the traced machine.
    LocalTime,
    /// Bytes.
    Binary,
    /// Repeated fields of a family.
    List(Box<Family>),
    /// Structures.
    Struct,
}

/// The families of single values, by their names.
const SINGLE: [(&str, Family); 8] = [
    ("text", Family::Text),
    ("int", Family::Int),
    ("float", Family::Float),
    ("bool", Family::Bool),
    ("time", Family::Time),
    ("local_time", Family::LocalTime),
    ("binary", Family::Binary),
    ("struct", Family::Struct),
];

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Family::List(item) = self {
            return write!(f, "list_{item}");
        }
        let name = SINGLE.iter().find(|(_, family)| family == self).map(|(name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

impl Family {
    /// The family of this name; lists of lists are none.
    pub fn of_name(name: &str) -> Option<Family> {
        let (item, is_list) = name.strip_prefix("list_").map_or((name, false), |item| (item, true));
        let (_, family) = SINGLE.iter().find(|(known, _)| *known == item)?;
        Some(if is_list { Family::List(Box::new(family.clone())) } else { family.clone() })
    }
}

/// Which column of a field: the value itself or one that stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnRole {
    /// The value.
    Value,
    /// `<name>_label`: the name of an enumerated value or a status code.
    Label,
    /// `<name>_filetime`: raw 100 ns ticks.
    FileTime,
    /// `<name>_ns`: a time of the trace's clock, or a span.
    Nanos,
}

/// What stands behind the name in the columns of each role.
const SUFFIXES: [(ColumnRole, &str); 4] = [
    (ColumnRole::Value, ""),
    (ColumnRole::Label, "_label"),
    (ColumnRole::FileTime, "_filetime"),
    (ColumnRole::Nanos, "_ns"),
];

impl ColumnRole {
    /// What stands behind the name.
    pub fn suffix(self) -> &'static str {
        SUFFIXES.iter().find(|(role, _)| *role == self).map_or("", |(_, suffix)| suffix)
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ColumnRole::Value => "value",
            other => other.suffix().trim_start_matches('_'),
        }
    }

    /// The role of this name.
    pub fn of_name(name: &str) -> Option<ColumnRole> {
        SUFFIXES.iter().map(|(role, _)| *role).find(|role| role.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_roles_are_read_back() {
        for name in ["text", "local_time", "list_int", "list_struct"] {
            assert_eq!(Family::of_name(name).map(|family| family.to_string()).as_deref(), Some(name));
        }
        assert!(["", "list", "list_", "list_list_int", "Int"].iter().all(|name| Family::of_name(name).is_none()));
        for name in ["value", "label", "filetime", "ns"] {
            assert_eq!(ColumnRole::of_name(name).map(ColumnRole::name), Some(name));
        }
        assert_eq!((ColumnRole::of_name(""), ColumnRole::of_name("_ns")), (None, None));
    }

    #[test]
    fn text_claims_first_and_structures_last() {
        let list = |item| Family::List(Box::new(item));
        let mut all = vec![Family::Struct, list(Family::Int), list(Family::Text), Family::Binary, Family::LocalTime];
        all.extend([Family::Time, Family::Bool, Family::Float, Family::Int, Family::Text]);
        all.sort();
        let names: Vec<_> = all.iter().map(Family::to_string).collect();
        assert_eq!(names.join(" "), "text int float bool time local_time binary list_text list_int struct");
    }
}
