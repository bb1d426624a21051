//! The names that published traces use, brought together: what a schema lock settles.
//!
//! Where traces disagree, the rules of one trace decide over all: the plain name goes to the first family, in the order of
//! families, of those that have it anywhere; spellings and names of events are the first ones in the order of bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::error::Result;
use base::guid::Guid;
use base::progress::{Progress, stop_if_cancelled};
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;
use conversion::sidecar::fields::FieldRow;
use rayon::prelude::*;
use schema::family::{ColumnRole, Family};
use schema::lock::SchemaLock;
use schema::pack::Pack;
use schema::settled::{EventNumber, SettledColumn, SettledEvent, SettledForm, SettledNames};

use super::sidecar::Sidecar;
use super::trace::PublishedTrace;

/// The names of all providers in traces that `is_wanted` says yes to.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a sidecar cannot be read,
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
fn settle(
    traces: &[PublishedTrace],
    is_wanted: &(dyn Fn(&Guid) -> bool + Sync),
    progress: &dyn Progress,
) -> Result<BTreeMap<Guid, SettledNames>> {
    let of_trace = |trace: &PublishedTrace| {
        stop_if_cancelled(progress)?;
        let mut names = SeenNames::default();
        names.add(trace, is_wanted, progress)?;
        Ok(names)
    };
    let seen = traces.par_iter().map(of_trace).try_reduce(SeenNames::default, |mut all, names| {
        all.merge(names);
        Ok(all)
    })?;
    Ok(seen.providers.into_iter().map(|(provider, names)| (provider, names.settled())).collect())
}

/// The names of providers in traces of which the built-in schemas settle none. Call it in the pool whose threads it should use.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a sidecar cannot be read,
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn lock_of(traces: &[PublishedTrace], progress: &dyn Progress) -> Result<SchemaLock> {
    let names = settle(traces, &|provider| !Pack::builtin().settles(provider), progress)?;
    Ok(SchemaLock::new(names.into_iter().filter(|(_, names)| !names.is_empty())))
}

/// What traces use. The result does not depend on the order in which they are added, or merged.
#[derive(Debug, Default)]
struct SeenNames {
    providers: BTreeMap<Guid, SeenProvider>,
}

#[derive(Debug, Default)]
struct SeenProvider {
    folders: BTreeSet<String>,
    /// By path in lower case.
    columns: BTreeMap<String, SeenColumn>,
    /// By number and version.
    events: BTreeMap<(EventNumber, u16), BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct SeenColumn {
    spellings: BTreeSet<String>,
    /// With whether they have the plain name somewhere.
    forms: BTreeMap<Family, (bool, BTreeSet<ColumnRole>)>,
}

impl SeenNames {
    fn add(
        &mut self,
        trace: &PublishedTrace,
        is_wanted: &dyn Fn(&Guid) -> bool,
        progress: &dyn Progress,
    ) -> Result<()> {
        let (record, mut shapes) = (trace.record()?, HashMap::<u32, Guid>::new());
        let sidecar = Sidecar::of(&*trace.store, &record, progress);
        sidecar.rows::<ShapeNames<'_>>(|row| {
            let Some(provider) = row.provider().filter(|provider| is_wanted(provider)) else { return };
            shapes.insert(row.shape, provider);
            self.providers.entry(provider).or_default().add_event(&row);
        })?;
        let mut field = FieldColumns::default();
        sidecar.rows::<FieldNames<'_>>(|row| {
            let Some(provider) = shapes.get(&row.shape) else { return };
            let Some(seen) = field.next(&row) else { return };
            self.providers.entry(*provider).or_default().add_column(seen);
        })
    }

    fn merge(&mut self, other: SeenNames) {
        for (provider, names) in other.providers {
            let own = self.providers.entry(provider).or_default();
            own.folders.extend(names.folders);
            for (path, column) in names.columns {
                own.columns.entry(path).or_default().merge(column);
            }
            for (event, names) in names.events {
                own.events.entry(event).or_default().extend(names);
            }
        }
    }
}

read_columns! {
    /// The names of an event shape.
    struct ShapeNames<'b> of CatalogRow<'static> {
        shape: u32,
        provider_id: Option<&'b str>,
        dataset: &'b str,
        kind: &'b str,
        event_id: Option<u16>,
        event_version: Option<u16>,
        event_name: Option<&'b str>,
        metadata: Option<&'b [u8]>,
        opcode: Option<u8>,
        decode_source: &'b str,
    }
}

