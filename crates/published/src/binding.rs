//! Whether the files of a provider, from any number of traces, read as one table.
//!
//! All that is asked is whether something that must be the same everywhere is: a column has one type and one spelling, a
//! structure one set of members, an event one name, a field of an event one column, a provider one folder and a folder one
//! provider. So everything seen is noted as a subject with its value, and a subject with several values is a mismatch. What
//! is kept grows with what is different, not with the number of files.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use conversion::table::header;
use serde::Serialize;

use super::event::{EventFact, FieldFact};
use super::footer::Footer;

/// What files do not agree in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    /// The type of a column, or of a member of a structure.
    Type,
    /// The members of a structure.
    Members,
    /// The case of a column's name.
    Spelling,
    /// Whether a column has names of its values beside it.
    Labels,
    /// The name of an event.
    EventName,
    /// The column of a field of an event.
    FieldColumn,
    /// The folder of a provider.
    Folder,
    /// The provider of a folder.
    Provider,
}

/// One thing that is not the same in all files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// What it is.
    pub kind: MismatchKind,
    /// The folder of the provider below `events`, or `sidecar/<table>`; of a column that every table begins with `*`.
    pub table: String,
    /// The column, path to the member, event, or provider.
    pub subject: String,
    /// What it is where; two at least, sorted.
    pub variants: Vec<Variant>,
}

/// One of the values that a subject has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// The value.
    pub value: String,
    /// The first file that has it, by name.
    pub file: String,
    /// How many files have it.
    pub files: u64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { kind, table, subject, variants } = self;
        match kind {
            MismatchKind::Type => write!(f, "column {subject} of {table} has several types")?,
            MismatchKind::Members => write!(f, "structure {subject} of {table} has different members")?,
            MismatchKind::Spelling => write!(f, "column {subject} of {table} has several spellings")?,
            MismatchKind::Labels => write!(f, "column {subject} of {table} has names of its values in some files")?,
            MismatchKind::EventName => write!(f, "{subject} of {table} has several names")?,
            MismatchKind::FieldColumn => write!(f, "{subject} of {table} stands in several columns")?,
            MismatchKind::Folder => write!(f, "provider {subject} has several folders")?,
            MismatchKind::Provider => write!(f, "folder {table} holds several providers")?,
        }
        for (variant, separator) in variants.iter().zip([": "].into_iter().chain(std::iter::repeat("; "))) {
            let Variant { value, file, files } = variant;
            write!(f, "{separator}{value} in {file}")?;
            match files {
                0 | 1 => {}
                2 => f.write_str(" and one more")?,
                more => write!(f, " and {} more", more - 1)?,
            }
        }
        Ok(())
    }
}

/// What must be the same in all files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    /// The table, ignoring case; of events and fields their provider.
    table: String,
    name: String,
    kind: MismatchKind,
}

/// Where a value was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sightings {
    /// The first file, by name.
    file: String,
    files: u64,
}

impl Sightings {
    fn merge(&mut self, other: Sightings) {
        self.files = self.files.saturating_add(other.files);
        if other.file < self.file {
            self.file = other.file;
        }
    }
}

/// What was seen in files. The result does not depend on the order in which they are added, or merged.
#[derive(Clone, Debug, Default)]
pub struct Binding {
    seen: BTreeMap<Subject, BTreeMap<String, Sightings>>,
}

/// The table of columns that all tables share.
const ALL_TABLES: &str = "*";

impl Binding {
    /// Adds a file. `file`: what it is called in messages; `path`: where it lies in its trace, as in the manifest.
    pub fn add_file(&mut self, file: &str, path: &str, footer: &Footer) {
        self.add_columns(file, path, &footer.column_types());
        let Some(table) = table_of(path).filter(|_| path.starts_with(EVENTS)) else { return };
        let provider = footer.value("etl2parquet.provider_id").unwrap_or("no provider");
        self.see(MismatchKind::Provider, &table.to_lowercase(), "", provider, file);
        if provider != "no provider" {
            self.see(MismatchKind::Folder, "", provider, table, file);
        }
    }

    /// Adds the columns of a file with their types, each structure followed by its members.
    pub(super) fn add_columns(&mut self, file: &str, path: &str, columns: &[(String, String)]) {
        let Some(table) = table_of(path) else { return };
        let key = table.to_lowercase();
        // For messages: where it is a fault, it is the provider's.
        self.see(MismatchKind::Spelling, &key, "", table, file);
        let is_common = |name: &str| {
            path.starts_with(EVENTS)
                && header::COMMON.iter().chain(header::RENDERED).any(|column| column.name().eq_ignore_ascii_case(name))
        };
        let labelled: HashSet<String> = columns.iter().filter_map(|(path, _)| labelled(path)).collect();
        for (place, (path, data_type)) in columns.iter().enumerate() {
            let name = path.to_lowercase();
            // Of a member, the structure's own column decides.
            let whole = name.split('.').next().unwrap_or_default();
            let table = if is_common(whole) { ALL_TABLES } else { &key };
            self.see(MismatchKind::Type, table, &name, data_type, file);
            if data_type.contains("STRUCT") {
                let members = members(path, columns.get(place + 1..).unwrap_or_default());
                self.see(MismatchKind::Members, table, &name, &members, file);
            }
            self.see(MismatchKind::Spelling, table, &name, path, file);
            let labels = if labelled.contains(&name) { "with them" } else { "without" };
            self.see(MismatchKind::Labels, table, &name, labels, file);
        }
    }

