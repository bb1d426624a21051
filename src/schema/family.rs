//! Families of fields: what decides a column's type, and its name where fields of one name differ.

use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::*;

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
