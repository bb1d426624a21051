//! What is known of fields beyond their types: units and meanings (format of the text: `schemas/README.md`).

use crate::model::SchemaError;

/// The unit and the meaning of a field, each where it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldFact {
    /// The unit of the value as the payload has it: `bytes`, `100 ns`.
    pub unit: Option<&'static str>,
    /// What the value is.
    pub description: Option<&'static str>,
}

/// A line of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldLine {
    /// The names of the events, blanks between, or `*` for all.
    events: &'static str,
    /// The field; a member of a structure behind its structure's name and a dot.
    field: &'static str,
    /// What is known of it.
    fact: FieldFact,
}

impl FieldLine {
    /// The events that it is about; none where it is about all.
    fn named_events(&self) -> impl Iterator<Item = &'static str> {
        self.events.split(' ').filter(|&event| event != EVERY_EVENT)
    }
}

/// What stands in the place of event names for all events.
const EVERY_EVENT: &str = "*";

/// What is known of the fields of one provider or class.
#[derive(Debug, Default)]
pub(super) struct FieldLines(Vec<FieldLine>);

impl FieldLines {
    /// Reads a section.
    ///
    /// # Errors
    /// What is no line of the format, with its number.
    pub(super) fn parse(text: &'static str) -> Result<FieldLines, SchemaError> {
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let cells: Vec<&'static str> = line.split('\t').collect();
            match cells[..] {
                ["F", events, field, unit, description] => {
                    let known = |cell: &'static str| Some(cell).filter(|cell| !cell.is_empty());
                    let fact = FieldFact { unit: known(unit), description: known(description) };
                    lines.push(FieldLine { events, field, fact });
                }
                ["P" | "C", ..] => {}
                _ if line.starts_with('#') => {}
                _ => return Err(SchemaError::at_line(number + 1, format!("not a line of the format: `{line}`"))),
            }
        }
        // Stable: of one field the lines keep their order.
        lines.sort_by_key(|line| line.field);
        Ok(FieldLines(lines))
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> &[FieldLine] {
        &self.0
    }

    /// What is known of a field of an event; what is said of the event goes before what is said of all.
    fn find(&self, event: Option<&str>, field: &str) -> Option<FieldFact> {
        let first = self.0.partition_point(|line| line.field < field);
        let lines = || self.0.get(first..).unwrap_or_default().iter().take_while(|line| line.field == field);
        let own = event.and_then(|event| lines().find(|line| line.named_events().any(|known| known == event)));
        own.or_else(|| lines().find(|line| line.events == EVERY_EVENT)).map(|line| line.fact)
    }
}

/// What is known of the fields of one event. The default knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventFacts<'a> {
    lines: Option<&'static FieldLines>,
    event: Option<&'a str>,
}

