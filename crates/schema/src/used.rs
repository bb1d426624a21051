//! The names that a trace uses of providers whose names a lock settles: what its files depend on of a lock, and what a
//! lock gains by it.
//!
//! The text is that of a lock, so that those of many traces, one behind the other, are one. Events that nothing names stand
//! there by number and versions alone: a lock that names them changes the trace.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::guid::Guid;

use super::lock::SchemaLock;
use super::model::SchemaError;
use super::settled::{EventNumber, SettledColumn, SettledEvent, SettledForm, SettledNames};

/// The names that a trace uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedNames {
    names: SchemaLock,
    /// Events that have no name, by provider; the names in them are empty.
    unnamed: BTreeMap<Guid, Vec<SettledEvent>>,
}

impl UsedNames {
    /// Adds a provider with its names, and the events of it that have none.
    pub fn add(&mut self, provider: Guid, names: SettledNames, unnamed: Vec<SettledEvent>) {
        self.names.insert(provider, names.in_order());
        if !unnamed.is_empty() {
            self.unnamed.insert(provider, unnamed);
        }
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Where it is no lock.
    pub fn read(content: &[u8]) -> Result<UsedNames, SchemaError> {
        let mut used = UsedNames { names: SchemaLock::read(content)?, unnamed: BTreeMap::new() };
        let (text, mut provider) = (String::from_utf8_lossy(content), Guid::ZERO);
        for line in text.lines() {
            match *line.split('\t').collect::<Vec<_>>() {
                ["P", guid, _] => provider = guid.parse().unwrap_or(provider),
                [kind, number, versions] => {
                    let event = SettledEvent::unnamed(kind, number, versions);
                    used.unnamed.entry(provider).or_default().extend(event);
                }
                _ => {}
            }
        }
        used.unnamed.retain(|_, events| !events.is_empty());
        Ok(used)
    }

    /// The text: the same for the same names.
    pub fn text(&self) -> String {
        let provider = |(provider, names): (&Guid, &_)| {
            let mut text = format!("\n{}", SettledNames::lines(names, provider));
            for event in self.unnamed.get(provider).into_iter().flatten() {
                let _ = writeln!(text, "{}", event.line());
            }
            text
        };
        let providers = self.names.providers().map(|(guid, names)| provider((guid, &**names)));
        format!("{}\n{}", SchemaLock::FIRST_LINE, providers.collect::<String>())
    }

    /// Whether it has no provider.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names.
    pub fn names(&self) -> &SchemaLock {
        &self.names
    }

    /// What distinguishes files that were written with these names from others. `missing`: what the trace says that its lock lacks.
    pub fn hash(&self, missing: Option<&SchemaLock>) -> String {
        let missing = missing.filter(|missing| !missing.is_empty()).map(SchemaLock::text);
        blake3::hash((self.text() + &missing.unwrap_or_default()).as_bytes()).to_hex().to_string()
    }

    /// Whether a trace with these names has them under a lock, too, be they in it or not. `is_whole`: whether its tables have
    /// all columns that the lock has.
    pub fn agree_with(&self, lock: &SchemaLock, is_whole: bool) -> bool {
        self.names.providers().all(|(provider, used)| {
            let is_free = || !lock.is_folder_of_another(provider, &used.folder);
            let Some(locked) = lock.names(provider) else { return is_free() };
            let unnamed = self.unnamed.get(provider).into_iter().flatten();
            (used.folder == locked.folder || (locked.is_nameless(provider) && is_free()))
                && locked.columns().iter().all(|(key, column)| agrees(used, key, column, is_whole))
                && used.events().all(|event| locked.event_names(event).all(|known| known.name == event.name))
                && unnamed.into_iter().all(|event| locked.event_names(event).next().is_none())
        })
    }

    /// What of these names a lock does not have.
    pub fn missing_in(&self, lock: &SchemaLock) -> SchemaLock {
        let nothing = SettledNames::EMPTY;
        let of_provider = |(provider, used): (&Guid, &SettledNames)| {
            let locked = lock.names(provider).map_or(&nothing, |names| &**names);
            let mut missing = SettledNames::new(&*used.folder);
            let columns = used.columns().iter();
            let columns = columns.filter_map(|(key, column)| column.without(locked.columns().get(key)));
            columns.for_each(|column| missing.add_column(column));
            for event in used.events().filter(|event| locked.event_names(event).next().is_none()) {
                missing.add_event(event.clone());
            }
            (*provider, missing)
        };
        let providers = self.names.providers().map(|(provider, used)| of_provider((provider, &**used)));
        SchemaLock::new(providers.filter(|(_, missing)| !missing.is_empty()))
    }
}

/// Whether a column of a lock is as a trace uses it, or is nothing to it.
fn agrees(used: &SettledNames, key: &str, locked: &SettledColumn, is_whole: bool) -> bool {
    let Some(own) = used.columns().get(key) else {
        // A structure has all members; and a name that is generated yields to this one.
        let is_member = key.rsplit_once('.').is_some_and(|(parent, _)| used.columns().contains_key(parent));
        return !is_whole && !is_member && !used.generates(key);
    };
    let is_all = is_whole || key.contains('.');
    let is_used = |form: &SettledForm| match own.forms.iter().find(|own| own.family == form.family) {
        Some(own) => form.roles.iter().all(|role| own.roles.contains(role)),
        None => !is_all,
    };
    own.is_called_like(locked) && locked.forms.iter().all(is_used)
}

/// Bytes that no name has which is made for a column: that of a field, a family and a role.
const LONGEST_GENERATED: usize = 256;

impl SettledNames {
    /// Whether a column's name in lower case is one that is made for a column here.
    pub fn generates(&self, key: &str) -> bool {
        let (parent, own) = key.rsplit_once('.').map_or(("", key), |(parent, own)| (parent, own));
        if own.len() > LONGEST_GENERATED {
            return false;
        }
        let stems = own.match_indices('_').map(|(end, _)| &own[..end]).filter(|stem| !stem.is_empty());
        let mut paths = stems.map(|stem| if parent.is_empty() { stem.to_owned() } else { format!("{parent}.{stem}") });
        paths.any(|path| self.columns().get(&path).is_some_and(|column| column.generates(key)))
    }
}

impl SettledColumn {
    /// Whether a name in lower case is that of one of its columns, but for the plain one.
    fn generates(&self, key: &str) -> bool {
        let path = self.path.to_lowercase();
        let of_form = |(position, form): (usize, &SettledForm)| {
            let own = if position == 0 { path.clone() } else { format!("{path}__{}", form.family) };
            form.roles.iter().any(|role| format!("{own}{}", role.suffix()) == key)
        };
        key != path && self.forms.iter().enumerate().any(of_form)
    }

