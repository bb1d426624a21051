//! The columns of a table in a bucket: those of all its traces, where these agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::names::stays_below;
use published::LakePart;
use published::lake_manifest::table_of;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableColumn {
    /// Its name.
    pub name: String,
    /// Its type, with all that is below it, but for whether it may be NULL.
    pub form: String,
    /// Whether it is never NULL.
    pub is_required: bool,
}

/// What the type of a column ends with that is never NULL.
const REQUIRED: &str = " NOT NULL";

/// The columns of a file, given with their types, each structure followed by its members.
pub(crate) fn columns_of(types: &[(String, String)]) -> Vec<TableColumn> {
    let mut columns: Vec<TableColumn> = Vec::new();
    for (path, data_type) in types {
        match columns.last_mut() {
            Some(last) if path.strip_prefix(&last.name).is_some_and(|rest| rest.starts_with('.')) => {
                let _ = write!(last.form, "; {path} {data_type}");
            }
            _ => columns.push(TableColumn {
                name: path.clone(),
                form: data_type.trim_end_matches(REQUIRED).to_owned(),
                is_required: data_type.ends_with(REQUIRED),
            }),
        }
    }
    columns
}

/// The columns of each table of a trace: `events/<dataset>`, with a folder for an event where there is one, or `sidecar/<table>`.
///
/// # Errors
/// [`ErrorKind::Output`] where files of one folder have different columns, which no conversion writes.
pub(crate) fn tables_of(part: &LakePart) -> Result<BTreeMap<String, Arc<Vec<TableColumn>>>> {
    let mut tables = BTreeMap::new();
    for (path, types) in part.files() {
        let Some(table) = table_of(path) else { continue };
        if !stays_below(table) {
            return Err(Error::new(
                ErrorKind::Output,
                format!("expected a file of a trace, found {path}, which leads out of it"),
            ));
        }
        if tables.insert(table.to_owned(), Arc::new(columns_of(types))).is_some() {
            let message = format!("expected one set of columns in all files of {table}, found several");
            return Err(Error::new(ErrorKind::Output, message).with_hint("convert the trace again"));
        }
    }
    Ok(tables)
}

/// A table as one trace has it.
#[derive(Clone, Debug)]
pub(crate) struct TraceTable {
    /// Its columns.
    pub columns: Arc<Vec<TableColumn>>,
    /// The id of its provider, or nothing.
    pub provider: String,
}

/// Traces whose rows stand in the same files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// What distinguishes it from other groups of the table, where traces disagree.
    pub variant: Option<String>,
    /// The places of its traces.
    pub members: Vec<usize>,
    /// The columns of all of them: those of the first trace, then what others have besides.
    pub columns: Vec<TableColumn>,
}

/// Which traces of a bucket go into the same files of a table. All do, unless a column has several types or spellings, or the table
/// several providers: then those that have the same of all that is in dispute.
pub(crate) fn groups(tables: &[TraceTable]) -> Vec<Group> {
    let mut forms: BTreeMap<String, BTreeSet<(&str, &str)>> = BTreeMap::new();
    let mut seen: BTreeSet<*const Vec<TableColumn>> = BTreeSet::new();
    let providers: BTreeSet<&str> = tables.iter().map(|table| table.provider.as_str()).collect();
    for table in tables.iter().filter(|table| seen.insert(Arc::as_ptr(&table.columns))) {
        for TableColumn { name, form, .. } in table.columns.iter() {
            forms.entry(name.to_lowercase()).or_default().insert((name, form));
        }
    }
    forms.retain(|_, forms| forms.len() > 1);
    if forms.is_empty() && providers.len() < 2 {
        return vec![group(None, (0..tables.len()).collect(), tables)];
    }
    let mut by_key: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, table) in tables.iter().enumerate() {
        let disputed = table.columns.iter().filter(|column| forms.contains_key(&column.name.to_lowercase()));
        let mut key: Vec<String> = disputed.map(|TableColumn { name, form, .. }| format!("{name} {form}")).collect();
        key.sort_unstable();
        key.push(table.provider.clone());
        by_key.entry(key.join("\n")).or_default().push(place);
    }
    let variant = |key: &str| blake3::hash(key.as_bytes()).to_hex().chars().take(8).collect();
    by_key.into_iter().map(|(key, members)| group(Some(variant(&key)), members, tables)).collect()
}

