//! Where the code of methods of .NET comes from: the method of which assembly, and which of its IL.
//!
//! .NET records of a method that it compiles where the code is, and which offsets of its IL that code comes from. The second event
//! names the method alone, of which there may be several bodies; it stands on the same thread directly behind the first one while the
//! program runs, and directly before it in the rundown at the end (both hold for all 16,871 such events of two traces of PerfView). So
//! it is of the body that stands there; where two may be meant, of none.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use base::error::Result;
use conversion::read_columns;

use super::modules::{MethodBody, Modules};
use crate::source::Source;

/// Events of methods that are looked at: 176 MiB. Where there are more, no map is taken for that of a body: one beside it may be missing.
const MOST_EVENTS: usize = 1 << 21;

/// Where the code of a body comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodCode {
    /// The token of its method in the metadata of the assembly.
    pub token: Option<u32>,
    /// The assembly that has the method.
    pub assembly: Option<Assembly>,
    /// Which IL its code comes from.
    pub map: Option<IlMap>,
}

/// An assembly with the identity of the symbol file for its IL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Assembly {
    /// The name of its file, without folders.
    pub file_name: Option<String>,
    /// The name of the symbol file, as the compiler was told it.
    pub pdb_name: String,
    /// The GUID of the symbol file.
    pub pdb_guid: String,
    /// The age of the symbol file.
    pub pdb_age: u32,
}

/// Which offset in the IL of a method the code at an offset in its body comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IlMap(Vec<(u32, u32)>);

impl IlMap {
    /// The first offset in IL that means something else: no IL, the prologue, the epilogue (`ICorDebugInfo::MappingTypes`).
    const SPECIAL: u32 = 0xFFFF_FFFD;

    /// Both lists as an event has them; `None` where they are of different lengths.
    fn of(native: &[u32], il: &[u32]) -> Option<IlMap> {
        let mut pairs: Vec<(u32, u32)> = native.iter().copied().zip(il.iter().copied()).collect();
        pairs.sort_by_key(|(native, _)| *native);
        (native.len() == il.len()).then_some(IlMap(pairs))
    }

    /// The offset in IL of the code at an offset in the body; `None` in a prologue, an epilogue, and in code that no IL is of.
    pub fn il_offset(&self, native: u32) -> Option<u32> {
        let before = self.0.get(..self.0.partition_point(|(begin, _)| *begin <= native))?;
        let (begin, _) = before.last()?;
        let mut of_code = before.iter().rev().take_while(|(other, _)| other == begin).map(|(_, il)| *il);
        of_code.find(|il| *il < Self::SPECIAL)
    }
}

read_columns! {
    /// An event of a method or of a module of .NET.
    struct ClrEvent<'b> {
        seq: Option<i64> = "seq",
        id: Option<i64> = "event_id",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        input: Option<i64> = "input",
        method: Option<i64> = "MethodID",
        module: Option<i64> = "ModuleID",
        start: Option<i64> = "MethodStartAddress",
        token: Option<u32> = "MethodToken",
        rejit: Option<i64> = "ReJITID",
        extent: Option<i64> = "MethodExtent",
        path: Option<&'b str> = "ModuleILPath",
        pdb_name: Option<&'b str> = "ManagedPdbBuildPath",
        pdb_guid: Option<&'b str> = "ManagedPdbSignature",
        pdb_age: Option<u32> = "ManagedPdbAge",
    }
}

read_columns! {
    /// An event of the merge of a trace that names the symbol file of an image.
    struct ImageIdEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "ProcessId",
        input: Option<i64> = "input",
        base: Option<i64> = "ImageBase",
        pdb_name: Option<&'b str> = "PdbFileName",
        pdb_guid: Option<&'b str> = "GuidSig",
        pdb_age: Option<u32> = "Age",
    }
}

