//! What is settled of a provider's names once and for all, as lines of text: its folder, its columns and its events.
//!
//! ```text
//! P <GUID> <folder>                      a provider; what follows is its own
//! N <path> <form> …                      a column, or after a dot a member of a structure, as it is spelled
//! E <id> <versions> <name>               a manifest event: `3` or `0-3`
//! V <opcode> <versions> <name>           a classic event
//! LE <id> <version> <field> …            which layout a manifest event has, of those that payloads cannot distinguish
//! LV <opcode> <version> <field> …        and a classic event
//! ```
//!
//! Cells are separated by tabs; `#` starts a comment line. A form is a family of fields, the first one has the plain name,
//! with the columns that it has, where those are not the value alone: `int`, `int/value/label`, `time/value/filetime`,
//! `int/ns`. A field of a layout is its name, a blank and its family. Lines are sorted, so that two texts differ where they say different things.

mod merge;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;

use base::guid::Guid;

use super::family::{ColumnRole, Family};
use super::model::SchemaError;
use super::settled_layout::SettledLayout;

/// The settled names of one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettledNames {
    /// What its folder is called.
    pub folder: String,
    /// Columns and members of structures, by path in lower case.
    columns: BTreeMap<String, SettledColumn>,
    /// By number and first version; versions do not overlap.
    events: BTreeMap<(EventNumber, u16), SettledEvent>,
    /// By number and version: of each set of layouts that payloads cannot distinguish the one that is taken.
    layouts: BTreeMap<(EventNumber, u16), Vec<SettledLayout>>,
}

/// All columns of one name, ignoring case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledColumn {
    /// The name as it is spelled; that of a member behind its structure's and a dot.
    pub path: String,
    /// The families that share it; the first one has the plain name. Never empty.
    pub forms: Vec<SettledForm>,
}

/// The fields of one name and family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledForm {
    /// The family.
    pub family: Family,
    /// The columns that they have, in the order of roles. Never empty.
    pub roles: Vec<ColumnRole>,
}

/// What distinguishes the events of a provider, except for events that only have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventNumber {
    /// The id of a manifest event.
    Id(u16),
    /// The opcode of a classic event.
    Opcode(u8),
}

/// The name of an event in some of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledEvent {
    /// Which event.
    pub number: EventNumber,
    /// In which versions.
    pub versions: RangeInclusive<u16>,
    /// Its name.
    pub name: String,
}

/// What a text may say several times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// Nothing.
    Refused,
    /// Everything, in the same way.
    Merged,
}

impl Repeats {
    /// What is wrong with a line of a provider.
    fn of_provider(self, guid: &Guid) -> String {
        match self {
            Repeats::Refused => format!("provider {guid} has no folder or stands twice"),
            Repeats::Merged => format!("provider {guid} has no folder, or another one in an earlier line"),
        }
    }
}

/// Bytes of the longest line that is read.
const MAX_LINE: usize = 1 << 16;

impl SettledNames {
    /// Nothing at all.
    pub const EMPTY: SettledNames = SettledNames {
        folder: String::new(),
        columns: BTreeMap::new(),
        events: BTreeMap::new(),
        layouts: BTreeMap::new(),
    };

    /// Those of a provider of which only the folder is settled.
    pub fn new(folder: impl Into<String>) -> SettledNames {
        SettledNames { folder: folder.into(), ..SettledNames::default() }
    }

    /// Reads a text, by provider.
    ///
    /// # Errors
    /// What is no line of the format or contradicts an earlier one, with its number.
    pub fn read(text: &str) -> Result<BTreeMap<Guid, SettledNames>, SchemaError> {
        SettledNames::read_with(text, Repeats::Refused)
    }

    /// Reads a text in which providers, columns and events may stand several times, as where one text was put behind
    /// another. Events that stand there by number and versions alone are left out.
    ///
    /// # Errors
    /// Those of [`SettledNames::read`].
    pub fn read_merged(text: &str) -> Result<BTreeMap<Guid, SettledNames>, SchemaError> {
        SettledNames::read_with(text, Repeats::Merged)
    }