impl ShapeNames<'_> {
    /// The provider, or the class of a classic event that is described; messages have neither.
    fn provider(&self) -> Option<Guid> {
        let has_names = match self.kind {
            "event" => true,
            "classic" => self.decode_source != "none",
            _ => false,
        };
        has_names.then(|| self.provider_id?.parse().ok()).flatten()
    }

    /// What the event is known by within its provider.
    fn number(&self) -> Option<EventNumber> {
        match self.kind {
            "classic" => self.opcode.map(EventNumber::Opcode),
            _ => self.event_id.map(EventNumber::Id),
        }
    }
}

impl SeenProvider {
    fn add_event(&mut self, row: &ShapeNames<'_>) {
        let folder = row.dataset.split('/').next().filter(|folder| !folder.is_empty());
        self.folders.extend(folder.map(str::to_owned));
        let event = row.number().zip(row.event_version).zip(row.event_name.filter(|name| is_cell(name)));
        // An event with metadata is its name.
        if let Some((event, name)) = event.filter(|_| row.metadata.is_none()) {
            self.events.entry(event).or_default().insert(name.to_owned());
        }
    }

    fn add_column(&mut self, seen: SeenField) {
        let column = self.columns.entry(seen.path.to_lowercase()).or_default();
        column.spellings.insert(seen.path);
        let (is_plain, roles) = column.forms.entry(seen.family).or_default();
        *is_plain |= seen.is_plain;
        roles.insert(seen.role);
    }

    fn settled(self) -> SettledNames {
        let mut names = SettledNames::new(self.folders.into_iter().next().unwrap_or_default());
        for column in self.columns.into_values() {
            names.add_column(column.settled());
        }
        for event in ranges(self.events) {
            names.add_event(event);
        }
        names
    }
}

impl SeenColumn {
    fn merge(&mut self, other: SeenColumn) {
        self.spellings.extend(other.spellings);
        for (family, (is_plain, roles)) in other.forms {
            let own = self.forms.entry(family).or_default();
            own.0 |= is_plain;
            own.1.extend(roles);
        }
    }

    /// A name that no family was seen to have belongs to one that was declared and did not occur; the first family it is, of
    /// those that were not seen.
    fn settled(mut self) -> SettledColumn {
        let plain = self.forms.iter().find(|(_, (is_plain, _))| *is_plain).map(|(family, _)| family.clone());
        let plain = plain.unwrap_or_else(|| {
            let unseen = [Family::Text, Family::Int, Family::Float].into_iter().find(|it| !self.forms.contains_key(it));
            unseen.unwrap_or(Family::Text)
        });
        let of_plain = self.forms.remove(&plain).map_or_else(BTreeSet::new, |(_, roles)| roles);
        let form = |family: Family, mut roles: BTreeSet<ColumnRole>| {
            if roles.is_empty() {
                roles.insert(ColumnRole::Value);
            }
            SettledForm { family, roles: roles.into_iter().collect() }
        };
        let mut forms = vec![form(plain, of_plain)];
        forms.extend(self.forms.into_iter().map(|(family, (_, roles))| form(family, roles)));
        SettledColumn { path: self.spellings.into_iter().next().unwrap_or_default(), forms }
    }
}

/// Versions of an event that follow one another and have one name, together.
fn ranges(events: BTreeMap<(EventNumber, u16), BTreeSet<String>>) -> Vec<SettledEvent> {
    let mut ranges: Vec<SettledEvent> = Vec::new();
    for ((number, version), names) in events {
        let Some(name) = names.into_iter().next() else { continue };
        match ranges.last_mut() {
            Some(last)
                if last.number == number
                    && last.name == name
                    && last.versions.end().checked_add(1) == Some(version) =>
            {
                last.versions = *last.versions.start()..=version;
            }
            _ => ranges.push(SettledEvent { number, versions: version..=version, name }),
        }
    }
    ranges
}

read_columns! {
    /// The names of a field and one of its columns.
    struct FieldNames<'b> of FieldRow {
        shape: u32,
        position: u32,
        field: &'b str,
        in_type: &'b str,
        column: Option<&'b str>,
        column_type: Option<&'b str>,
    }
}

/// A column of a field.
struct SeenField {
    /// The name, without family and role, behind those of the structures around it.
    path: String,
    family: Family,
    is_plain: bool,
    role: ColumnRole,
}

