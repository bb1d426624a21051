//! The names of a provider's columns: which family of fields has the plain name, and how it is spelled.
//!
//! Names follow from what a provider declares, never from what occurs in a trace. Where many traces are to agree, they are
//! settled beforehand: what is added as settled keeps its name whatever comes later.

use std::collections::BTreeMap;

use base::names;
use columnar::columns::types::{ColumnType, INT64, Member};
use hashbrown::{HashMap, HashSet};
use schema::family::{ColumnRole, Family};
use schema::model::Field;
use schema::settled::{SettledColumn, SettledForm, SettledNames};

use super::fields::{NamedField, named_fields};

/// The names of the columns of a provider, or of the members of a structure.
#[derive(Clone, Debug, Default)]
pub struct ColumnNames {
    /// Names, in lower case, that no column may take.
    reserved: HashSet<String>,
    names: Vec<ColumnName>,
    /// By name in lower case.
    by_name: HashMap<String, usize>,
    /// How many structures stand around them.
    depth: usize,
    /// Names that are settled and not declared yet, by name in lower case.
    undeclared: BTreeMap<String, ColumnName>,
}

/// One name, whatever its case.
#[derive(Clone, Debug)]
struct ColumnName {
    spelling: String,
    is_settled: bool,
    /// The family that has the plain name.
    plain: Family,
    forms: Vec<Form>,
    /// Of the structures of this name, all of them together.
    members: ColumnNames,
}

/// The fields of one name and family.
#[derive(Clone, Debug)]
struct Form {
    family: Family,
    /// Their columns, in the order of roles; a structure without its members. One that is settled and not declared yet has
    /// no type of its own.
    outputs: Vec<(ColumnRole, Option<ColumnType>)>,
    /// Whether it is settled that these have names of values beside them, or have none.
    is_label_settled: bool,
}

/// One column: name, family and role, each by number. They are in the order of their first declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ColumnKey {
    name: usize,
    form: usize,
    pub(super) role: ColumnRole,
}

impl ColumnNames {
    /// No names; `reserved` are those that columns must leave alone.
    pub fn new(reserved: &[&str]) -> ColumnNames {
        let reserved = reserved.iter().map(|name| name.to_lowercase()).collect();
        ColumnNames { reserved, ..ColumnNames::default() }
    }

    /// Takes names that are settled already; comes before all else. They keep their spelling and their plain family.
    pub fn adopt(&mut self, settled: &SettledNames) {
        // A structure stands before its members: its name is the beginning of theirs, and a dot comes before what they
        // may go on with.
        for column in settled.columns().values() {
            self.adopt_column(&column.path, &column.forms);
        }
    }

    fn adopt_column(&mut self, path: &str, forms: &[SettledForm]) {
        let Some((parent, member)) = path.split_once('.') else {
            self.undeclared.extend(ColumnName::settled(path, forms).map(|name| (path.to_lowercase(), name)));
            return;
        };
        if let Some(parent) = self.undeclared.get_mut(&parent.to_lowercase()) {
            parent.members.adopt_column(member, forms);
        }
    }

    /// Adds the settled names that nothing has declared so far, behind all others.
    pub fn add_undeclared(&mut self) {
        while let Some((key, name)) = self.undeclared.pop_first() {
            self.by_name.insert(key, self.names.len());
            self.names.push(name);
        }
        self.names.iter_mut().for_each(|name| name.members.add_undeclared());
    }

    /// Settles which of the columns so far have names of values beside them: what declares more later gives them none.
    pub fn settle_labels(&mut self) {
        for name in &mut self.names {
            name.forms.iter_mut().for_each(|form| form.is_label_settled = true);
            name.members.settle_labels();
        }
    }

    /// What is settled of the names of columns, and with `all` of those that events only declare.
    pub fn settled(&self, all: bool) -> Vec<SettledColumn> {
        let mut columns = Vec::new();
        self.list_settled("", all, &mut columns);
        columns
    }

    fn list_settled(&self, parent: &str, all: bool, columns: &mut Vec<SettledColumn>) {
        for name in self.names.iter().chain(self.undeclared.values()).filter(|name| all || name.is_settled) {
            let (plain, others): (Vec<_>, Vec<_>) = name.forms.iter().partition(|form| form.family == name.plain);
            let path = format!("{parent}{}", name.spelling);
            let forms = plain.into_iter().chain(others).map(Form::settled).collect();
            columns.push(SettledColumn { path: path.clone(), forms });
            name.members.list_settled(&format!("{path}."), all, columns);
        }
    }

    /// Adds the fields of an event, whose names are settled by the order in which events are added.
    pub fn settle(&mut self, fields: &[Field]) {
        self.add(fields, true);
    }

