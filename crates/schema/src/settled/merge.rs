//! How texts of settled names that may repeat each other become one.

use base::guid::Guid;

use super::{EventNumber, SettledColumn, SettledEvent, SettledNames};

impl SettledNames {
    /// Adds a column; `false`, and nothing is added, where one of its name is spelled otherwise, or has another family with
    /// the plain name.
    pub(super) fn merge_column(&mut self, column: SettledColumn) -> bool {
        let known = self.columns.get(&column.path.to_lowercase());
        let agrees = known.is_none_or(|known| known.is_called_like(&column));
        if agrees {
            self.add_column(column);
        }
        agrees
    }

    /// Adds the name of an event; `false`, and nothing is added, where some of its versions have another one. Versions that
    /// follow one another and have one name become one line.
    pub fn merge_event(&mut self, event: SettledEvent) -> bool {
        let (mut first, mut last) = event.versions.clone().into_inner();
        let above = (event.number, last.saturating_add(1));
        let touching = self.events.range((event.number, 0)..=above).rev();
        let touching = touching.take_while(|(_, other)| other.versions.end().saturating_add(1) >= first);
        let (same, others): (Vec<_>, Vec<_>) = touching.partition(|(_, other)| other.name == event.name);
        let overlaps = |other: &SettledEvent| *other.versions.start() <= last && *other.versions.end() >= first;
        if first > last || event.name.is_empty() || others.iter().any(|(_, other)| overlaps(other)) {
            return false;
        }
        let same: Vec<(EventNumber, u16)> = same.into_iter().map(|(key, _)| *key).collect();
        for other in same.iter().filter_map(|key| self.events.remove(key)) {
            (first, last) = (first.min(*other.versions.start()), last.max(*other.versions.end()));
        }
        self.events.insert((event.number, first), SettledEvent { versions: first..=last, ..event });
        true
    }

    /// Whether its folder is its GUID, for want of a name, which any name replaces.
    pub fn is_nameless(&self, provider: &Guid) -> bool {
        self.folder == provider.to_string()
    }

    /// Whether both can be said of a provider: their folders are the same, or one of them has no name.
    pub fn may_have_folder_of(&self, other: &SettledNames, provider: &Guid) -> bool {
        self.folder == other.folder || self.is_nameless(provider) || other.is_nameless(provider)
    }

    /// The names of some versions of an event that are settled.
    pub fn event_names(&self, event: &SettledEvent) -> impl Iterator<Item = &SettledEvent> {
        let (first, last) = event.versions.clone().into_inner();
        let below = self.events.range((event.number, 0)..=(event.number, last)).rev();
        below.map(|(_, other)| other).take_while(move |other| *other.versions.end() >= first)
    }

    /// The same with the families of each column in one order, behind the one with the plain name.
    pub(crate) fn in_order(mut self) -> SettledNames {
        self.columns.values_mut().for_each(SettledColumn::sort);
        self
    }
}

impl SettledColumn {
    /// Whether both are spelled alike, and have the plain name for one family; the structures around them decide for
    /// themselves.
    pub fn is_called_like(&self, other: &SettledColumn) -> bool {
        let own = |column: &SettledColumn| column.path.rsplit('.').next().map(str::to_owned);
        let plain = |column: &SettledColumn| column.forms.first().map(|form| form.family.clone());
        own(self) == own(other) && plain(self) == plain(other)
    }

    /// Brings the families behind the one with the plain name into their order.
    pub fn sort(&mut self) {
        if let Some((_, others)) = self.forms.split_first_mut() {
            others.sort_by(|a, b| a.family.cmp(&b.family));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_name_become_one_line() {
        let event = |versions, name: &str| SettledEvent { number: EventNumber::Id(1), versions, name: name.to_owned() };
        let mut names = SettledNames::new("Lab");
        for (versions, name, expected) in [
            (3..=3, "A", true),
            (5..=6, "A", true),
            (4..=4, "A", true),
            (0..=1, "B", true),
            (2..=2, "C", true),
            (1..=2, "B", false),
            (6..=9, "A", true),
            (u16::MAX..=u16::MAX, "D", true),
            (0..=u16::MAX, "A", false),
        ] {
            assert_eq!(names.merge_event(event(versions.clone(), name)), expected, "{versions:?} {name}");
        }
        let found: Vec<_> = names.events().map(|event| format!("{:?} {}", event.versions, event.name)).collect();
        assert_eq!(found, ["0..=1 B", "2..=2 C", "3..=9 A", "65535..=65535 D"]);
        let settled = |versions| names.event_names(&event(versions, "")).map(|event| &*event.name).collect::<String>();
        assert_eq!([settled(2..=3), settled(10..=100), settled(9..=10)], ["AC", "", "A"]);
    }
}
