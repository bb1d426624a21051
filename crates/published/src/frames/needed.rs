//! What the stacks of a trace, and samples without one, need of symbols: which addresses of which modules, and how often.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use base::progress::Progress;
use conversion::read_columns;

use super::managed::{MethodCode, method_code};
use super::modules::{MethodBody, ModuleId, Modules};
use super::place::{AddressedFrame, Place, addressed_frames};
use super::stacks::{Owner, Stack, StackCell, Stacks};
use crate::PublishedTrace;
use crate::on_cpu::{IDLE, IN_DPC, IN_ISR};
use crate::source::Source;

/// What the stacks of a trace lie in.
///
/// `frames` is the sum of `in_modules`, `in_methods`, `unknown` and `left_out`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    /// The modules, those with most frames first, of equal ones in the order of their identities.
    pub modules: Vec<NeededModule>,
    /// Where they are asked for the methods of .NET, by process, address and time.
    pub methods: Vec<NeededMethod>,
    /// Frames of all events: each of every stack that occurs, and where each sample without a stack
    /// was taken, unless the processor was idle.
    pub frames: u64,
    /// Those of them that lie in a module, within a method of .NET or not.
    pub in_modules: u64,
    /// Those in a method of .NET that lies in no module.
    pub in_methods: u64,
    /// Those of which nobody knows where they lie.
    pub unknown: u64,
    /// Those of stacks that there was no room for.
    pub left_out: u64,
}

/// The addresses of a module that frames lie at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededModule {
    /// Which it is.
    pub module: ModuleId,
    /// How many frames of events have a relative address: where a frame executes or calls, in bytes behind the base of the module.
    pub addresses: BTreeMap<u32, u64>,
}

/// The addresses of the body of a method of .NET that frames lie at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededMethod {
    /// Where it is.
    pub body: MethodBody,
    /// Where its code comes from.
    pub code: MethodCode,
    /// How many frames of events have an address: where a frame executes or calls.
    pub addresses: BTreeMap<i64, u64>,
}

impl NeededModule {
    /// Frames of events in it.
    pub fn frames(&self) -> u64 {
        self.addresses.values().fold(0, |sum, frames| sum.saturating_add(*frames))
    }
}

read_columns! {
    /// A stack of an event.
    struct StackEvent<'b> {
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        input: Option<i64> = "input",
        id: Option<i64> = "stack_id",
        addresses: StackCell<'b> = "stack",
    }
}

read_columns! {
    /// A row of `Kernel-PerfInfo`.
    struct SampleEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        input: Option<i64> = "input",
        address: Option<i64> = "InstructionPointer",
        bits: Option<i64> = "Reserved",
        stack_id: Option<i64> = "stack_id",
    }
}

impl SampleEvent<'_> {
    /// Whether the processor had nothing to do.
    fn is_idle(&self) -> bool {
        self.process == Some(IDLE) && self.bits.unwrap_or(0) & (IN_DPC | IN_ISR) == 0
    }
}

/// The stacks of all events of a trace, as many as there is room for.
///
/// # Errors
/// Those of [`needed`].
pub fn stacks_of(source: &Source<'_>) -> Result<Stacks> {
    let mut stacks = Stacks::default();
    source.events_with::<StackEvent<'_>>("stack", |row| {
        let StackEvent { time: Some(time), id: Some(id), addresses: StackCell(Some(addresses)), process, input } = row
        else {
            return;
        };
        stacks.add(Owner { machine: source.machine(input), process }, time, id, addresses);
    })?;
    Ok(stacks)
}

/// Reads all stacks of a trace, and the samples that have none, and what they lie in. Memory is that of the different stacks, of which 2,097,152 with
/// 33,554,432 addresses are kept, and of 1,048,576 modules in processes and as many methods. `with_methods`: whether it is asked where the
/// code of methods comes from.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read;
/// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn needed(trace: &PublishedTrace, with_methods: bool, progress: &dyn Progress) -> Result<Needed> {
    let source = Source::open(trace, progress)?;
    let stacks = stacks_of(&source)?;
    let sums = Needed { left_out: stacks.left_out(), frames: stacks.left_out(), ..Needed::default() };
    if stacks.iter().next().is_none() && !source.has_events(SAMPLES) {
        return Ok(sums);
    }
    let modules = Modules::read(&source)?;
    let methods = with_methods.then(BTreeMap::new);
    let mut found = FoundFrames { modules: &modules, sums, addresses: HashMap::new(), methods };
    stacks.iter().for_each(|stack| found.add(stack));
    source.events::<SampleEvent<'_>>(SAMPLES, |row| {
        let SampleEvent { name: Some("PerfInfo/SampleProf"), time: Some(time), address: Some(address), .. } = row
        else {
            return;
        };
        if row.stack_id.is_none() && !row.is_idle() {
            let owner = Owner { machine: source.machine(row.input), process: row.process };
            found.add(Stack { owner, id: 0, addresses: &[address], first: time, last: time, count: 1 });
        }
    })?;
    let FoundFrames { sums, addresses, methods, .. } = found;
    let methods = methods.map_or(Ok(Vec::new()), |methods| with_code(&source, &modules, methods))?;
    Ok(Needed { modules: by_identity(&modules, addresses), methods, ..sums })
}

