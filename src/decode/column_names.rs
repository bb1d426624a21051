//! The names of a provider's columns: which family of fields has the plain name, and how it is spelled.
//!
//! Names follow from what a provider declares, never from what occurs in a trace. Where many traces are to agree, they are
//! settled beforehand: what is added as settled keeps its name whatever comes later.

use hashbrown::{HashMap, HashSet};

use super::fields::{NamedField, named_fields};
use super::interpret::ColumnRole;
use crate::columns::types::{ColumnType, Member};
use crate::names;
use crate::schema::family::Family;
use crate::schema::model::Field;

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
    /// Their columns, in the order of roles; a structure without its members.
    outputs: Vec<(ColumnRole, ColumnType)>,
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
            self.names.push(ColumnName {
                spelling: field.base.clone(),
                is_settled,
                plain: field.family.clone(),
                forms: Vec::new(),
                members: ColumnNames::default(),
            });
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
        while self.by_name.contains_key(&name.to_lowercase()) || self.reserved.contains(&name.to_lowercase()) {
            name = format!("{name}~{}", names::short_hash(&name.to_lowercase()));
            is_taken = true;
        }
        (name, is_taken)
    }

    /// The type of a column.
    pub(super) fn column_type(&self, key: ColumnKey) -> ColumnType {
        let name = &self.names[key.name];
        let outputs = &name.forms[key.form].outputs;
        let own = outputs.iter().find(|(role, _)| *role == key.role);
        own.map_or(ColumnType::Binary, |(_, column_type)| name.members.complete(column_type))
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

    /// The names of the members of a structure column.
    pub(super) fn members(&self, key: ColumnKey) -> &ColumnNames {
        &self.names[key.name].members
    }
}

impl ColumnName {
    fn add(&mut self, family: &Family, outputs: Vec<(ColumnRole, ColumnType)>) {
        let known = self.forms.iter_mut().find(|form| form.family == *family);
        let Some(form) = known else {
            self.forms.push(Form { family: family.clone(), outputs });
            return;
        };
        for (role, column_type) in outputs {
            match form.outputs.iter_mut().find(|(known, _)| *known == role) {
                Some((_, known)) => *known = known.merge(&column_type),
                None => form.outputs.push((role, column_type)),
            }
        }
        form.outputs.sort_by_key(|(role, _)| *role);
    }
}