/// The rows of `fields`, one after another: the columns of one field follow each other, and structures stand before their
/// members.
#[derive(Default)]
struct FieldColumns {
    /// Shape and position of the field before.
    last: Option<(u32, u32)>,
    /// Its own column, without the role, and what follows from that.
    own: String,
    family: Option<(Family, bool)>,
    path: String,
    /// The paths of structures by their columns, of this shape.
    structures: HashMap<String, String>,
}

impl FieldColumns {
    fn next(&mut self, row: &FieldNames<'_>) -> Option<SeenField> {
        let FieldNames { shape, position, field, in_type, column, column_type } = *row;
        let column = column?;
        if self.last.is_none_or(|(last, _)| last != shape) {
            self.structures.clear();
        }
        let role = if self.last.replace((shape, position)) == Some((shape, position)) {
            let others = [ColumnRole::Label, ColumnRole::FileTime, ColumnRole::Nanos];
            others.into_iter().find(|role| without_suffix(column, *role).as_ref() == Some(&self.own))?
        } else {
            self.family = None;
            let role = if in_type.starts_with("TraceTime") { ColumnRole::Nanos } else { ColumnRole::Value };
            self.own = without_suffix(column, role)?;
            let family = family(column_type?)?;
            let (path, is_plain) = self.stem(field, &family)?;
            self.path = path;
            if matches!(item(&family), Family::Struct) {
                self.structures.insert(self.own.to_lowercase(), self.path.clone());
            }
            self.family = Some((family, is_plain));
            role
        };
        let (family, is_plain) = self.family.clone()?;
        let is_good = is_cell(&self.path) && Family::of_name(&family.to_string()).is_some();
        is_good.then(|| SeenField { path: self.path.clone(), family, is_plain, role })
    }

    /// The path of the column `own`, and whether the fields of this family have the plain name.
    fn stem(&self, field: &str, family: &Family) -> Option<(String, bool)> {
        let (parent, own) = match self.own.rsplit_once('.') {
            Some((structure, own)) => (Some(self.structures.get(&structure.to_lowercase())?), own),
            None => (None, self.own.as_str()),
        };
        // What the column would be called if nothing but characters stood in the way.
        let declared = field.to_lowercase().replace(|c: char| c.is_control() || " ,;{}()=./\\".contains(c), "_");
        let is_declared = |name: &str| {
            let name = name.to_lowercase();
            declared == name || (parent.is_some() && declared.ends_with(&format!("_{name}")))
        };
        let own = without_hash(own);
        let typed = own.strip_suffix(&format!("__{family}")).filter(|stem| !stem.is_empty() && !is_declared(own));
        let name = typed.unwrap_or(own);
        let path = parent.map_or_else(|| name.to_owned(), |parent| format!("{parent}.{name}"));
        Some((path, typed.is_none()))
    }
}

/// A column's name without what its role puts behind it.
fn without_suffix(column: &str, role: ColumnRole) -> Option<String> {
    let name = if role == ColumnRole::Value { column } else { without_hash(column) };
    name.strip_suffix(role.suffix()).map(str::to_owned)
}

/// A generated name without the hash that it has where a declared one took it.
fn without_hash(name: &str) -> &str {
    let is_hash = |hash: &str| hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('~') {
        // A long name keeps its hash: it is cut, so it is long.
        Some((stem, hash)) if is_hash(hash) && name.len() < LONG => stem,
        _ => name,
    }
}

/// Names that are as long as this may have been cut.
const LONG: usize = 120;

/// Whether a name can stand in a line of a lock.
fn is_cell(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_control)
}

/// The family of the columns of an Arrow type.
fn family(data_type: &str) -> Option<Family> {
    if let Some(item) = data_type.strip_prefix("List(") {
        return Some(Family::List(Box::new(family(item)?)));
    }
    let end = data_type.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(data_type.len());
    Some(match data_type.split_at(end) {
        ("Utf8" | "FixedSizeBinary", _) => Family::Text,
        ("Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64", _) => Family::Int,
        ("Float32" | "Float64", _) => Family::Float,
        ("Boolean", _) => Family::Bool,
        ("Timestamp", of) if of.contains('"') => Family::Time,
        ("Timestamp", _) => Family::LocalTime,
        ("Binary", _) => Family::Binary,
        ("Struct", _) => Family::Struct,
        _ => return None,
    })
}

fn item(family: &Family) -> &Family {
    match family {
        Family::List(item) => item,
        other => other,
    }
}