    fn read_with(text: &str, repeats: Repeats) -> Result<BTreeMap<Guid, SettledNames>, SchemaError> {
        let mut all = BTreeMap::new();
        let mut open: Option<(Guid, SettledNames)> = None;
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            let fault = |what: String| SchemaError::at_line(number, what);
            // Written again, it would be a part of the end of the line.
            if line.ends_with('\r') {
                return Err(fault("a carriage return at the end of a name".into()));
            }
            let cells: Vec<&str> = line.split('\t').collect();
            if let (["P", guid, folder], true) = (&cells[..], line.len() <= MAX_LINE) {
                let guid: Guid = guid.parse().map_err(|_| fault(format!("GUID `{guid}`")))?;
                all.extend(open.take());
                let known = all.remove(&guid);
                let new = SettledNames::new(*folder);
                let is_good =
                    |known: &SettledNames| repeats == Repeats::Merged && known.may_have_folder_of(&new, &guid);
                if folder.is_empty() || !known.as_ref().is_none_or(is_good) {
                    return Err(fault(repeats.of_provider(&guid)));
                }
                let names = match known {
                    Some(known) if known.is_nameless(&guid) => SettledNames { folder: new.folder, ..known },
                    Some(known) => known,
                    None => new,
                };
                open = Some((guid, names));
                continue;
            }
            let Some((_, names)) = &mut open else { return Err(fault("a line in front of the first provider".into())) };
            let cell_fault = |CellFault { cell, what }: CellFault| {
                let before: usize = cells.iter().take(cell).map(|cell| cell.chars().count() + 1).sum();
                fault(format!("column {}: {what}", before + 1))
            };
            if line.len() > MAX_LINE || !names.read_line(&cells, repeats).map_err(cell_fault)? {
                let start: String = line.chars().take(64).collect();
                return Err(fault(format!(
                    "not a line of the format, or one that contradicts an earlier one: `{start}`"
                )));
            }
        }
        all.extend(open);
        Ok(all)
    }

    /// Whether the line says something, and nothing that contradicts an earlier one.
    fn read_line(&mut self, cells: &[&str], repeats: Repeats) -> Result<bool, CellFault> {
        let event = |number, versions: &str, name: &str| {
            Ok::<_, CellFault>(SettledEvent { number, versions: range(versions)?, name: name.to_owned() })
        };
        match *cells {
            ["N", path, ref forms @ ..] if !forms.is_empty() && path.split('.').all(|name| !name.is_empty()) => {
                let form = |(form, cell): (&&str, usize)| {
                    SettledForm::read(form).map_err(|what| CellFault { cell, what: format!("{what} of {path}") })
                };
                let forms = forms.iter().zip(2..).map(form).collect::<Result<Vec<_>, _>>()?;
                let families: BTreeSet<_> = forms.iter().map(|form| &form.family).collect();
                let is_good = families.len() == forms.len();
                Ok(is_good && self.read_column(SettledColumn { path: path.to_owned(), forms }, repeats))
            }
            ["E", id, versions, name] => {
                Ok(self.read_event(event(EventNumber::Id(number(1, id)?), versions, name)?, repeats))
            }
            ["V", opcode, versions, name] => {
                Ok(self.read_event(event(EventNumber::Opcode(number(1, opcode)?), versions, name)?, repeats))
            }
            ["E", id, versions] if repeats == Repeats::Merged => Ok(is_unnamed(number::<u16>(1, id)?, versions)?),
            ["V", opcode, versions] if repeats == Repeats::Merged => {
                Ok(is_unnamed(number::<u8>(1, opcode)?, versions)?)
            }
            ["LE", id, version, ref fields @ ..] => {
                let event = (EventNumber::Id(number(1, id)?), number(2, version)?);
                Ok(SettledLayout::read(fields).is_some_and(|layout| self.add_layout(event, layout)))
            }
            ["LV", opcode, version, ref fields @ ..] => {
                let event = (EventNumber::Opcode(number(1, opcode)?), number(2, version)?);
                Ok(SettledLayout::read(fields).is_some_and(|layout| self.add_layout(event, layout)))
            }
            _ => Ok(false),
        }
    }

    fn read_column(&mut self, column: SettledColumn, repeats: Repeats) -> bool {
        match repeats {
            Repeats::Merged => self.merge_column(column),
            Repeats::Refused => {
                let is_new = !self.columns.contains_key(&column.path.to_lowercase());
                self.add_column(column);
                is_new
            }
        }
    }

    fn read_event(&mut self, event: SettledEvent, repeats: Repeats) -> bool {
        match repeats {
            Repeats::Merged => self.merge_event(event),
            Repeats::Refused => self.add_event(event),
        }
    }

    /// Adds a column; of one that is known already the families and the roles that are new. What is known keeps its
    /// spelling and its plain family.
    pub fn add_column(&mut self, column: SettledColumn) {
        let Some(known) = self.columns.get_mut(&column.path.to_lowercase()) else {
            self.columns.insert(column.path.to_lowercase(), column);
            return;
        };
        for form in column.forms {
            match known.forms.iter_mut().find(|known| known.family == form.family) {
                Some(known) => {
                    known.roles.extend(form.roles);
                    known.roles.sort_unstable();
                    known.roles.dedup();
                }
                None => known.forms.push(form),
            }
        }
    }

    /// Adds the name of an event; `false`, and nothing is added, where some of its versions have one, or it has no version
    /// or name.
    pub fn add_event(&mut self, event: SettledEvent) -> bool {
        let (first, last) = event.versions.clone().into_inner();
        let below = self.events.range(..=(event.number, last)).next_back().map(|(_, below)| below);
        let is_taken = below.is_some_and(|below| below.number == event.number && *below.versions.end() >= first);
        let is_good = first <= last && !event.name.is_empty() && !is_taken;
        if is_good {
            self.events.insert((event.number, first), event);
        }
        is_good
    }

    /// Adds the layout that an event version has rather than others like it; `false` where it is known already.
    pub fn add_layout(&mut self, (number, version): (EventNumber, u16), layout: SettledLayout) -> bool {
        let known = self.layouts.entry((number, version)).or_default();
        let is_new = !known.contains(&layout);
        if is_new {
            known.push(layout);
        }
        is_new
    }

    /// The layouts that an event version has rather than others like them.
    pub fn layouts(&self, number: EventNumber, version: u16) -> &[SettledLayout] {
        self.layouts.get(&(number, version)).map_or(&[], Vec::as_slice)
    }

    /// All layouts that are settled, by event and version.
    pub fn all_layouts(&self) -> impl Iterator<Item = ((EventNumber, u16), &SettledLayout)> {
        self.layouts.iter().flat_map(|(event, layouts)| layouts.iter().map(|layout| (*event, layout)))
    }

    /// The columns and members, by path in lower case.
    pub fn columns(&self) -> &BTreeMap<String, SettledColumn> {
        &self.columns
    }

    /// The columns of these names alone, each with the members of its structures; `is_wanted` is asked for names in lower
    /// case.
    pub fn only(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &SettledColumn> {
        let of_name = move |key: &str| is_wanted(key.split('.').next().unwrap_or(key));
        self.columns.iter().filter(move |(key, _)| of_name(key)).map(|(_, column)| column)
    }

    /// The names of events, by number and version.
    pub fn events(&self) -> impl Iterator<Item = &SettledEvent> {
        self.events.values()
    }

    /// The name of an event; `None` where that of its version is not settled.
    pub fn event_name(&self, number: EventNumber, version: u16) -> Option<&str> {
        let (_, below) = self.events.range(..=(number, version)).next_back()?;
        (below.number == number && below.versions.contains(&version)).then_some(&*below.name)
    }

    /// Whether nothing but the folder is settled.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.events.is_empty() && self.layouts.is_empty()
    }

    /// The lines of a provider, as [`SettledNames::read`] takes them.
    pub fn lines(&self, provider: &Guid) -> String {
        let mut text = format!("P\t{provider}\t{}\n", self.folder);
        for column in self.columns.values() {
            let forms: Vec<String> = column.forms.iter().map(SettledForm::to_string).collect();
            let _ = writeln!(text, "N\t{}\t{}", column.path, forms.join("\t"));
        }
        for event in self.events.values() {
            let _ = writeln!(text, "{}", event.line());
        }
        for ((number, version), layout) in self.all_layouts() {
            let _ = match number {
                EventNumber::Id(id) => writeln!(text, "LE\t{id}\t{version}\t{layout}"),
                EventNumber::Opcode(opcode) => writeln!(text, "LV\t{opcode}\t{version}\t{layout}"),
            };
        }
        text
    }
}