    /// Adds the fields of an event that describes itself. A name that is not settled goes to the first family in the order
    /// of families, spelled as the first spelling in the order of bytes.
    pub fn declare(&mut self, fields: &[Field]) {
        self.add(fields, false);
    }

    fn add(&mut self, fields: &[Field], is_settled: bool) {
        for field in named_fields(fields, &self.reserved, self.depth).into_iter().flatten() {
            let depth = self.depth;
            let name = self.name(&field, is_settled);
            name.add(&field.family, field.outputs);
            if let Some(members) = field.members {
                name.members.depth = depth + 1;
                name.members.add(&members, is_settled);
            }
        }
    }

    fn name(&mut self, field: &NamedField<'_>, is_settled: bool) -> &mut ColumnName {
        let next = self.names.len();
        let index = *self.by_name.entry_ref(&field.key).or_insert(next);
        if index == next {
            let new = || ColumnName {
                spelling: field.base.clone(),
                is_settled,
                plain: field.family.clone(),
                forms: Vec::new(),
                members: ColumnNames::default(),
            };
            self.names.push(self.undeclared.remove(&field.key).unwrap_or_else(new));
        }
        let name = &mut self.names[index];
        if !name.is_settled {
            if field.base < name.spelling {
                name.spelling.clone_from(&field.base);
            }
            if field.family < name.plain {
                name.plain = field.family.clone();
            }
        }
        name
    }

    /// The names that fields have, in lower case, with their families.
    pub fn names_of(&self, fields: &[Field]) -> Vec<(String, Family)> {
        let named = named_fields(fields, &self.reserved, self.depth);
        named.into_iter().flatten().map(|field| (field.key, field.family)).collect()
    }

    pub(super) fn reserved(&self) -> &HashSet<String> {
        &self.reserved
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The columns that a field of these names fills; those that others of its name and family fill with what it lacks are
    /// among them, so that they stand beside every value.
    pub(super) fn columns_of(&self, field: &NamedField<'_>) -> Vec<ColumnKey> {
        let found = self.by_name.get(&field.key).and_then(|&name| {
            let form = self.names[name].forms.iter().position(|form| form.family == field.family)?;
            Some((name, form))
        });
        let Some((name, form)) = found else { return Vec::new() };
        let is_filled = |role| {
            matches!(role, ColumnRole::Label | ColumnRole::FileTime)
                || field.outputs.iter().any(|(own, _)| *own == role)
        };
        let roles = self.names[name].forms[form].outputs.iter().map(|(role, _)| *role).filter(|role| is_filled(*role));
        roles.map(|role| ColumnKey { name, form, role }).collect()
    }

    /// Whether the fields of a column have the plain name, and how that is spelled.
    pub(super) fn plain(&self, key: ColumnKey) -> (bool, &str) {
        let name = &self.names[key.name];
        (name.forms[key.form].family == name.plain, &name.spelling)
    }

    /// The name of a column, and whether a declared name took the one that it would have.
    pub(super) fn column_name(&self, key: ColumnKey) -> (String, bool) {
        let (is_plain, spelling) = self.plain(key);
        let typed = || format!("{spelling}__{}", self.names[key.name].forms[key.form].family);
        let (own, own_is_taken) = if is_plain { (spelling.to_owned(), false) } else { self.free(typed()) };
        if key.role == ColumnRole::Value {
            return (own, own_is_taken);
        }
        let (name, is_taken) = self.free(format!("{own}{}", key.role.suffix()));
        (name, is_taken || own_is_taken)
    }

    /// A generated name, which yields to declared ones, and whether it did.
    fn free(&self, mut name: String) -> (String, bool) {
        let mut is_taken = false;
        let is_declared = |key: &str| {
            self.by_name.contains_key(key) || self.undeclared.contains_key(key) || self.reserved.contains(key)
        };
        while is_declared(&name.to_lowercase()) {
            name = format!("{name}~{}", names::short_hash(&name.to_lowercase()));
            is_taken = true;
        }
        (name, is_taken)
    }

    /// The type of a column.
    pub(super) fn column_type(&self, key: ColumnKey) -> ColumnType {
        let name = &self.names[key.name];
        let Form { family, outputs, .. } = &name.forms[key.form];
        let own = outputs.iter().find_map(|(role, own)| own.as_ref().filter(|_| *role == key.role));
        let column_type = own.cloned().unwrap_or_else(|| type_of(family, key.role));
        name.members.complete(&column_type)
    }

    /// The type with the members of its structures.
    fn complete(&self, column_type: &ColumnType) -> ColumnType {
        match column_type {
            ColumnType::List(item) => ColumnType::List(Box::new(self.complete(item))),
            ColumnType::Struct(_) => {
                let member =
                    |key: ColumnKey| Member { name: self.column_name(key).0, column_type: self.column_type(key) };
                ColumnType::Struct(self.keys().into_iter().map(member).collect())
            }
            other => other.clone(),
        }
    }

    /// All columns, in the order of names, families and roles.
    pub(super) fn keys(&self) -> Vec<ColumnKey> {
        let of_name = |(name, of): (usize, &ColumnName)| {
            let keys = of.forms.iter().enumerate().flat_map(move |(form, of)| {
                of.outputs.iter().map(move |(role, _)| ColumnKey { name, form, role: *role })
            });
            keys.collect::<Vec<_>>()
        };
        self.names.iter().enumerate().flat_map(of_name).collect()
    }

    /// What all columns and members are called, by what they are.
    #[cfg(test)]
    pub(crate) fn column_names(&self) -> BTreeMap<(String, Family, ColumnRole), String> {
        let mut all = BTreeMap::new();
        for key in self.keys() {
            let (name, of) = (self.column_name(key).0, &self.names[key.name]);
            let spelling = of.spelling.to_lowercase();
            for ((path, family, role), member) in of.members.column_names() {
                all.insert((format!("{spelling}.{path}"), family, role), format!("{}.{member}", of.spelling));
            }
            all.insert((spelling, of.forms[key.form].family.clone(), key.role), name);
        }
        all
    }

    /// The settled ones among all columns.
    pub(super) fn keys_of(&self, settled: &SettledNames) -> Vec<ColumnKey> {
        let mut keys = Vec::new();
        for (key, column) in settled.columns() {
            let Some(&name) = self.by_name.get(key) else { continue };
            for own in &column.forms {
                let form = self.names[name].forms.iter().position(|form| form.family == own.family);
                keys.extend(
                    form.into_iter().flat_map(|form| own.roles.iter().map(move |&role| ColumnKey { name, form, role })),
                );
            }
        }
        keys
    }

    /// The names of the members of a structure column.
    pub(super) fn members(&self, key: ColumnKey) -> &ColumnNames {
        &self.names[key.name].members
    }
}

impl ColumnName {
    /// A name that is settled; `None` without a family.
    fn settled(spelling: &str, forms: &[SettledForm]) -> Option<ColumnName> {
        let form = |form: &SettledForm| Form {
            family: form.family.clone(),
            outputs: form.roles.iter().map(|role| (*role, None)).collect(),
            is_label_settled: false,
        };
        Some(ColumnName {
            spelling: spelling.to_owned(),
            is_settled: true,
            plain: forms.first()?.family.clone(),
            forms: forms.iter().map(form).collect(),
            members: ColumnNames::default(),
        })
    }

