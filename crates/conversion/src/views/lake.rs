//! The tables of some traces, as an engine sees them: which there are, with which columns, and which events.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arrow_schema::{DataType, Field};

use super::message::Messages;

/// A table: a dataset, or `sidecar/<table>`.
#[derive(Debug, Default)]
pub struct LakeTable {
    name: String,
    /// Patterns of its files below the folder of a trace, or of a lake, without `.parquet`.
    folders: BTreeSet<String>,
    /// By name in lower case: name and type.
    columns: BTreeMap<String, (String, String)>,
    /// The same names, as columns stand in files.
    order: Vec<String>,
    /// Members of structures, by path in lower case: type, number among all members, and name.
    members: BTreeMap<String, (String, usize, String)>,
    /// Columns, in lower case, that have another type in another file.
    differing: BTreeSet<String>,
    /// Columns that no file has, with the types that they have in templates.
    missing: Vec<(&'static str, &'static str)>,
}

impl LakeTable {
    /// What it is called: the first spelling.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it holds events.
    pub fn is_event(&self) -> bool {
        !self.name.starts_with("sidecar/")
    }

    /// Patterns of its files below the folder of a trace, without `.parquet`.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    /// Name and type of a column, ignoring case; the type in the words of docs/columns.md.
    pub fn column(&self, name: &str) -> Option<(&str, &str)> {
        let (name, kind) = self.columns.get(&*folded(name))?;
        Some((name, kind))
    }

    /// Adds a column as it is written, and the members of the structures of a list.
    pub fn add_field(&mut self, field: &Field) {
        self.add_column(field.name().clone(), type_name(field.data_type()));
        let DataType::List(item) = field.data_type() else { return };
        let DataType::Struct(members) = item.data_type() else { return };
        for member in members {
            self.add_member(&format!("{}.{}", field.name(), member.name()), type_name(member.data_type()));
        }
    }

    /// Adds a column: its name, and its type in the words of docs/columns.md. Of two that differ in case the first stays.
    pub fn add_column(&mut self, name: String, kind: String) {
        let folded = name.to_lowercase();
        match self.columns.get(&folded) {
            Some((_, first)) if is_same_type(first, &kind) => {}
            Some(_) => _ = self.differing.insert(folded),
            None => {
                self.order.push(folded.clone());
                self.columns.insert(folded, (name, kind));
            }
        }
    }

    /// Names and types of columns as they stand in files; those that some files have alone come after those of earlier files.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        self.order.iter().filter_map(|name| self.column(name))
    }

    /// Whether a column has one type in all files, ignoring case.
    pub(super) fn is_settled(&self, name: &str) -> bool {
        !self.differing.contains(&*folded(name))
    }

    /// Names and types of the members of a structure, given its path, as they stand in files.
    pub(super) fn members_of(&self, path: &str) -> Vec<(&str, &str)> {
        let start = format!("{}.", path.to_lowercase());
        let below = self.members.range(start.clone()..).take_while(|(path, _)| path.starts_with(&start));
        let own = below.filter(|(path, _)| !path[start.len()..].contains('.'));
        let mut own: Vec<_> = own.map(|(_, (kind, number, name))| (*number, &**name, &**kind)).collect();
        own.sort_unstable();
        own.into_iter().map(|(_, name, kind)| (name, kind)).collect()
    }

    /// Names and types of columns as they stand in files, each structure followed by its members, which are called by their paths.
    pub fn columns_and_members(&self) -> Vec<(String, &str)> {
        let mut waiting: Vec<(String, &str)> = self.columns().map(|(name, kind)| (name.to_owned(), kind)).collect();
        waiting.reverse();
        let mut found = Vec::new();
        while let Some((path, kind)) = waiting.pop() {
            if kind.contains("STRUCT") {
                let members = self.members_of(&path).into_iter().rev();
                waiting.extend(members.map(|(name, kind)| (format!("{path}.{name}"), kind)));
            }
            found.push((path, kind));
        }
        found
    }

    /// The type of a member of a structure, by the names of the column and the member with a dot between, ignoring case.
    pub(super) fn member(&self, path: &str) -> Option<&str> {
        self.members.get(&*folded(path)).map(|(kind, ..)| kind.as_str())
    }

    /// Adds a member of a structure by its path and its type, as for columns.
    pub fn add_member(&mut self, path: &str, kind: String) {
        let (folded, number) = (path.to_lowercase(), self.members.len());
        match self.members.get(&folded) {
            Some((first, ..)) if is_same_type(first, &kind) => {}
            Some(_) => _ = self.differing.insert(folded.split('.').next().unwrap_or_default().to_owned()),
            None => {
                let name = path.rsplit('.').next().unwrap_or_default().to_owned();
                self.members.insert(folded, (kind, number, name));
            }
        }
    }

    /// Adds a column that no file has, but files of a newer format version do: its view has it, and it is NULL.
    pub fn add_missing(&mut self, name: &'static str, data_type: &DataType) {
        self.missing.push((name, template_type(data_type)));
    }

    /// Name and type of each such column; the type in the words of templates.
    pub(super) fn missing(&self) -> &[(&'static str, &'static str)] {
        &self.missing
    }
}

