//! Holds the table of settled names (`schemas/settled`) to what the pack describes, and the few names that the binary has of
//! it (`schemas/kept.txt`) to both.
//!
//! What the table says stays. It is brought up to date by `scripts/schema/settle_names`, which runs this test with
//! `ETL2PARQUET_SETTLE=write`: names that the pack has since are added, and where the pack's descriptions would settle a name
//! otherwise now, its line goes into the kept ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use base::guid::Guid;
use etl::event::{EventIdentity, Shape};
use etl::layout::header::HeaderFamily;
use schema::Registry;
use schema::declared::Declared;
use schema::eventsource::EventSourceManifests;
use schema::pack::Pack;
use schema::registry::Candidate;
use schema::settled::{EventNumber, SettledColumn, SettledEvent, SettledNames};
use schema::settled_layout::SettledLayout;
use schema::user::UserSchemas;
use schemas::NameKind;

use super::preferred;
use crate::decode::ColumnNames;
use crate::table::header;

const HEAD: &str = "# Settled names of providers, columns and events: lines are added, never changed. Written by scripts/schema/settle_names.\n";
const KEPT_HEAD: &str = "# Settled names that the descriptions beside would settle otherwise now. Written by scripts/schema/settle_names.\n";

type Table = BTreeMap<Guid, SettledNames>;

#[test]
fn the_table_of_settled_names_is_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let old = read(&root.join("settled"));
    let registry = registry();
    let table = settled(&old, &registry);
    let kept: Vec<(Guid, SettledNames)> =
        table.iter().filter_map(|(guid, names)| Some((*guid, kept(guid, names, &registry)?))).collect();
    for (guid, names) in &table {
        let renamed = old.get(guid).map_or_else(Vec::new, |before| renamed(before, names));
        assert!(renamed.is_empty(), "{guid}: a new name takes the one of a column that there was before: {renamed:?}");
        let kept = kept.iter().find(|(of, _)| of == guid).map(|(_, kept)| kept);
        let lost = not_taken(guid, names, kept, &registry);
        assert!(lost.is_empty(), "{guid}: layouts that are settled are not taken: {lost:?}");
    }
    for (guid, kept) in &kept {
        assert!(
            is_settled_by(guid, &table[guid], Some(kept), &registry),
            "{guid}: kept names do not restore the table"
        );
    }
    let mut files = texts(&table);
    files.insert("../kept.txt".into(), KEPT_HEAD.to_owned() + &lines(kept.iter().map(|(guid, names)| (guid, names))));
    let write = env::var_os("ETL2PARQUET_SETTLE").is_some_and(|mode| mode == "write");
    for (name, text) in files {
        let path = root.join("settled").join(&name);
        if write {
            fs::write(&path, &text).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        let differs = text.lines().zip(found.lines()).find(|(wanted, found)| wanted != found);
        assert!(
            text == found,
            "run scripts/schema/settle_names: {name} has not what it should have, from {differs:?} on"
        );
    }
}

fn registry() -> Registry {
    Registry::new(EventSourceManifests::default(), Vec::new(), Arc::new(UserSchemas::default()))
}

/// The table as it is.
fn read(folder: &Path) -> Table {
    let files = fs::read_dir(folder).map_or_else(|_| Vec::new(), Iterator::collect::<Vec<_>>);
    let paths: BTreeSet<PathBuf> = files.into_iter().map(|file| file.unwrap().path()).collect();
    let tables = paths.iter().flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        SettledNames::read(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
    });
    tables.collect()
}

