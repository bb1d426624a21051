//! Fields as documents have them: types by their names, lengths and counts by the fields that hold them.

use serde::{Deserialize, Serialize};

use super::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, Meaning, ValueMap};

/// One declared field.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// The wire type; `Struct` for structures.
    pub in_type: String,
    /// What it stands for, where the wire type does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_type: Option<String>,
    /// How often it is repeated; not there for single values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Rule>,
    /// Which field holds the count, where the nearest earlier one of that name does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count_at: Option<FieldPlace>,
    /// How long it is, where the wire type leaves that open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<Rule>,
    /// Which field holds the length, where the nearest earlier one of that name does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_at: Option<FieldPlace>,
    /// Names of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapDescription>,
    /// Whether it may be missing at the end of the payload.
    #[serde(skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Whether it gets no column.
    #[serde(skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The members of a structure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldDescription>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Where an earlier field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldPlace {
    /// How many levels of structure further out.
    pub up: u8,
    /// The position among the fields of that level.
    pub index: u16,
}

/// A length or a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A number.
    Constant(u32),
    /// The value of an earlier field.
    Field(String),
    /// A `u16` count stands before the values.
    Prefixed,
    /// As many as the payload holds.
    Rest,
}

/// Names of values.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MapDescription {
    /// The map's name.
    pub name: String,
    /// `values` or `bits`.
    pub kind: &'static str,
    /// The entries in declared order.
    pub entries: Vec<MapEntry>,
}

/// A named value.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MapEntry {
    /// The value.
    pub value: u64,
    /// Its name.
    pub name: String,
}

/// The descriptions of fields and of all members of structures.
pub fn fields(fields: &[Field]) -> Vec<FieldDescription> {
    level(&[], fields)
}

/// A level of fields, and how many of them stand before the one at hand.
type Level<'a> = (&'a [Field], usize);

/// `outer`: the levels around the fields.
fn level(outer: &[Level<'_>], own: &[Field]) -> Vec<FieldDescription> {
    let mut levels: Vec<Level<'_>> = outer.iter().copied().chain([(own, 0)]).collect();
    let describe = |(position, field)| {
        if let Some(last) = levels.last_mut() {
            last.1 = position;
        }
        describe_field(field, &levels)
    };
    own.iter().enumerate().map(describe).collect()
}

fn describe_field(field: &Field, levels: &[Level<'_>]) -> FieldDescription {
    let (in_type, out_type, length, members) = match &field.kind {
        FieldKind::Value { wire, meaning, length } => {
            let out_type = (*meaning != Meaning::Plain).then(|| format!("{meaning:?}"));
            (format!("{wire:?}"), out_type, *length, Vec::new())
        }
        FieldKind::Struct(members) => ("Struct".to_owned(), None, Length::Natural, level(levels, members)),
    };
    let (count, count_at) = count_rule(field.count, levels);
    let (length, length_at) = length_rule(length, levels);
    FieldDescription {
        name: field.name.clone(),
        in_type,
        out_type,
        count,
        count_at,
        length,
        length_at,
        map: field.map.as_deref().map(MapDescription::of),
        optional: field.optional,
        hidden: field.hidden,
        fields: members,
    }
}

fn length_rule(length: Length, levels: &[Level<'_>]) -> (Option<Rule>, Option<FieldPlace>) {
    match length {
        Length::Natural => (None, None),
        Length::Fixed(length) => (Some(Rule::Constant(length)), None),
        Length::Field(field) => of_field(field, levels),
    }
}

fn count_rule(count: Count, levels: &[Level<'_>]) -> (Option<Rule>, Option<FieldPlace>) {
    match count {
        Count::One => (None, None),
        Count::Fixed(count) => (Some(Rule::Constant(count)), None),
        Count::Field(field) => of_field(field, levels),
        Count::Prefixed => (Some(Rule::Prefixed), None),
        Count::Rest => (Some(Rule::Rest), None),
    }
}

/// The name of a field that another refers to, and its place where the name does not lead to it.
fn of_field(field: FieldRef, levels: &[Level<'_>]) -> (Option<Rule>, Option<FieldPlace>) {
    let level = levels.iter().rev().nth(usize::from(field.up));
    let target = level.and_then(|(level, _)| level.get(usize::from(field.index)));
    let name = target.map_or("", |target| target.name.as_str());
    let before = levels.iter().map(|(level, before)| {
        let earlier = level.get(..*before).unwrap_or_default();
        earlier.iter().map(|field| field.name.as_str())
    });
    let is_nearest = nearest(name, before) == Some(field);
    let place = (!is_nearest).then_some(FieldPlace { up: field.up, index: field.index });
    (Some(Rule::Field(name.to_owned())), place)
}

/// The field that a name means: the nearest before, in the innermost structure that has one. `levels`: the names of the fields
/// before, the outermost structure first.
pub(crate) fn nearest<'a, L>(name: &str, levels: impl DoubleEndedIterator<Item = L>) -> Option<FieldRef>
where
    L: DoubleEndedIterator<Item = &'a str> + ExactSizeIterator,
{
    levels.rev().zip(0_u8..).find_map(|(mut level, up)| {
        let index = level.rposition(|own| own == name)?;
        Some(FieldRef { up, index: u16::try_from(index).ok()? })
    })
}

impl MapDescription {
    /// What a map names.
    pub fn of(map: &ValueMap) -> MapDescription {
        MapDescription {
            name: map.name.clone(),
            kind: match map.kind {
                MapKind::Values => "values",
                MapKind::Bits => "bits",
            },
            entries: map.entries().iter().map(|(value, name)| MapEntry { value: *value, name: name.clone() }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Wire;

    #[test]
    fn rules_name_the_fields_they_refer_to() {
        let count = Field::value("Count", Wire::UInt16);
        let inner = vec![
            Field { count: Count::Field(FieldRef { up: 1, index: 0 }), ..Field::value("A", Wire::UInt8) },
            Field { count: Count::Rest, ..Field::value("B", Wire::Guid) },
        ];
        let outer = Field { count: Count::Fixed(2), ..Field::structure("S", inner) };
        let described = fields(&[count, outer]);
        assert_eq!((described[1].in_type.as_str(), &described[1].count), ("Struct", &Some(Rule::Constant(2))));
        assert_eq!(described[1].fields[0].count, Some(Rule::Field("Count".into())));
        assert_eq!(described[1].fields[1].count, Some(Rule::Rest));
        let json = serde_json::to_string(&described[1].fields).unwrap();
        let expected = r#"[{"name":"A","in_type":"UInt8","count":{"field":"Count"}},{"name":"B","in_type":"Guid","count":"rest"}]"#;
        assert_eq!(json, expected);
    }
}