read_columns! {
    /// The lists of an event with a map.
    struct MapEvent {
        seq: Option<i64> = "seq",
        native: Option<Vec<u32>> = "NativeOffsets",
        il: Option<Vec<u32>> = "ILOffsets",
    }
}

/// A thread of a process of a machine.
type Thread = (i64, i64, Option<i64>);

/// A method, and the change of its IL while the program runs, where the event says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Method {
    id: i64,
    rejit: Option<i64>,
}

impl Method {
    fn is(self, other: Method) -> bool {
        self.id == other.id && (self.rejit == other.rejit || self.rejit.is_none() || other.rejit.is_none())
    }
}

/// An event of a method.
#[derive(Clone, Copy, Debug)]
struct MethodEvent {
    thread: Thread,
    seq: i64,
    method: Method,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Where a body is.
    Body { start: i64, time: i64 },
    /// Which IL a body comes from.
    Map(Order),
}

/// Where the event of a body stands, of two that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    BodyFirst,
    MapFirst,
    Either,
}

impl Order {
    /// By the number of the event with the map: `MethodILToNativeMap`, `MethodDCEndILToNativeMap`, else that at the begin of a rundown.
    fn of(event: i64) -> Order {
        match event {
            190 => Order::BodyFirst,
            150 => Order::MapFirst,
            _ => Order::Either,
        }
    }
}

/// Where the code of some bodies comes from, by the numbers of their rows; `is_asked` says of which.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read.
pub fn method_code(
    source: &Source<'_>,
    modules: &Modules,
    is_asked: impl Fn(u32) -> bool,
) -> Result<BTreeMap<u32, (MethodBody, MethodCode)>> {
    let asked: Vec<(u32, MethodBody)> = modules.bodies().filter(|(row, _)| is_asked(*row)).collect();
    let mut bodies = Bodies::of(&asked);
    if asked.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut events = Vec::new();
    let mut assemblies = Assemblies::default();
    source.events_with::<ClrEvent<'_>>("ClrInstanceID", |row| {
        let Some(process) = row.process else { return };
        let machine = source.machine(row.input);
        assemblies.add((machine, process), &row);
        bodies.add((machine, process), &row);
        if events.len() <= MOST_EVENTS {
            events.extend(method_event((machine, process, row.thread), &row));
        }
    })?;
    let wanted = if events.len() > MOST_EVENTS { HashMap::new() } else { paired(events, &bodies) };
    let mut maps = Known::default();
    if !wanted.is_empty() {
        source.events_with::<MapEvent>("NativeOffsets", |row| {
            let body = row.seq.and_then(|seq| wanted.get(&seq));
            let map = row.native.zip(row.il).and_then(|(native, il)| IlMap::of(&native, &il));
            if let Some((body, map)) = body.zip(map) {
                maps.learn(*body, map);
            }
        })?;
    }
    assemblies.add_of_merge(source, modules)?;
    let code = |(row, body): (u32, MethodBody)| {
        let known = bodies.methods.get(&row);
        let assembly = known.and_then(|(_, module)| assemblies.get((body.machine, body.process_id), *module));
        let token = known.map(|(token, _)| *token);
        (row, (body, MethodCode { token, assembly: assembly.cloned(), map: maps.get(&row).cloned() }))
    };
    Ok(asked.into_iter().map(code).collect())
}

/// What an event tells of a body: where it is, or which IL it comes from.
fn method_event(thread: Thread, row: &ClrEvent<'_>) -> Option<MethodEvent> {
    let what = match (row.start, row.extent) {
        (Some(start), None) => What::Body { start, time: row.time? },
        // The code that follows is the whole of it, or the part that runs often.
        (None, Some(0)) => What::Map(Order::of(row.id?)),
        _ => return None,
    };
    let method = Method { id: row.method?, rejit: row.rejit };
    Some(MethodEvent { thread, seq: row.seq?, method, what })
}