    /// Adds an event shape of a trace. `file`: its catalog.
    pub(super) fn add_event(&mut self, file: &str, event: &EventFact) {
        if let Some(name) = &event.comparable_name {
            self.see(MismatchKind::EventName, &event.provider, &event.event, name, file);
        }
    }

    /// Adds a field of an event shape. `file`: the sidecar table `fields`.
    pub(super) fn add_field(&mut self, file: &str, event: &EventFact, field: &FieldFact) {
        let subject = format!("field {} of {}", field.field, event.event);
        self.see(MismatchKind::FieldColumn, &event.provider, &subject, &field.column, file);
    }

    fn see(&mut self, kind: MismatchKind, table: &str, name: &str, value: &str, file: &str) {
        let subject = Subject { table: table.to_owned(), name: name.to_owned(), kind };
        let values = self.seen.entry(subject).or_default();
        match values.get_mut(value) {
            // A trace records the same of an event in each of its shapes.
            Some(seen) if seen.file == file => {}
            Some(seen) => seen.merge(Sightings { file: file.to_owned(), files: 1 }),
            None => {
                values.insert(value.to_owned(), Sightings { file: file.to_owned(), files: 1 });
            }
        }
    }

    /// Adds what was seen in other files.
    pub fn merge(&mut self, other: Binding) {
        for (subject, values) in other.seen {
            let own = self.seen.entry(subject).or_default();
            for (value, seen) in values {
                match own.get_mut(&value) {
                    Some(known) => known.merge(seen),
                    None => {
                        own.insert(value, seen);
                    }
                }
            }
        }
    }

    /// What does not agree, sorted by table, subject and kind.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let is_folder = |subject: &Subject| subject.kind == MismatchKind::Spelling && subject.name.is_empty();
        let several = self.seen.iter().filter(|(subject, values)| values.len() > 1 && !is_folder(subject));
        let mut found: Vec<Mismatch> = several
            .map(|(subject, values)| Mismatch {
                kind: subject.kind,
                table: self.shown_table(subject),
                subject: self.shown_subject(subject),
                variants: values.iter().map(|(value, seen)| variant(value, seen)).collect(),
            })
            .collect();
        found.sort_by(|a, b| (&a.table, &a.subject, a.kind).cmp(&(&b.table, &b.subject, b.kind)));
        found
    }

    /// The folder that a subject is about, as it is spelled first.
    fn shown_table(&self, subject: &Subject) -> String {
        let (table, name, kind) = match subject.kind {
            MismatchKind::Folder => ("", &subject.name, MismatchKind::Folder),
            MismatchKind::EventName | MismatchKind::FieldColumn => ("", &subject.table, MismatchKind::Folder),
            _ => (subject.table.as_str(), &String::new(), MismatchKind::Spelling),
        };
        let folder = Subject { table: table.to_owned(), name: name.clone(), kind };
        let spelled = self.seen.get(&folder).and_then(|values| values.keys().next());
        spelled.unwrap_or(&subject.table).clone()
    }

    /// A column as it is spelled first, anything else as it is.
    fn shown_subject(&self, subject: &Subject) -> String {
        let spelling = Subject { kind: MismatchKind::Spelling, ..subject.clone() };
        let spelled = self.seen.get(&spelling).and_then(|values| values.keys().next());
        spelled.unwrap_or(&subject.name).clone()
    }
}

fn variant(value: &str, seen: &Sightings) -> Variant {
    Variant { value: value.to_owned(), file: seen.file.clone(), files: seen.files }
}

/// The names of the members of a structure, sorted, given the columns behind it.
fn members(structure: &str, behind: &[(String, String)]) -> String {
    let below = behind.iter().map_while(|(path, _)| path.strip_prefix(structure)?.strip_prefix('.'));
    let mut members: Vec<String> = below.filter(|path| !path.contains('.')).map(str::to_lowercase).collect();
    members.sort_unstable();
    members.join(", ")
}

/// The column whose values a column names, in lower case, if it is called like one that does.
fn labelled(path: &str) -> Option<String> {
    path.to_lowercase().strip_suffix("_label").map(str::to_owned)
}

/// Where the files of events lie in a trace.
const EVENTS: &str = "events/";

/// The table that a file belongs to: the provider's folder, whatever is below it, or the table of the sidecar.
fn table_of(path: &str) -> Option<&str> {
    match path.strip_prefix(EVENTS) {
        Some(below) => below.split_once('/').map(|(folder, _)| folder),
        None => path.strip_suffix(".parquet"),
    }
}