impl SettledEvent {
    /// Its line; what has no name ends behind the versions.
    pub(super) fn line(&self) -> String {
        let SettledEvent { number, versions, name } = self;
        let (first, last) = (versions.start(), versions.end());
        let versions = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let line = match number {
            EventNumber::Id(id) => format!("E\t{id}\t{versions}\t{name}"),
            EventNumber::Opcode(opcode) => format!("V\t{opcode}\t{versions}\t{name}"),
        };
        line.strip_suffix('\t').map(str::to_owned).unwrap_or(line)
    }
}

impl SettledForm {
    fn read(text: &str) -> Result<SettledForm, String> {
        let mut words = text.split('/');
        let family = words.next().and_then(Family::of_name).ok_or_else(|| format!("family `{text}`"))?;
        let roles: Option<Vec<ColumnRole>> = words.map(ColumnRole::of_name).collect();
        let mut roles = roles.filter(|roles| roles.is_sorted()).ok_or_else(|| format!("columns `{text}`"))?;
        if roles.is_empty() {
            roles.push(ColumnRole::Value);
        }
        Ok(SettledForm { family, roles })
    }
}

impl fmt::Display for SettledForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.family)?;
        let roles = if self.roles == [ColumnRole::Value] { &[][..] } else { &self.roles };
        roles.iter().try_for_each(|role| write!(f, "/{}", role.name()))
    }
}

