//! What a lock gains by the traces of a run, whatever their order.

use std::collections::{BTreeMap, BTreeSet};

use base::guid::Guid;

use super::family::{ColumnRole, Family};
use super::lock::SchemaLock;
use super::settled::{EventNumber, SettledColumn, SettledEvent, SettledForm, SettledNames};
use super::used::UsedNames;

/// What traces use that a lock may lack.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    providers: BTreeMap<Guid, Added>,
}

/// The names of a provider: of several the first in the order of bytes, of families the first in their order.
#[derive(Clone, Debug, Default)]
struct Added {
    folders: BTreeSet<String>,
    /// By path in lower case.
    columns: BTreeMap<String, AddedColumn>,
    /// By number and first version.
    events: BTreeSet<(EventNumber, u16, u16, String)>,
}

#[derive(Clone, Debug, Default)]
struct AddedColumn {
    spellings: BTreeSet<String>,
    plain: BTreeSet<Family>,
    forms: BTreeMap<Family, BTreeSet<ColumnRole>>,
}

impl Additions {
    /// Adds what a trace uses.
    pub fn add(&mut self, used: &UsedNames) {
        for (provider, names) in used.names().providers() {
            let own = self.providers.entry(*provider).or_default();
            own.folders.insert(names.folder.clone());
            for (key, column) in names.columns() {
                own.columns.entry(key.clone()).or_default().add(column);
            }
            for SettledEvent { number, versions, name } in names.events() {
                own.events.insert((*number, *versions.start(), *versions.end(), name.clone()));
            }
        }
    }
}

impl AddedColumn {
    fn add(&mut self, column: &SettledColumn) {
        self.spellings.insert(column.path.clone());
        self.plain.extend(column.forms.first().map(|form| form.family.clone()));
        for form in &column.forms {
            self.forms.entry(form.family.clone()).or_default().extend(&form.roles);
        }
    }

    fn settled(self) -> SettledColumn {
        let AddedColumn { spellings, plain, mut forms } = self;
        let form = |(family, roles): (Family, BTreeSet<ColumnRole>)| SettledForm {
            family,
            roles: roles.into_iter().collect(),
        };
        let plain = plain.into_iter().next().and_then(|family| forms.remove_entry(&family));
        let forms = plain.into_iter().chain(forms).map(form).collect();
        SettledColumn { path: spellings.into_iter().next().unwrap_or_default(), forms }
    }
}

impl SchemaLock {
    /// The lock with what traces use and it lacks. What it has stays as it is.
    #[must_use]
    pub fn extended(&self, additions: &Additions) -> SchemaLock {
        let mut lock = self.clone();
        for (provider, added) in &additions.providers {
            let known = lock.names(provider).map(|names| SettledNames::clone(names));
            let mut names = known.unwrap_or_else(|| SettledNames::new(provider.to_string()));
            // A GUID stands where nobody has a name for the provider.
            let name = added.folders.iter().find(|folder| **folder != names.folder);
            if let Some(name) = name.filter(|_| names.is_nameless(provider)) {
                names.folder.clone_from(name);
            }
            added.columns.values().for_each(|column| names.add_column(column.clone().settled()));
            for (number, first, last, name) in &added.events {
                add_versions(&mut names, *number, (*first, *last), name);
            }
            lock.insert(*provider, names);
        }
        lock
    }
}

/// Adds the name of those versions of an event that have none.
fn add_versions(names: &mut SettledNames, number: EventNumber, (first, last): (u16, u16), name: &str) {
    let event = |versions| SettledEvent { number, versions, name: name.to_owned() };
    let mut taken: Vec<(u16, u16)> =
        names.event_names(&event(first..=last)).map(|known| (*known.versions.start(), *known.versions.end())).collect();
    taken.sort_unstable();
    let mut next = Some(first);
    for (start, end) in taken {
        if let Some((from, to)) = next.zip(start.checked_sub(1)).filter(|(from, to)| from <= to) {
            names.merge_event(event(from..=to));
        }
        next = end.checked_add(1);
    }
    if let Some(from) = next.filter(|from| *from <= last) {
        names.merge_event(event(from..=last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "21111111-2222-3333-4444-555555555555";
    const SECOND: &str = "31111111-2222-3333-4444-555555555555";

    fn text(provider: &str, folder: &str, lines: &str) -> String {
        format!("{}\n\nP\t{provider}\t{folder}\n{lines}", SchemaLock::FIRST_LINE)
    }

    fn used(provider: &str, folder: &str, lines: &str) -> UsedNames {
        UsedNames::read(text(provider, folder, lines).as_bytes()).unwrap()
    }

    /// What becomes of a lock, the same in both orders.
    fn extended(lock: &SchemaLock, used: &[UsedNames; 2]) -> String {
        let of = |order: [&UsedNames; 2]| {
            let mut additions = Additions::default();
            order.into_iter().for_each(|used| additions.add(used));
            lock.extended(&additions)
        };
        let found = of([&used[0], &used[1]]);
        assert_eq!(found, of([&used[1], &used[0]]));
        let again = SchemaLock::read(found.text().as_bytes()).unwrap();
        assert_eq!(again, found);
        found.text()
    }

    #[test]
    fn what_two_traces_add_does_not_depend_on_their_order() {
        let one = used(FIRST, "Store", "N\tamount\tint\nE\t1\t0-3\tSold\n");
        let two = used(FIRST, "Shop", "N\tAmount\ttext/value/label\tfloat\nE\t1\t2-5\tSale\nE\t2\t0\n");
        let expected = "N\tAmount\ttext/value/label\tint\tfloat\nE\t1\t0-3\tSold\nE\t1\t4-5\tSale\n";
        assert_eq!(extended(&SchemaLock::default(), &[one, two]), text(FIRST, "Shop", expected));
    }

    #[test]
    fn what_a_lock_has_stays() {
        let known = text(FIRST, "Store", "N\tamount\tint\nE\t1\t1\tSold\n");
        let lock = SchemaLock::read(known.as_bytes()).unwrap();
        let one = used(FIRST, "Shop", "N\tAmount\ttext\nN\tB\tint\n");
        let two = used(FIRST, "Shop", "N\tAmount\tint/value/label\nE\t1\t0-2\tSale\n");
        let expected = "N\tamount\tint/value/label\ttext\nN\tB\tint\nE\t1\t0\tSale\nE\t1\t1\tSold\nE\t1\t2\tSale\n";
        assert_eq!(extended(&lock, &[one, two]), text(FIRST, "Store", expected));
    }

    #[test]
    fn a_folder_has_one_provider() {
        let shops = [used(SECOND, "shop", "N\tA\tint\n"), used(FIRST, "Shop", "N\tA\tint\n")];
        let found = extended(&SchemaLock::default(), &shops);
        assert!(found.contains(&format!("{FIRST}\tShop\n")) && found.contains(&format!("{SECOND}\tshop~31111111\n")));
        let lock = SchemaLock::read(text(SECOND, "Shop", "N\tA\tint\n").as_bytes()).unwrap();
        let found = extended(&lock, &shops);
        assert!(found.contains(&format!("{FIRST}\tShop~21111111\n")) && found.contains(&format!("{SECOND}\tShop\n")));
    }
}