/// The table with all that the pack knows.
fn settled(old: &Table, registry: &Registry) -> Table {
    let pack = Pack::builtin();
    let listed = pack.names().iter().filter(|named| named.kind != NameKind::Label).map(|named| named.guid);
    let described: BTreeSet<Guid> = pack.providers().chain(pack.classes()).collect();
    let known: BTreeSet<Guid> = described.iter().copied().chain(listed).collect();
    let name = |guid: &Guid| pack.provider_name(guid).unwrap_or_default();
    let mut named: HashMap<String, Vec<Guid>> = HashMap::new();
    known.iter().for_each(|guid| named.entry(name(guid).to_lowercase()).or_default().push(*guid));
    // A provider of which only the name is known does not take it from one whose events are.
    let folder = |guid: &Guid| {
        let is_rival = |other: &&Guid| *other != guid && (described.contains(other) || !described.contains(guid));
        match named[&name(guid).to_lowercase()].iter().find(is_rival) {
            None => name(guid).to_owned(),
            Some(_) => format!("{}~{}", name(guid), &guid.to_string()[..8]),
        }
    };
    let all: BTreeSet<Guid> = old.keys().copied().chain(known).collect();
    let of = |guid: Guid| {
        let before = old.get(&guid).cloned();
        let mut names = before.clone().unwrap_or_else(|| SettledNames::new(folder(&guid)));
        columns(&guid, before.as_ref(), registry).into_iter().for_each(|column| names.add_column(column));
        add_events(&guid, &mut names, registry);
        add_layouts(&guid, &mut names, registry);
        (guid, names)
    };
    all.into_iter().map(of).collect()
}

/// What the pack settles, where some names are settled already.
fn columns(provider: &Guid, before: Option<&SettledNames>, registry: &Registry) -> Vec<SettledColumn> {
    let mut names = ColumnNames::new(&header::reserved_names());
    before.into_iter().for_each(|before| names.adopt(before));
    registry.settled(provider).iter().for_each(|event| names.settle(&event.schema.fields));
    names.add_undeclared();
    names.settled(false)
}

/// Adds the names of events in runs of versions.
fn add_events(provider: &Guid, names: &mut SettledNames, registry: &Registry) {
    let is_class = Pack::builtin().class(provider).is_some();
    let mut versions: BTreeMap<EventNumber, BTreeSet<u16>> = BTreeMap::new();
    for event in registry.settled(provider) {
        let opcode = u8::try_from(event.id).ok().filter(|_| is_class).map(EventNumber::Opcode);
        versions.entry(opcode.unwrap_or(EventNumber::Id(event.id))).or_default().insert(event.version);
    }
    for (number, versions) in versions {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for version in versions.into_iter().filter(|version| names.event_name(number, *version).is_none()) {
            let Some(name) = registry.described_event_name(provider, number, version).flatten() else { continue };
            match runs.last_mut() {
                Some((_, last, known)) if *known == name => *last = version,
                _ => runs.push((version, version, name)),
            }
        }
        for (first, last, name) in runs {
            let event = |versions| SettledEvent { number, versions, name: name.clone() };
            if !names.add_event(event(first..=last)) {
                // Versions between are settled already.
                (first..=last).for_each(|version| {
                    names.add_event(event(version..=version));
                });
            }
        }
    }
}

/// Adds, of each set of layouts that no payload can distinguish and that have other columns, the one that ranks first.
fn add_layouts(provider: &Guid, names: &mut SettledNames, registry: &Registry) {
    for (number, version) in versions(provider, registry) {
        let candidates = candidates(provider, (number, version), registry);
        for (place, own) in candidates.iter().enumerate().filter(|(_, own)| !preferred::seen(own).is_empty()) {
            let (reach, seen) = (preferred::reach(own), preferred::seen(own));
            let is_alike = |other: &&Candidate| preferred::reach(other) == reach;
            let is_first = !candidates[..place].iter().any(|other| is_alike(&other));
            let others = || candidates[place..].iter().filter(is_alike).map(preferred::seen);
            let is_known = || others().any(|other| names.layouts(number, version).contains(&other));
            if is_first && others().any(|other| other != seen) && !is_known() {
                names.add_layout((number, version), seen);
            }
        }
    }
}