/// An event that occurs.
#[derive(Debug)]
pub struct LakeEvent<'a> {
    /// Its dataset.
    pub dataset: &'a str,
    /// Its name, printable.
    pub name: &'a str,
    /// The columns that its fields are in, sorted.
    pub columns: &'a BTreeSet<String>,
}

/// All tables of some traces.
#[derive(Debug, Default)]
pub struct Lake {
    tables: BTreeMap<String, LakeTable>,
    /// By dataset and name, both in lower case: both as they are spelled first, and the columns.
    events: BTreeMap<(String, String), (String, String, BTreeSet<String>)>,
    /// What events say in words, where somebody asks for it, by dataset in lower case.
    messages: Option<BTreeMap<String, Messages>>,
    is_of_one_machine: bool,
}

impl Lake {
    /// Whether each of the traces is known to be of one machine, so that no view needs to ask of which.
    pub fn is_of_one_machine(&self) -> bool {
        self.is_of_one_machine
    }

    /// Says whether each of the traces is of one machine.
    pub fn set_of_one_machine(&mut self, is_of_one_machine: bool) {
        self.is_of_one_machine = is_of_one_machine;
    }

    /// All tables, sorted by name.
    pub fn tables(&self) -> impl Iterator<Item = &LakeTable> {
        self.tables.values()
    }

    /// A table, ignoring case.
    pub fn table(&self, name: &str) -> Option<&LakeTable> {
        self.tables.get(&*folded(name))
    }

    /// A table, ignoring case, to add columns.
    pub fn table_mut(&mut self, name: &str) -> Option<&mut LakeTable> {
        self.tables.get_mut(&*folded(name))
    }

    /// All events with names that can be shown, by dataset and name.
    pub fn events(&self) -> impl Iterator<Item = LakeEvent<'_>> {
        self.events.values().map(|(dataset, name, columns)| LakeEvent { dataset, name, columns })
    }

    /// What events say in words, by dataset, where somebody asks for it.
    pub(super) fn messages(&self) -> Option<&BTreeMap<String, Messages>> {
        self.messages.as_ref()
    }

    /// The same, to add to it. A script of tables that were asked for this has the view `event_messages`.
    pub fn messages_mut(&mut self) -> &mut BTreeMap<String, Messages> {
        self.messages.get_or_insert_default()
    }

    /// All tables, to add columns.
    pub fn tables_mut(&mut self) -> impl Iterator<Item = &mut LakeTable> {
        self.tables.values_mut()
    }

    /// Adds a file of a trace, by its path below the trace's folder, and gives its table, for the columns; `None` of a file
    /// that is in no table.
    pub fn add_file(&mut self, path: &str) -> Option<&mut LakeTable> {
        let (name, folder) = table_of(path)?;
        let table = self.tables.entry(name.to_lowercase()).or_default();
        if table.name.is_empty() {
            name.clone_into(&mut table.name);
        }
        table.folders.insert(folder);
        Some(table)
    }

    /// Says in which files the tables are, by their paths `events/<dataset>/…` and `sidecar/<table>/…` below the folder of a lake: in these
    /// and no others. A file of a table that is not there is left out.
    pub fn set_files<'a>(&mut self, paths: impl Iterator<Item = &'a str>) {
        self.tables_mut().for_each(|table| table.folders.clear());
        for path in paths {
            let Some((name, file)) = lake_table_of(path) else { continue };
            self.table_mut(name).into_iter().for_each(|table| _ = table.folders.insert(file.to_owned()));
        }
    }

    /// Says of each folder of files, `events/<dataset>/*` and the like, in which folders of traces it is; of a table that is nowhere
    /// nothing is left.
    pub fn set_places(&mut self, places: impl Fn(&str) -> Vec<String>) {
        for table in self.tables_mut() {
            let folders = std::mem::take(&mut table.folders);
            table.folders = folders
                .iter()
                .flat_map(|folder| places(folder).into_iter().map(move |place| format!("{place}/{folder}")))
                .collect();
        }
    }

    /// The folder of files, as [`Lake::set_places`] has it, that a file of a trace is in, by its path; `None` of a file that is in no
    /// table.
    pub fn folder_of(path: &str) -> Option<String> {
        table_of(path).map(|(_, folder)| folder)
    }

    /// Adds an event that occurs, by its dataset, with or without the folder of the event, and its name, and gives the columns that its
    /// fields are in; `None` where the name cannot stand in a script.
    pub fn add_event(&mut self, dataset: &str, name: &str) -> Option<&mut BTreeSet<String>> {
        if !is_showable(name) {
            return None;
        }
        let dataset = dataset.split('/').next().unwrap_or(dataset);
        let key = (dataset.to_lowercase(), name.to_lowercase());
        let event = || (dataset.to_owned(), name.to_owned(), BTreeSet::new());
        Some(&mut self.events.entry(key).or_insert_with(event).2)
    }
}