/// Bodies with what events tell of them.
struct Bodies {
    /// Those that are asked for, by machine, process and address.
    at: HashMap<(i64, i64, i64), Vec<(u32, MethodBody)>>,
    /// By the numbers of their rows the token of the method, and the number of its module in the process.
    methods: Known<u32, (u32, i64)>,
}

impl Bodies {
    fn of(asked: &[(u32, MethodBody)]) -> Bodies {
        let mut at = HashMap::<_, Vec<_>>::new();
        for (row, body) in asked {
            at.entry((body.machine, body.process_id, body.base)).or_default().push((*row, *body));
        }
        Bodies { at, methods: Known::default() }
    }

    /// The only one that begins at an address at a time.
    fn at(&self, (machine, process): (i64, i64), start: i64, time: i64) -> Option<u32> {
        let bodies = self.at.get(&(machine, process, start))?;
        let mut there = bodies.iter().filter(|(_, body)| (body.from_ns..=body.to_ns).contains(&time));
        let (row, _) = there.next()?;
        there.next().is_none().then_some(*row)
    }

    fn add(&mut self, process: (i64, i64), row: &ClrEvent<'_>) {
        let body = row.start.zip(row.time).and_then(|(start, time)| self.at(process, start, time));
        if let (Some(body), Some(token), Some(module)) = (body, row.token, row.module) {
            self.methods.learn(body, (token, module));
        }
    }
}

/// The assemblies of processes.
#[derive(Default)]
struct Assemblies {
    /// By machine, process, and number in that; `None` of one that has no symbol file.
    known: Known<(i64, i64, i64), Option<Assembly>>,
    /// By the same the path of the file in lower case, where the events are too old to name the symbol file.
    paths: Known<(i64, i64, i64), String>,
    /// What the merge of the trace says, by machine, process and path.
    merged: Known<(i64, i64, String), Assembly>,
}

impl Assemblies {
    fn add(&mut self, (machine, process): (i64, i64), row: &ClrEvent<'_>) {
        let Some((module, path)) = row.module.zip(row.path) else { return };
        let module = (machine, process, module);
        if let (Some(guid), Some(age), Some(pdb)) = (row.pdb_guid, row.pdb_age, row.pdb_name) {
            self.known.learn(module, assembly(path, pdb, guid, age));
        } else {
            self.paths.learn(module, path.to_lowercase());
        }
    }

    /// Adds what the merge says of the files of assemblies (`DbgID_ILRSDS`), where the events of some do not say enough.
    fn add_of_merge(&mut self, source: &Source<'_>, modules: &Modules) -> Result<()> {
        if self.paths.0.keys().all(|module| self.known.has(module)) {
            return Ok(());
        }
        source.events::<ImageIdEvent<'_>>("KernelTraceControl-ImageID", |row| {
            let is_of_il = row.name == Some("ImageID/DbgID_ILRSDS");
            let (Some(process), Some((base, time))) = (row.process, row.base.zip(row.time)) else { return };
            let machine = source.machine(row.input);
            let spot = modules.spot(machine, Some(process), base, time).filter(|spot| is_of_il && spot.base == base);
            let Some(path) = spot.and_then(|spot| modules.path(spot.module)) else { return };
            if let (Some(guid), Some(age), Some(pdb)) = (row.pdb_guid, row.pdb_age, row.pdb_name)
                && let Some(assembly) = assembly(path, pdb, guid, age)
            {
                self.merged.learn((machine, process, path.to_lowercase()), assembly);
            }
        })?;
        Ok(())
    }

    fn get(&self, (machine, process): (i64, i64), module: i64) -> Option<&Assembly> {
        let module = (machine, process, module);
        if self.known.has(&module) {
            return self.known.get(&module)?.as_ref();
        }
        self.merged.get(&(machine, process, self.paths.get(&module)?.clone()))
    }
}