/// The events of which there are several layouts.
fn versions(provider: &Guid, registry: &Registry) -> BTreeSet<(EventNumber, u16)> {
    let is_class = Pack::builtin().class(provider).is_some();
    let event = |event: &Declared| {
        let opcode = u8::try_from(event.id).ok().filter(|_| is_class).map(EventNumber::Opcode);
        (opcode.unwrap_or(EventNumber::Id(event.id)), event.version)
    };
    let (mut once, mut several) = (BTreeSet::new(), BTreeSet::new());
    for event in registry.settled(provider).iter().filter(|event| !event.trust.is_doubtful()).map(event) {
        if !once.insert(event) {
            several.insert(event);
        }
    }
    // What corrects a layout stands in its place among those that are settled, and beside it among those to choose from.
    let corrected = Pack::builtin().override_pack(provider).map_or(&[][..], |pack| pack.all());
    several.extend(corrected.iter().map(|layout| (EventNumber::Id(layout.id), layout.version)));
    several
}

/// The layouts that the pack has for an event version.
fn candidates(provider: &Guid, (number, version): (EventNumber, u16), registry: &Registry) -> Vec<Candidate> {
    let identity = EventIdentity {
        provider: *provider,
        group: 0,
        id: if let EventNumber::Id(id) = number { id } else { 0 },
        version,
        opcode: if let EventNumber::Opcode(opcode) = number { opcode } else { 0 },
        property: 0,
        pointer_size: 8,
        family: if matches!(number, EventNumber::Id(_)) { HeaderFamily::Event64 } else { HeaderFamily::Classic64 },
    };
    let shape = Shape { identity, metadata: Box::default() };
    let mut candidates = registry.candidates(shape.as_ref(), &[]);
    candidates.retain(preferred::is_built_in);
    candidates
}

/// What of a provider's settled names its descriptions would settle otherwise.
fn kept(provider: &Guid, names: &SettledNames, registry: &Registry) -> Option<SettledNames> {
    let mut ruled = SettledNames::new("");
    columns(provider, None, registry).into_iter().for_each(|column| ruled.add_column(column));
    let mut kept = SettledNames::new(&*names.folder);
    for (key, column) in names.columns().iter().filter(|(key, column)| !is_same(column, ruled.columns().get(*key))) {
        let structures = key.match_indices('.').filter_map(|(end, _)| names.columns().get(&key[..end]));
        structures.chain([column]).for_each(|column| kept.add_column(column.clone()));
    }
    for event in names.events() {
        let ruled = |version| registry.described_event_name(provider, event.number, version).flatten();
        if event.versions.clone().any(|version| ruled(version).as_ref() != Some(&event.name)) {
            kept.add_event(event.clone());
        }
    }
    let mut ruled = SettledNames::new("");
    add_layouts(provider, &mut ruled, registry);
    for ((number, version), layout) in names.all_layouts() {
        if !ruled.layouts(number, version).contains(layout) {
            kept.add_layout((number, version), layout.clone());
        }
    }
    let is_named_so = Pack::builtin().provider_name(provider) == Some(&*names.folder);
    (!is_named_so || !kept.is_empty()).then_some(kept)
}

fn is_same(column: &SettledColumn, other: Option<&SettledColumn>) -> bool {
    let all = |column: &SettledColumn| column.forms.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    other.is_some_and(|other| {
        (&other.path, &other.forms[0].family) == (&column.path, &column.forms[0].family) && all(other) == all(column)
    })
}

/// The columns that are called otherwise when names have been added: a name that is generated (`x__int`, `x_label`) yields to a
/// declared one, which must not come later.
fn renamed(before: &SettledNames, after: &SettledNames) -> Vec<String> {
    let columns = |names: &SettledNames| {
        let mut all = ColumnNames::new(&header::reserved_names());
        all.adopt(names);
        all.add_undeclared();
        all.column_names()
    };
    let after = columns(after);
    let before = columns(before).into_iter();
    before.filter(|(column, name)| after.get(column) != Some(name)).map(|(_, name)| name).collect()
}