/// How many frames have an address of a body, by the number of its row.
type InMethods = BTreeMap<u32, BTreeMap<i64, u64>>;

/// The bodies, with where their code comes from.
fn with_code(source: &Source<'_>, modules: &Modules, mut methods: InMethods) -> Result<Vec<NeededMethod>> {
    let code = method_code(source, modules, |row| methods.contains_key(&row))?;
    let needed = code
        .into_iter()
        .filter_map(|(row, (body, code))| Some(NeededMethod { body, code, addresses: methods.remove(&row)? }));
    let mut needed: Vec<NeededMethod> = needed.collect();
    needed.sort_by_key(|method| method.body);
    Ok(needed)
}

/// The dataset that has the samples of the profiler.
const SAMPLES: &str = "Kernel-PerfInfo";

/// Where frames lie, added up.
struct FoundFrames<'a> {
    modules: &'a Modules,
    sums: Needed,
    /// How many have an address, by module.
    addresses: HashMap<u32, BTreeMap<u32, u64>>,
    /// Those in methods, where they are asked for.
    methods: Option<InMethods>,
}

impl FoundFrames<'_> {
    fn add(&mut self, stack: Stack<'_>) {
        let FoundFrames { modules, sums, addresses, methods } = self;
        for AddressedFrame { looked_up, frame, .. } in addressed_frames(modules, stack) {
            add(&mut sums.frames, stack.count);
            if let Some((methods, row)) = methods.as_mut().zip(frame.method) {
                add(methods.entry(row).or_default().entry(looked_up).or_default(), stack.count);
            }
            match frame.place {
                Place::Module { module, offset } => {
                    add(&mut sums.in_modules, stack.count);
                    if let Ok(offset) = u32::try_from(offset) {
                        add(addresses.entry(module).or_default().entry(offset).or_default(), stack.count);
                    }
                }
                Place::Method => add(&mut sums.in_methods, stack.count),
                Place::Unknown(_) => add(&mut sums.unknown, stack.count),
            }
        }
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// The addresses of all modules of an identity, wherever their files lie.
fn by_identity(modules: &Modules, addresses: HashMap<u32, BTreeMap<u32, u64>>) -> Vec<NeededModule> {
    let mut by_identity = BTreeMap::<&ModuleId, BTreeMap<u32, u64>>::new();
    for (module, addresses) in addresses {
        let Some(id) = modules.id(module) else { continue };
        let sums = by_identity.entry(id).or_default();
        addresses.into_iter().for_each(|(address, frames)| add(sums.entry(address).or_default(), frames));
    }
    let needed = by_identity.into_iter().map(|(id, addresses)| NeededModule { module: id.clone(), addresses });
    let mut needed: Vec<NeededModule> = needed.collect();
    needed.sort_by_key(|module| std::cmp::Reverse(module.frames()));
    needed
}

#[cfg(test)]
mod tests {
    use super::super::modules::made;
    use super::*;

    #[test]
    fn files_of_one_identity_are_one_module() {
        let modules = made();
        let addresses = |of: &[(u32, u64)]| of.iter().copied().collect::<BTreeMap<u32, u64>>();
        // In `made`, 0 is a.dll, 1 and 3 are b.dll in two folders.
        let found = by_identity(
            &modules,
            HashMap::from([
                (0, addresses(&[(5, 1)])),
                (1, addresses(&[(5, 1), (7, 2)])),
                (3, addresses(&[(5, 4)])),
                (9, addresses(&[(1, 1)])),
            ]),
        );
        let shown: Vec<_> = found.iter().map(|one| (one.module.file_name.as_deref(), one.frames())).collect();
        assert_eq!(shown, [(Some("b.dll"), 7), (Some("a.dll"), 1)]);
        assert_eq!(found[0].addresses, addresses(&[(5, 5), (7, 2)]));
    }
}