fn group(variant: Option<String>, members: Vec<usize>, tables: &[TraceTable]) -> Group {
    let mut columns: Vec<TableColumn> = Vec::new();
    // By name: the place, and how many traces have it.
    let mut places: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for table in members.iter().filter_map(|&place| tables.get(place)) {
        for column in table.columns.iter() {
            let (place, traces) = places.entry(column.name.clone()).or_insert((columns.len(), 0));
            *traces += 1;
            match columns.get_mut(*place) {
                Some(known) => known.is_required &= column.is_required,
                None => columns.push(column.clone()),
            }
        }
    }
    for (place, traces) in places.into_values().filter(|(_, traces)| *traces < members.len()) {
        debug_assert!(traces > 0, "a column is one of some trace");
        columns.get_mut(place).into_iter().for_each(|column| column.is_required = false);
    }
    Group { variant, members, columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(provider: &str, types: &[(&str, &str)]) -> TraceTable {
        let types: Vec<_> = types.iter().map(|(path, kind)| ((*path).to_owned(), (*kind).to_owned())).collect();
        TraceTable { columns: Arc::new(columns_of(&types)), provider: provider.to_owned() }
    }

    fn shown(group: &Group) -> String {
        let required = |column: &TableColumn| if column.is_required { "!" } else { "" };
        let columns: Vec<_> =
            group.columns.iter().map(|column| format!("{} {}{}", column.name, column.form, required(column))).collect();
        format!("{:?} {}", group.members, columns.join(", "))
    }

    #[test]
    fn members_belong_to_their_structure() {
        let found =
            table("", &[("s", "LIST<STRUCT>"), ("s.a", "INT64"), ("s.b", "STRING"), ("sb", "INT64 NOT NULL")]).columns;
        let expected = [("s", "LIST<STRUCT>; s.a INT64; s.b STRING", false), ("sb", "INT64", true)].map(
            |(name, form, required)| TableColumn {
                name: name.to_owned(),
                form: form.to_owned(),
                is_required: required,
            },
        );
        assert_eq!(*found, expected);
    }

    #[test]
    fn traces_that_agree_stand_together_and_lack_what_others_have() {
        let tables = [
            table("p", &[("t", "INT64 NOT NULL"), ("a", "INT64 NOT NULL")]),
            table("p", &[("t", "INT64 NOT NULL"), ("b", "STRING")]),
        ];
        let found = groups(&tables);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].variant.as_deref(), shown(&found[0]).as_str()),
            (None, "[0, 1] t INT64!, a INT64, b STRING")
        );
    }

    #[test]
    fn traces_that_disagree_stand_side_by_side_in_any_order() {
        let (number, text) =
            (table("p", &[("t", "INT64"), ("a", "INT64")]), table("p", &[("t", "INT64"), ("A", "STRING")]));
        let neither = table("p", &[("t", "INT64")]);
        let found = groups(&[number.clone(), text.clone(), neither.clone(), number.clone()]);
        let mut all: Vec<_> = found.iter().map(shown).collect();
        all.sort_unstable();
        assert_eq!(all, ["[0, 3] t INT64, a INT64", "[1] t INT64, A STRING", "[2] t INT64"]);
        let variants = |found: &[Group]| found.iter().map(|group| group.variant.clone()).collect::<BTreeSet<_>>();
        assert_eq!(variants(&found).len(), 3);
        assert_eq!(variants(&found), variants(&groups(&[neither, text, number])));
    }

    #[test]
    fn tables_of_two_providers_stand_side_by_side() {
        let tables = [table("p", &[("t", "INT64")]), table("q", &[("t", "INT64")])];
        assert_eq!(groups(&tables).iter().map(shown).collect::<Vec<_>>(), ["[0] t INT64", "[1] t INT64"]);
    }
}