/// The settled layouts that the pack has, and that are not the first of those like them.
fn not_taken(provider: &Guid, names: &SettledNames, kept: Option<&SettledNames>, registry: &Registry) -> Vec<String> {
    let is_lost = |((number, version), layout): &((EventNumber, u16), &SettledLayout)| {
        let mut candidates = candidates(provider, (*number, *version), registry);
        preferred::prefer(&mut candidates, kept.map_or(&[], |kept| kept.layouts(*number, *version)));
        let Some(own) = candidates.iter().find(|own| preferred::seen(own) == **layout) else { return false };
        let reach = preferred::reach(own);
        let first = candidates.iter().find(|other| preferred::reach(other) == reach);
        first.map(preferred::seen).as_ref() != Some(*layout)
    };
    names.all_layouts().filter(is_lost).map(|(event, layout)| format!("{event:?} {layout}")).collect()
}

/// Whether the descriptions and the kept names settle what the table says.
fn is_settled_by(provider: &Guid, names: &SettledNames, kept: Option<&SettledNames>, registry: &Registry) -> bool {
    let mut found = SettledNames::new("");
    columns(provider, kept, registry).into_iter().for_each(|column| found.add_column(column));
    found.columns().len() == names.columns().len()
        && names.columns().iter().all(|(key, column)| is_same(column, found.columns().get(key)))
}

fn lines<'a>(table: impl Iterator<Item = (&'a Guid, &'a SettledNames)>) -> String {
    table.map(|(guid, names)| names.lines(guid)).collect::<Vec<_>>().concat()
}

/// The texts of the table, by file: a provider stands where its description does.
fn texts(table: &Table) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, Vec<(String, &Guid, &SettledNames)>> = BTreeMap::new();
    for (guid, names) in table {
        let name = names.folder.to_lowercase();
        let rest = name.strip_prefix("microsoft-").unwrap_or(&name);
        let rest = rest.strip_prefix("windows-").unwrap_or(rest);
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic).unwrap_or('0');
        files.entry(format!("{letter}.txt")).or_default().push((name, guid, names));
    }
    let text = |mut providers: Vec<(String, &Guid, &SettledNames)>| {
        providers.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        HEAD.to_owned() + &lines(providers.into_iter().map(|(_, guid, names)| (guid, names)))
    };
    files.into_iter().map(|(name, providers)| (name, text(providers))).collect()
}