    /// What another one lacks of its forms, if anything.
    fn without(&self, known: Option<&SettledColumn>) -> Option<SettledColumn> {
        let is_known = |form: &&SettledForm| {
            let known = known.and_then(|known| known.forms.iter().find(|known| known.family == form.family));
            known.is_some_and(|known| form.roles.iter().all(|role| known.roles.contains(role)))
        };
        let forms: Vec<SettledForm> = self.forms.iter().filter(|form| !is_known(form)).cloned().collect();
        (!forms.is_empty()).then(|| SettledColumn { path: self.path.clone(), forms })
    }
}

impl SettledEvent {
    /// An event that nothing names, of the cells of its line.
    fn unnamed(kind: &str, number: &str, versions: &str) -> Option<SettledEvent> {
        let number = match kind {
            "E" => EventNumber::Id(number.parse().ok()?),
            "V" => EventNumber::Opcode(number.parse().ok()?),
            _ => return None,
        };
        let (first, last) = versions.split_once('-').unwrap_or((versions, versions));
        Some(SettledEvent { number, versions: first.parse().ok()?..=last.parse().ok()?, name: String::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "P\t21111111-2222-3333-4444-555555555555\tShop\n";

    fn lock(lines: &str) -> SchemaLock {
        SchemaLock::read(format!("{}\n{SHOP}{lines}", SchemaLock::FIRST_LINE).as_bytes()).unwrap()
    }

    fn used(lines: &str) -> UsedNames {
        UsedNames::read(format!("{}\n\n{SHOP}{lines}", SchemaLock::FIRST_LINE).as_bytes()).unwrap()
    }

    const USED: &str = "N\tA\ttext\tint/value/label\nN\tS\tstruct\nN\tS.x\tint\nE\t1\t0-2\tSale\nE\t2\t0\nV\t3\t1-2\n";

    #[test]
    fn names_are_read_and_written_again() {
        let text = format!("{}\n\n{SHOP}{USED}", SchemaLock::FIRST_LINE);
        assert_eq!(used(USED).text(), text);
        assert_eq!(SchemaLock::read(text.as_bytes()).unwrap(), lock(&USED.replace("E\t2\t0\nV\t3\t1-2\n", "")));
        assert_eq!(UsedNames::default().text(), format!("{}\n", SchemaLock::FIRST_LINE));
        let hash = |lines: &str| used(lines).hash(None);
        assert_eq!(hash(USED), hash(&USED.replace("E\t1\t0-2\tSale\n", "E\t1\t0\tSale\nE\t1\t1-2\tSale\n")));
        assert_ne!(hash(USED), hash(&USED.replace("E\t2\t0\n", "")));
        assert_ne!(hash(USED), used(USED).hash(Some(&lock(USED))));
        assert_eq!(hash(USED), used(USED).hash(Some(&SchemaLock::default())));
    }

    #[test]
    fn a_trace_depends_on_the_entries_that_it_uses() {
        for (lines, alone, whole) in [
            // What it uses, more of what it does not use, and nothing.
            (USED, true, true),
            ("", true, true),
            ("N\tB\ttext\nN\tA\ttext\tint\tfloat\nE\t1\t3\tOther\nE\t7\t0\tMore\n", true, false),
            ("N\tA__float\tint\n", true, false),
            // Another spelling, another plain family, a label that it lacks, another member, another name.
            ("N\ta\ttext\n", false, false),
            ("N\tA\tint\ttext\n", false, false),
            ("N\tA\ttext/value/label\n", false, false),
            ("N\tS\tstruct\nN\tS.y\tint\n", false, false),
            ("N\tS\tstruct\nN\tS.x\tint\ttext\n", false, false),
            ("E\t1\t2\tSold\n", false, false),
            ("E\t2\t0\tNamed\n", false, false),
            ("V\t3\t2\tNamed\n", false, false),
            // A name that it makes.
            ("N\ta__int\ttext\n", false, false),
            ("N\tA__int_label\ttext\n", false, false),
        ] {
            assert_eq!(used(USED).agree_with(&lock(lines), false), alone, "{lines}");
            assert_eq!(used(USED).agree_with(&lock(lines), true), whole, "{lines}");
        }
        let elsewhere = |folder: &str| lock("").text().replace("Shop", folder);
        assert!(!used(USED).agree_with(&SchemaLock::read(elsewhere("Store").as_bytes()).unwrap(), false));
        let other = elsewhere("shop").replace("2111", "3111");
        assert!(!used(USED).agree_with(&SchemaLock::read(other.as_bytes()).unwrap(), false), "another's folder");
    }

    #[test]
    fn what_a_lock_lacks_is_listed() {
        let missing = |lines: &str| {
            let text = used(USED).missing_in(&lock(lines)).text();
            text.replace(SHOP, "").replace(SchemaLock::FIRST_LINE, "").trim().replace(['\t', '\n'], " ")
        };
        assert_eq!(missing(USED), "");
        assert_eq!(missing("N\tA\ttext\tint\nN\tS\tstruct\nE\t1\t0\tSale\n"), "N A int/value/label N S.x int");
        assert_eq!(missing("N\tA\ttext\nN\tS\tstruct\nN\tS.x\tint\n"), "N A int/value/label E 1 0-2 Sale");
    }
}