/// An assembly by the path of its file; `None` of one that has no symbol file.
fn assembly(path: &str, pdb: &str, guid: &str, age: u32) -> Option<Assembly> {
    let name = path.rsplit(['\\', '/']).next().filter(|name| !name.is_empty());
    (guid != NONE && !pdb.is_empty()).then(|| Assembly {
        file_name: name.map(str::to_owned),
        pdb_name: pdb.to_owned(),
        pdb_guid: guid.to_owned(),
        pdb_age: age,
    })
}

/// The GUID of a symbol file that there is none of.
const NONE: &str = "00000000-0000-0000-0000-000000000000";

/// The bodies that maps are of: by the `seq` of the event with the map the number of the row.
fn paired(mut events: Vec<MethodEvent>, bodies: &Bodies) -> HashMap<i64, u32> {
    events.sort_unstable_by_key(|event| (event.thread, event.seq));
    let body_of = |map: &MethodEvent, at: Option<usize>| {
        let event = events.get(at?)?;
        let What::Body { start, time } = event.what else { return None };
        (event.thread == map.thread && event.method.is(map.method)).then_some((start, time))
    };
    let mut found = HashMap::new();
    for (at, map) in events.iter().enumerate() {
        let What::Map(order) = map.what else { continue };
        let before = body_of(map, at.checked_sub(1)).filter(|_| order != Order::MapFirst);
        let behind = body_of(map, at.checked_add(1)).filter(|_| order != Order::BodyFirst);
        let (start, time) = match (before, behind) {
            (Some((one, _)), Some((other, _))) if one != other => continue,
            (Some(body), _) | (None, Some(body)) => body,
            (None, None) => continue,
        };
        let (machine, process, _) = map.thread;
        found.extend(bodies.at((machine, process), start, time).map(|row| (map.seq, row)));
    }
    found
}

/// Facts, each by a key; of those that contradict each other none.
#[derive(Debug)]
struct Known<K, V>(HashMap<K, Option<V>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Known(HashMap::new())
    }
}

impl<K: Eq + Hash, V: PartialEq> Known<K, V> {
    fn learn(&mut self, key: K, value: V) {
        match self.0.entry(key) {
            Entry::Vacant(new) => drop(new.insert(Some(value))),
            Entry::Occupied(known) if known.get().as_ref() == Some(&value) => {}
            Entry::Occupied(mut known) => *known.get_mut() = None,
        }
    }

    /// Whether anything was said of it.
    fn has(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_of_the_last_il_at_or_before_it() {
        const PROLOG: u32 = u32::MAX - 1;
        let map = IlMap::of(&[0, 4, 4, 12, 8, 16], &[PROLOG, 0, 7, 9, u32::MAX, u32::MAX - 2]).unwrap();
        let found = [0, 3, 4, 7, 8, 11, 12, 15, 16, u32::MAX].map(|native| map.il_offset(native));
        assert_eq!(found, [None, None, Some(7), Some(7), None, None, Some(9), Some(9), None, None]);
        // A prologue of no bytes.
        assert_eq!(IlMap::of(&[0, 0], &[3, PROLOG]).unwrap().il_offset(0), Some(3));
        assert_eq!(IlMap::of(&[4], &[0]).unwrap().il_offset(3), None);
        assert_eq!(IlMap::of(&[], &[]).unwrap().il_offset(3), None);
        assert_eq!(IlMap::of(&[0, 1], &[0]), None);
    }

    #[test]
    fn events_take_what_is_said() {
        assert_eq!(size_of::<MethodEvent>() * MOST_EVENTS, 176 << 20);
    }

    #[test]
    fn facts_that_contradict_each_other_are_none() {
        let mut known = Known::default();
        [(1, 'a'), (1, 'a'), (2, 'a'), (2, 'b'), (2, 'b')].into_iter().for_each(|(key, value)| known.learn(key, value));
        assert_eq!([1, 2, 3].map(|key| known.get(&key).copied()), [Some('a'), None, None]);
    }
}