/// What the pack says of two names, were they settled otherwise.
#[test]
fn a_name_that_the_pack_would_change_is_kept() {
    let registry = registry();
    let provider: Guid = "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716".parse().unwrap();
    let before = "P\t22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716\tOld-Name\nN\tGone\tbinary\nN\timagename\tint\tbool\n\
                  E\t1\t0-1\tOld/Start\n";
    let before = SettledNames::read(before).unwrap();
    let table = settled(&before, &registry);
    let names = &table[&provider];
    let image = &names.columns()["imagename"];
    assert_eq!(
        (image.path.as_str(), image.forms.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
        ("imagename", "int bool text".to_owned())
    );
    assert_eq!(names.event_name(EventNumber::Id(1), 1), Some("Old/Start"));
    assert_eq!(names.event_name(EventNumber::Id(1), 3), Some("ProcessStart/Start"));
    let kept = kept(&provider, names, &registry).unwrap();
    assert_eq!(
        kept.lines(&provider).replace("\tint\tbool\ttext\n", "\tint\tbool\n"),
        before[&provider].lines(&provider)
    );
    assert!(
        is_settled_by(&provider, names, Some(&kept), &registry) && !is_settled_by(&provider, names, None, &registry)
    );
    let other: Guid = "1c95126e-7eea-49a9-a3fe-a378b03ddb4d".parse().unwrap();
    assert_eq!(self::kept(&other, &table[&other], &registry), None);
}

/// A generated name is settled with the column that it is of.
#[test]
fn a_name_that_would_rename_a_column_is_found() {
    let names = |lines: &str| {
        let text = format!("P\t22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716\tLab\n{lines}");
        SettledNames::read(&text).unwrap().pop_first().unwrap().1
    };
    let before = names("N\tA\ttext\tint\nN\tR\tint/value/label\nN\tS\tstruct\nN\tS.T\ttime/value/filetime\n");
    let with = |line: &str| {
        let mut after = before.clone();
        names(line).columns().values().for_each(|column| after.add_column(column.clone()));
        renamed(&before, &after)
    };
    assert_eq!(with("N\tB\tint\nN\tA\tfloat\nN\tS\tstruct\nN\tS.A__int\tint\n"), [""; 0]);
    assert_eq!(with("N\ta__INT\ttext\n"), ["A__int"]);
    assert_eq!(with("N\tR_label\ttext\n"), ["R_label"]);
    assert_eq!(with("N\tS.t_filetime\tint\n"), ["S.T_filetime"]);
}

/// Names that a tool made of numbers were settled, and were withdrawn with format 4; what is known of them else stands.
#[test]
fn no_name_only_counts() {
    let table = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/settled"));
    let names = |guid: &str, ids: &[u16]| {
        let names = &table[&guid.parse::<Guid>().unwrap()];
        let name = |id: &u16| names.event_name(EventNumber::Id(*id), 0).unwrap_or("-").to_owned();
        ids.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    // Named by its maker's parser, by another program, by nobody.
    let pktmon = names("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac", &[160, 170, 240, 65, 280]);
    assert_eq!(pktmon, "FramePayload FrameDropPayload FrameDupDropPayload - -");
    // Without a task and an opcode, and with an opcode.
    assert_eq!(names("1c95126e-7eea-49a9-a3fe-a378b03ddb4d", &[3006, 3008]), "- -");
    assert_eq!(names("ef1cc15b-46c1-414e-bb95-e76b077bd51e", &[0, 4, 61]), "Start - Stop");
    let made = table.values().flat_map(SettledNames::events).filter(|event| event.name.starts_with("task_0"));
    assert_eq!(made.map(|event| event.name.as_str()).collect::<Vec<_>>(), [""; 0]);
}

/// One line for each way in which the names of a provider can disagree; what the releases have is in `schemas/providers`.
#[test]
fn names_that_disagree_are_settled() {
    let table = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/settled"));
    let [power, devices, tracing, thread] = [
        "331c3b3a-2005-44c2-ac5e-77220c37d6b4",
        "3da494e4-0fe2-415c-b895-fb5265c5c83b",
        "b675ec37-bdb6-4648-bc92-f3fdc74d3ca2",
        "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c",
    ]
    .map(|guid| &table[&guid.parse::<Guid>().unwrap()]);
    let column = |names: &SettledNames, key: &str| {
        let column = &names.columns()[key];
        let forms: Vec<String> = column.forms.iter().map(ToString::to_string).collect();
        format!("{} {}", column.path, forms.join(" "))
    };
    // Bytes in some events; integers of one byte and of four, with a sign and without.
    assert_eq!(column(power, "reason"), "Reason int/value/label binary");
    assert_eq!(column(power, "state"), "State int/value/label");
    // Of four bytes and of eight.
    assert_eq!(column(power, "elapsedtime"), "ElapsedTime int");
    // Two spellings, in several events and in one.
    assert_eq!(column(power, "sessionid"), "SessionID int");
    assert_eq!(column(devices, "notreadyreason"), "NotReadyReason text");
    assert_eq!(column(devices, "notreadyreason__2"), "NotREadyReason__2 text");
    // Another task and opcode, and another meaning, in a newer version.
    let names = |names: &SettledNames, number| {
        [0, 1, 2, 3].map(|version| names.event_name(number, version).unwrap_or("-").to_owned()).join(" ")
    };
    let stop = "ETW_TASK_SESSION/ETW_OPCODE_STOP Session/Stop Session/Stop -";
    assert_eq!(names(tracing, EventNumber::Id(11)), stop);
    assert_eq!(names(thread, EventNumber::Opcode(48)), "- - Thread/ReserveCreate Thread/SetPriority");
}