/// Whether columns of two types, in the words of docs/columns.md, hold the same values.
fn is_same_type(one: &str, other: &str) -> bool {
    one.trim_end_matches(REQUIRED) == other.trim_end_matches(REQUIRED)
}

/// What the type of a column ends with that has no NULL.
pub(super) const REQUIRED: &str = " NOT NULL";

/// A name in lower case.
fn folded(name: &str) -> Cow<'_, str> {
    let is_folded = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_folded { name.into() } else { name.to_lowercase().into() }
}

/// A type in the words of docs/columns.md, as far as views distinguish types.
fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Int8 => "INT_8".to_owned(),
        DataType::Int16 => "INT_16".to_owned(),
        DataType::UInt8 => "UINT_8".to_owned(),
        DataType::UInt16 => "UINT_16".to_owned(),
        DataType::UInt32 => "UINT_32".to_owned(),
        DataType::UInt64 => "UINT_64".to_owned(),
        DataType::Utf8 => "STRING".to_owned(),
        DataType::List(item) => format!("LIST<{}>", type_name(item.data_type())),
        // INT32, INT64, BOOLEAN, BINARY and TIMESTAMP; what else there is no view reads.
        other => other.to_string().to_uppercase(),
    }
}

/// The type of a column of the sidecar in the words of templates.
fn template_type(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Utf8 => "STRING",
        DataType::Boolean => "BOOLEAN",
        DataType::Float64 => "DOUBLE",
        DataType::Binary => "BINARY",
        DataType::Timestamp(..) => "TIMESTAMP",
        DataType::List(item) if *item.data_type() == DataType::Utf8 => "TEXTS",
        DataType::List(_) => "LIST",
        DataType::Int32 => "INT",
        _ => "BIGINT",
    }
}

/// Whether a name can stand in a script: on one line, and not as a variable of Spark.
fn is_showable(name: &str) -> bool {
    !name.contains(char::is_control) && !name.contains("${")
}

/// The table of a file and the pattern of its neighbours, without `.parquet`.
fn table_of(path: &str) -> Option<(&str, String)> {
    match path.strip_prefix("events/") {
        Some(below) => {
            let (dataset, rest) = below.split_once('/')?;
            let depth = if rest.contains('/') { "*/*" } else { "*" };
            Some((dataset, format!("events/{dataset}/{depth}")))
        }
        None => path.strip_suffix(".parquet").map(|table| (table, table.to_owned())),
    }
}

/// The table of a file of a lake, and the file without `.parquet`.
fn lake_table_of(path: &str) -> Option<(&str, &str)> {
    let name = match path.strip_prefix("events/") {
        Some(below) => below.split_once('/')?.0,
        None => path.rsplit_once('/')?.0,
    };
    Some((name, path.strip_suffix(".parquet")?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::TimeUnit;

    use super::*;

    #[test]
    fn types_are_called_as_footers_call_them() {
        let t = |data_type: DataType, expected: &str| assert_eq!(type_name(&data_type), expected);
        let list = |item| DataType::List(Arc::new(Field::new("element", item, true)));
        t(DataType::Int32, "INT32");
        t(DataType::Int64, "INT64");
        t(DataType::UInt64, "UINT_64");
        t(DataType::Boolean, "BOOLEAN");
        t(DataType::Binary, "BINARY");
        t(list(DataType::Int64), "LIST<INT64>");
        t(list(DataType::UInt64), "LIST<UINT_64>");
        t(list(DataType::Utf8), "LIST<STRING>");
        let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert!(type_name(&time).starts_with("TIMESTAMP"), "{}", type_name(&time));
    }

    #[test]
    fn files_belong_to_their_table_at_any_depth() {
        assert_eq!(table_of("events/A.b/part-00000-00000.parquet"), Some(("A.b", "events/A.b/*".to_owned())));
        assert_eq!(table_of("events/A/X.Y/part-00000-00000.parquet"), Some(("A", "events/A/*/*".to_owned())));
        assert_eq!(table_of("sidecar/clock.parquet"), Some(("sidecar/clock", "sidecar/clock".to_owned())));
        assert_eq!(table_of("sidecar/views.sql"), None);
        assert_eq!(lake_table_of("events/A/X.Y/b.parquet"), Some(("A", "events/A/X.Y/b")));
        assert_eq!(lake_table_of("sidecar/clock/b.parquet"), Some(("sidecar/clock", "sidecar/clock/b")));
    }
}