/// What is wrong with a cell of a line.
struct CellFault {
    /// Which one, from 0.
    cell: usize,
    what: String,
}

fn number<T: std::str::FromStr>(cell: usize, text: &str) -> Result<T, CellFault> {
    text.parse().map_err(|_| CellFault { cell, what: format!("number `{text}`") })
}

/// Whether a line with an event's number, and no name, has versions.
fn is_unnamed<T>(_number: T, versions: &str) -> Result<bool, CellFault> {
    Ok(!range(versions)?.is_empty())
}

/// The versions of an event, `3` or `0-3`.
fn range(text: &str) -> Result<RangeInclusive<u16>, CellFault> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Ok(number(2, first)?..=number(2, last)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "P\t11111111-2222-3333-4444-555555555555\tLab\n\
                        N\treason\tint/value/label\ttext\n\
                        N\tS\tlist_struct\n\
                        N\tS.Id\tint\n\
                        N\tT\ttime/value/filetime\n\
                        N\tTime\tint/ns\n\
                        E\t7\t0-2\tTask/Start\n\
                        E\t7\t4\tTask\n\
                        V\t10\t2\tLab/Load\n\
                        LE\t7\t4\tId int\tName text\n\
                        LE\t7\t4\tS list_struct\tS.Id int\n\
                        LV\t10\t2\tId int\n";

    fn lab() -> SettledNames {
        let mut all = SettledNames::read(TEXT).unwrap();
        all.pop_first().unwrap().1
    }

    #[test]
    fn what_is_read_is_written_again() {
        let guid: Guid = "11111111-2222-3333-4444-555555555555".parse().unwrap();
        assert_eq!(lab().lines(&guid), TEXT);
        let lab = lab();
        let reason = &lab.columns()["reason"];
        assert_eq!((reason.path.as_str(), reason.forms.len()), ("reason", 2));
        assert_eq!(reason.forms[0].roles, [ColumnRole::Value, ColumnRole::Label]);
        assert_eq!(SettledNames::read("# nothing\n\n").unwrap(), BTreeMap::new());
    }

    #[test]
    fn an_event_is_called_by_its_number_and_version() {
        let (names, id) = (lab(), EventNumber::Id(7));
        let found: Vec<_> = (0..6).map(|version| names.event_name(id, version)).collect();
        assert_eq!(found, [Some("Task/Start"), Some("Task/Start"), Some("Task/Start"), None, Some("Task"), None]);
        assert_eq!(names.event_name(EventNumber::Opcode(10), 2), Some("Lab/Load"));
        assert_eq!(names.event_name(EventNumber::Opcode(7), 0), None);
        assert_eq!(names.event_name(EventNumber::Id(8), 0), None);
    }

    #[test]
    fn what_is_settled_stays() {
        let mut names = lab();
        let form = |text| SettledForm::read(text).unwrap();
        let forms = vec![form("text/value/label"), form("float"), form("int/ns")];
        names.add_column(SettledColumn { path: "REASON".into(), forms });
        let reason: Vec<String> = names.columns()["reason"].forms.iter().map(SettledForm::to_string).collect();
        assert_eq!(names.columns()["reason"].path, "reason");
        assert_eq!(reason, ["int/value/label/ns", "text/value/label", "float"]);
        let event = |versions, name: &str| SettledEvent { number: EventNumber::Id(7), versions, name: name.into() };
        for (versions, is_new) in
            [(1..=1, false), (2..=3, false), (3..=4, false), (0..=9, false), (3..=3, true), (5..=9, true)]
        {
            assert_eq!(names.add_event(event(versions.clone(), "Other")), is_new, "{versions:?}");
        }
        assert!(!names.add_event(event(10..=10, "")));
        assert_eq!(
            [3, 4, 5, 9].map(|version| names.event_name(EventNumber::Id(7), version).unwrap()),
            ["Other", "Task", "Other", "Other"]
        );
    }

    #[test]
    fn faults_are_reported_by_their_lines() {
        let fault = |lines: &str| {
            let text = format!("P\t11111111-2222-3333-4444-555555555555\tLab\n{lines}\n");
            SettledNames::read(&text).map(drop).unwrap_err().to_string()
        };
        let refused =
            |start| format!("line 2: not a line of the format, or one that contradicts an earlier one: `{start}`");
        for (line, expected) in [
            ("N\tA", refused("N\tA")),
            ("N\tA\tint\tint", refused("N\tA\tint\tint")),
            ("N\tA..b\tint", refused("N\tA..b\tint")),
            ("N\tA\tnumber", "line 2: column 5: family `number` of A".to_owned()),
            ("N\tA\tint/label/value", "line 2: column 5: columns `int/label/value` of A".to_owned()),
            ("E\t1\t0-\tName", "line 2: column 5: number ``".to_owned()),
            ("E\t1\t2-1\tName", refused("E\t1\t2-1\tName")),
            ("V\t256\t0\tName", "line 2: column 3: number `256`".to_owned()),
            ("LE\t1\t0", refused("LE\t1\t0")),
            ("LE\t1\t0\tId", refused("LE\t1\t0\tId")),
            ("LV\t1\t0-1\tId int", "line 2: column 6: number `0-1`".to_owned()),
            ("X\t1", refused("X\t1")),
            ("V\t9\t0\tName\r\r", "line 2: a carriage return at the end of a name".to_owned()),
            ("N\tA\tint\ttxt", "line 2: column 9: family `txt` of A".to_owned()),
            ("P\tno\tLab", "line 2: GUID `no`".to_owned()),
        ] {
            assert_eq!(fault(line), expected);
        }
        assert!(fault("N\tA\tint\nN\ta\ttext").starts_with("line 3: "));
        assert!(fault("E\t1\t0-3\tA\nE\t1\t2\tB").starts_with("line 3: "));
        assert!(fault("LE\t1\t0\tId int\nLE\t1\t0\tid int").starts_with("line 3: "));
        let twice = format!("{TEXT}{TEXT}");
        assert!(SettledNames::read(&twice).unwrap_err().to_string().starts_with("line 13: provider 11111111-"));
        assert!(SettledNames::read("N\tA\tint").unwrap_err().to_string().starts_with("line 1: "));
        assert!(fault(&format!("N\t{}\tint", "a".repeat(MAX_LINE))).starts_with("line 2: not a line"));
    }
}