impl<'a> EventFacts<'a> {
    pub(super) fn new(lines: Option<&'static FieldLines>, event: Option<&'a str>) -> EventFacts<'a> {
        EventFacts { lines, event }
    }

    /// What is known of a field; a member of a structure is asked for behind its structure's name and a dot.
    pub fn of(&self, field: &str) -> FieldFact {
        self.lines.and_then(|lines| lines.find(self.event, field)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use base::guid::Guid;

    use super::*;
    use crate::model::{Field, FieldKind};
    use crate::pack::{Pack, PackLayout};

    const DISK: &str = "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c";
    const FILE: &str = "90cbdc39-4a3e-11d1-84f4-0000f80464e3";

    fn fact(guid: &str, event: Option<&str>, field: &str) -> (Option<&'static str>, Option<&'static str>) {
        let FieldFact { unit, description } = Pack::builtin().field_facts(&guid.parse().unwrap(), event).of(field);
        (unit, description)
    }

    #[test]
    fn facts_are_those_of_the_event_then_those_of_all() {
        let text = "P\tx\nF\t*\tN\tbytes\tof all\n# why\nF\tA/B C\tN\tcount\t\nF\t*\tM\t\tanything";
        let lines = FieldLines::parse(text).unwrap();
        let t = |event, field, expected| assert_eq!(lines.find(event, field), expected, "{event:?} {field}");
        let fact = |unit, description| Some(FieldFact { unit, description });
        t(Some("A/B"), "N", fact(Some("count"), None));
        t(Some("C"), "N", fact(Some("count"), None));
        t(Some("A"), "N", fact(Some("bytes"), Some("of all")));
        t(None, "N", fact(Some("bytes"), Some("of all")));
        t(Some("*"), "N", fact(Some("bytes"), Some("of all")));
        t(Some("C"), "M", fact(None, Some("anything")));
        t(Some("C"), "n", None);
        t(None, "", None);
        assert!(FieldLines::parse("P\tx\nF\t*\tN\tbytes").unwrap_err().to_string().starts_with("line 2"));
    }

    #[test]
    fn facts_of_the_kernel() {
        assert_eq!(fact(DISK, None, "TransferSize"), (Some("bytes"), Some("length of the transfer")));
        assert_eq!(fact(FILE, Some("FileIo/Read"), "IoSize"), (Some("bytes"), Some("length that was asked for")));
        assert_eq!(fact(FILE, Some("FileIo/Create"), "IoSize"), (None, None));
        assert_eq!(fact("00000000-0000-0000-0000-000000000000", None, "IoSize"), (None, None));
    }

    /// Of which end an address is: of TCP, whichever way, and of datagrams that were sent the own one; of others nobody knows.
    #[test]
    fn ends_of_connections_are_described_as_rows_have_them() {
        const TCP: &str = "9a280ac0-c8e0-11d1-84e2-00c04fb998a2";
        const UDP: &str = "bf3a50c5-a9c9-4988-a005-2df0b7c80f80";
        const NETWORK: &str = "7dd42a49-5329-4832-8dfd-43d979153a88";
        let event = |kind: &str| format!("KERNEL_NETWORK_TASK_{kind}");
        for (provider, name, is_own) in [
            (TCP, "TcpIp/RecvIPV4".to_owned(), true),
            (TCP, "TcpIp/ConnectIPV6".to_owned(), true),
            (UDP, "UdpIp/SendIPV4".to_owned(), true),
            (UDP, "UdpIp/RecvIPV6".to_owned(), false),
            (NETWORK, event("TCPIP/KERNEL_NETWORK_OPCODE_RECV"), true),
            (NETWORK, event("UDPIP/KERNEL_NETWORK_OPCODE_SENDUDP"), true),
            (NETWORK, event("UDPIP/KERNEL_NETWORK_OPCODE_RECVUDP"), false),
        ] {
            let saddr = fact(provider, Some(&name), "saddr").1.unwrap();
            assert_eq!(saddr.contains("recorded machine's own end"), is_own, "{name}: {saddr}");
            let daddr = fact(provider, Some(&name), "daddr").1.unwrap();
            assert_eq!(daddr.contains("the other end"), is_own, "{name}: {daddr}");
        }
    }

    /// The names of an event's fields, members behind their structures.
    fn add_fields(names: &mut HashSet<String>, prefix: &str, fields: &[Field]) {
        for field in fields {
            let name = format!("{prefix}{}", field.name);
            if let FieldKind::Struct(members) = &field.kind {
                add_fields(names, &format!("{name}."), members);
            }
            names.insert(name);
        }
    }

    /// The fields of the events of a provider or class, by the names of the events.
    fn fields_of(guid: &Guid) -> BTreeMap<String, HashSet<String>> {
        let pack = Pack::builtin();
        let provider = pack.provider(guid).map_or(&[] as &[PackLayout], |provider| provider.all());
        let class = pack.class(guid).map_or(&[] as &[PackLayout], |class| class.all());
        let corrected = pack.override_pack(guid).map_or(&[] as &[PackLayout], |corrected| corrected.all());
        let mut fields = BTreeMap::<String, HashSet<String>>::new();
        for layout in provider.iter().chain(class).chain(corrected) {
            let event = layout.schema.event_name.clone().unwrap_or_default();
            add_fields(fields.entry(event).or_default(), "", &layout.schema.fields);
        }
        fields
    }

    /// A line that is about nothing says something that nobody reads, or of the wrong field.
    #[test]
    fn every_line_is_about_a_field_that_there_is() {
        for (guid, lines) in Pack::builtin().all_field_lines() {
            let events = fields_of(&guid);
            for line in lines {
                let has = |event: &str| events.get(event).is_some_and(|fields| fields.contains(line.field));
                for event in line.named_events() {
                    assert!(has(event), "{guid}: {event} has no field {}", line.field);
                }
                assert!(events.keys().any(|event| has(event)), "{guid}: no event has a field {}", line.field);
            }
        }
    }

    #[test]
    fn every_line_says_something_and_none_twice() {
        const UNITS: [&str; 15] = [
            "bytes", "KiB", "MiB", "pages", "bits", "pixels", "count", "cycles", "ns", "100 ns", "ms", "s", "Hz",
            "MHz", "%",
        ];
        let (mut sections, mut all) = (0, 0);
        for (guid, lines) in Pack::builtin().all_field_lines() {
            let mut seen = HashSet::new();
            for line in lines {
                let FieldFact { unit, description } = line.fact;
                assert!(unit.is_none_or(|unit| UNITS.contains(&unit)), "{guid}: {unit:?}");
                let description = description.expect("a description");
                assert!(description.trim() == description && !description.ends_with('.'), "{guid}: {description}");
                for event in line.events.split(' ') {
                    assert!(seen.insert((event, line.field)), "{guid}: {event} {} twice", line.field);
                }
            }
            (sections, all) = (sections + 1, all + lines.len());
        }
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/fields.txt"));
        let of = |tags: &[&str]| text.lines().filter(|line| tags.iter().any(|tag| line.starts_with(tag))).count();
        assert_eq!((sections, all), (of(&["P\t", "C\t"]), of(&["F\t"])));
    }

    /// The name of a section is there for whoever reads the text.
    #[test]
    fn sections_are_called_as_their_datasets() {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/fields.txt"));
        for line in text.lines().filter(|line| line.starts_with("P\t") || line.starts_with("C\t")) {
            let [kind, guid, name] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let guid: Guid = guid.parse().unwrap();
            assert_eq!(Pack::builtin().provider_name(&guid), Some(name));
            assert_eq!(kind == "C", Pack::builtin().class_name(&guid).is_some(), "{name}");
        }
    }
}