    fn add(&mut self, family: &Family, outputs: Vec<(ColumnRole, ColumnType)>) {
        let known = self.forms.iter_mut().find(|form| form.family == *family);
        let Some(form) = known else {
            let outputs = outputs.into_iter().map(|(role, column_type)| (role, Some(column_type))).collect();
            self.forms.push(Form { family: family.clone(), outputs, is_label_settled: false });
            return;
        };
        for (role, column_type) in outputs {
            match form.outputs.iter_mut().find(|(known, _)| *known == role) {
                Some((_, Some(known))) => *known = known.merge(&column_type),
                Some((_, unknown)) => *unknown = Some(column_type),
                None if form.is_label_settled && role == ColumnRole::Label => {}
                None => form.outputs.push((role, Some(column_type))),
            }
        }
        form.outputs.sort_by_key(|(role, _)| *role);
    }
}

impl Form {
    fn settled(&self) -> SettledForm {
        SettledForm { family: self.family.clone(), roles: self.outputs.iter().map(|(role, _)| *role).collect() }
    }
}

/// The type of a column of which only the family is known.
fn type_of(family: &Family, role: ColumnRole) -> ColumnType {
    let single = |family: &Family| match (role, family) {
        (ColumnRole::Label, _) | (ColumnRole::Value, Family::Text) => ColumnType::Utf8,
        (ColumnRole::FileTime | ColumnRole::Nanos, _) | (ColumnRole::Value, Family::Int) => INT64,
        (ColumnRole::Value, Family::Float) => ColumnType::Float64,
        (ColumnRole::Value, Family::Bool) => ColumnType::Boolean,
        (ColumnRole::Value, Family::Time) => ColumnType::Timestamp,
        (ColumnRole::Value, Family::LocalTime) => ColumnType::LocalTimestamp,
        (ColumnRole::Value, Family::Binary | Family::List(_)) => ColumnType::Binary,
        (ColumnRole::Value, Family::Struct) => ColumnType::Struct(Vec::new()),
    };
    match family {
        Family::List(item) => ColumnType::List(Box::new(single(item))),
        family => single(family),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::guid::Guid;
    use schema::model::{Count, MapKind, ValueMap, Wire};

    use super::*;

    fn adopted(lines: &str) -> ColumnNames {
        let text = format!("P\t{}\tLab\n{lines}", Guid::ZERO);
        let settled = SettledNames::read(&text).unwrap();
        let mut names = ColumnNames::new(&["timestamp"]);
        names.adopt(&settled[&Guid::ZERO]);
        names
    }

    fn columns(names: &ColumnNames) -> Vec<String> {
        let shown = |key| format!("{} {:?}", names.column_name(key).0, names.column_type(key)).to_lowercase();
        names.keys().into_iter().map(shown).collect()
    }

    #[test]
    fn settled_names_outrank_what_events_declare() {
        let mut names = adopted("N\tsize\ttext\nN\tGone\ttime/value/filetime\tlist_int\nN\tS\tstruct\nN\tS.b\tint\n");
        names.settle(&[Field::value("Size", Wire::UInt8), Field::value("New", Wire::UInt8)]);
        names.declare(&[Field::structure("s", vec![Field::value("B", Wire::Utf16), Field::value("c", Wire::Guid)])]);
        names.add_undeclared();
        let expected = [
            "size utf8",
            "size__int int { bytes: 1, signed: false }",
            "new int { bytes: 1, signed: false }",
            "s struct([member { name: \"b\", column_type: int { bytes: 8, signed: true } }, \
             member { name: \"b__text\", column_type: utf8 }, member { name: \"c\", column_type: guid }])",
            "gone timestamp",
            "gone_filetime int { bytes: 8, signed: true }",
            "gone__list_int list(int { bytes: 8, signed: true })",
        ];
        assert_eq!(columns(&names), expected);
    }

    #[test]
    fn labels_are_those_that_are_settled() {
        let map = Arc::new(ValueMap::new("M", MapKind::Values, vec![]));
        let mapped = |name| Field { map: Some(Arc::clone(&map)), ..Field::value(name, Wire::UInt8) };
        let mut names = adopted("N\tA\tint/value/label\nN\tB\tint\nN\tS\tstruct\nN\tS.x\tint\n");
        names.add_undeclared();
        names.settle_labels();
        names.declare(&[Field::value("A", Wire::UInt8), mapped("B"), mapped("C")]);
        names.declare(&[Field::structure("S", vec![mapped("x")])]);
        let found: Vec<String> = names.keys().into_iter().map(|key| names.column_name(key).0).collect();
        // Of a name that nothing settles its own description decides.
        assert_eq!(found, ["A", "A_label", "B", "S", "C", "C_label"]);
        assert_eq!(
            names.column_type(names.keys()[3]),
            ColumnType::Struct(vec![Member {
                name: "x".to_owned(),
                column_type: ColumnType::Int { bytes: 1, signed: false },
            }])
        );
    }

    #[test]
    fn what_is_settled_can_be_listed_and_adopted() {
        let mut names = ColumnNames::new(&["timestamp"]);
        let time = Field { count: Count::Fixed(2), ..Field::value("T", Wire::FileTime) };
        let pair = Field::structure("S", vec![Field::value("x", Wire::UInt8), time]);
        names.settle(&[Field::value("B", Wire::TraceTime), Field::value("timestamp", Wire::Utf16), pair]);
        names.settle(&[Field::value("b", Wire::Utf16)]);
        names.declare(&[Field::value("A", Wire::UInt8)]);
        let lines = |columns: Vec<SettledColumn>| {
            let mut settled = SettledNames::new("Lab");
            columns.into_iter().for_each(|column| settled.add_column(column));
            settled.lines(&Guid::ZERO).split_once('\n').unwrap().1.to_owned()
        };
        let expected = "N\tB\tint/ns\ttext\nN\tS\tstruct\nN\tS.T\tlist_time/value/filetime\nN\tS.x\tint\n\
                        N\ttimestamp__field\ttext\n";
        assert_eq!(lines(names.settled(false)), expected);
        assert_eq!(lines(names.settled(true)), format!("N\tA\tint\n{expected}"));
        let mut again = adopted(expected);
        assert_eq!(lines(again.settled(false)), expected);
        again.add_undeclared();
        assert_eq!(lines(again.settled(false)), expected);
        assert_eq!(again.column_type(again.keys()[0]), ColumnType::Int { bytes: 8, signed: true });
    }

    #[test]
    fn generated_names_yield_to_settled_ones() {
        let mut names = adopted("N\tA\tint\ttext\nN\tA__text\tint\n");
        names.declare(&[Field::value("A", Wire::Utf16)]);
        let before: Vec<String> = names.keys().into_iter().map(|key| names.column_name(key).0).collect();
        names.add_undeclared();
        let after: Vec<String> = names.keys().into_iter().map(|key| names.column_name(key).0).collect();
        assert_eq!(before[1], after[1]);
        assert!(before[1].starts_with("A__text~"), "{before:?}");
    }
}
