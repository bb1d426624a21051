//! What the frames of stacks are called.

use std::collections::{HashMap, HashSet};
use std::fmt;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use published::frames::{Frame, ModuleId, Modules, Place as FramePlace, Stacks, frames, names_of};
use published::symbols::{StoredNames, root_of};

use super::weights::{Place, Weights};
use crate::exported::Exported;
use crate::opened::Opened;

/// Different frames that are distinguished, with their names some 100 MiB. Others are without.
const MOST_FRAMES: usize = 1 << 19;

/// What the addresses of stacks lie in: modules, methods and functions.
#[derive(Debug)]
pub(crate) struct Code {
    /// The modules of the trace.
    pub(crate) modules: Modules,
    names: StoredNames,
    /// The different frames, by number.
    frames: Vec<Frame>,
    /// Of stacks, then of single addresses, the numbers of their frames.
    stacks: [FrameLists; 2],
    /// Names of methods of .NET, by the number of the row.
    methods: HashMap<u32, String>,
}

/// A function in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call<'a> {
    /// The module that has it, by the number of [`Modules::id`].
    pub(crate) module: Option<u32>,
    /// The name of the file of that.
    pub(crate) file_name: Option<&'a str>,
    /// Bytes from the base of the module.
    pub(crate) offset: Option<i64>,
    /// The name of the function, where it is known.
    pub(crate) function: Option<&'a str>,
    /// The name with parameters, where it is known.
    pub(crate) full_name: Option<&'a str>,
    /// Where the function begins in its module, and its length, in bytes; where both are known.
    pub(crate) extent: Option<(i64, i64)>,
    /// The source file.
    pub(crate) source_file: Option<&'a str>,
    /// The line in it.
    pub(crate) line: Option<i64>,
    /// Whether it is one of the kernel.
    pub(crate) is_of_kernel: bool,
    /// Whether it is a method of .NET.
    pub(crate) is_managed: bool,
    /// Whether the compiler has put its code into the function that follows.
    pub(crate) is_inlined: bool,
    /// What stands in the place of a name where nothing is known.
    pub(crate) unknown: &'static str,
}

/// `module!function`, else `module+0x1f2e`; of a method in no module its name; else why it is not known.
impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = self.module.map(|_| self.file_name.unwrap_or("module without a name"));
        match (module, self.function, self.offset) {
            (Some(module), Some(function), _) => write!(f, "{module}!{function}"),
            (Some(module), None, Some(offset)) => write!(f, "{module}+{offset:#x}"),
            (Some(module), None, None) => f.write_str(module),
            (None, Some(function), _) => f.write_str(function),
            (None, None, _) => f.write_str(self.unknown),
        }
    }
}

/// Lists of the numbers of frames, one behind the other.
#[derive(Debug, Default)]
struct FrameLists {
    numbers: Vec<u32>,
    ends: Vec<usize>,
}

impl FrameLists {
    fn get(&self, list: u32) -> Option<&[u32]> {
        let list = usize::try_from(list).ok()?;
        let begin = list.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.numbers.get(begin..*self.ends.get(list)?)
    }
}

/// Frames, each different one once.
#[derive(Default)]
struct Numbering {
    all: Vec<Frame>,
    numbers: HashMap<Frame, u32>,
    left_out: u64,
}

impl Numbering {
    fn number(&mut self, frame: Frame) -> u32 {
        if let Some(number) = self.numbers.get(&frame) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        if self.all.len() >= MOST_FRAMES {
            self.left_out = self.left_out.saturating_add(1);
            return number;
        }
        self.all.push(frame);
        self.numbers.insert(frame, number);
        number
    }

    fn lists(&mut self, modules: &Modules, stacks: &Stacks, progress: &dyn Progress) -> Result<FrameLists> {
        let mut lists = FrameLists::default();
        for stack in stacks.iter() {
            stop_if_cancelled(progress)?;
            lists.numbers.extend(frames(modules, stack).map(|frame| self.number(frame)));
            lists.ends.push(lists.numbers.len());
        }
        Ok(lists)
    }
}

impl Code {
    /// Reads what the addresses of some stacks lie in. The stacks are not there any more then.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read;
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(crate) fn of(opened: &Opened<'_>, weights: &mut Weights, exported: &mut Exported) -> Result<Code> {
        let progress = opened.source.progress();
        let [walked, lone] = weights.take_stacks();
        let has_addresses = walked.iter().chain(lone.iter()).next().is_some();
        let modules = if has_addresses { Modules::read(&opened.source)? } else { Modules::default() };
        exported.warn_of(modules.left_out(), "spans of modules and methods are left out: there are too many");
        let mut numbering = Numbering::default();
        let stacks = [numbering.lists(&modules, &walked, progress)?, numbering.lists(&modules, &lone, progress)?];
        drop((walked, lone));
        exported.warn_of(numbering.left_out, "frames are without a name: there are too many different ones");
        let frames = numbering.all;
        let names = StoredNames::beside(&root_of(&opened.trace.folder()), modules.ids(), progress)?;
        let asked: HashSet<u32> = frames.iter().filter_map(|frame| frame.method).collect();
        let mut methods = HashMap::new();
        names_of(&opened.source, &asked, |number, name| drop(methods.insert(number, name.to_owned())))?;
        Ok(Code { modules, names, frames, stacks, methods })
    }

    /// The numbers of the frames of a place, innermost first; none where it has no stack.
    pub(crate) fn stack(&self, place: Place) -> &[u32] {
        let [walked, lone] = &self.stacks;
        let found = match place {
            Place::Stack(stack) => walked.get(stack),
            Place::Lone(address) => lone.get(address),
            Place::Nowhere | Place::LeftOut => None,
        };
        found.unwrap_or_default()
    }

    /// How many different frames there are; their numbers begin with 0.
    pub(crate) fn frame_count(&self) -> u32 {
        u32::try_from(self.frames.len()).unwrap_or(u32::MAX)
    }

    /// Which module it is, by its number.
    pub(crate) fn module(&self, module: u32) -> Option<&ModuleId> {
        self.modules.id(module)
    }

    /// The functions of a frame by its number: that which the compiler has put furthest into another one first, then that whose code it is.
    pub(crate) fn calls(&self, frame: u32) -> impl Iterator<Item = Call<'_>> {
        let own = self.own(frame);
        let known = match (own.module, own.function) {
            (Some(module), None) => {
                let address = own.offset.and_then(|offset| u32::try_from(offset).ok());
                let id = self.modules.id(module);
                id.zip(address).map_or(&[][..], |(id, address)| self.names.code(id, address))
            }
            _ => &[],
        };
        let named = known.iter().map(move |code| Call {
            function: Some(&code.name),
            full_name: code.full_name.as_deref(),
            extent: code.start.zip(code.size),
            source_file: code.file.as_deref(),
            line: code.line,
            is_inlined: code.inline_depth > 0,
            ..own
        });
        named.chain(known.is_empty().then_some(own))
    }

    /// What is known of a frame without symbols.
    fn own(&self, number: u32) -> Call<'_> {
        let frame = usize::try_from(number).ok().and_then(|number| self.frames.get(number).copied());
        let method =
            frame.and_then(|frame| frame.method).and_then(|method| self.methods.get(&method)).map(String::as_str);
        let call = Call {
            module: None,
            file_name: None,
            offset: None,
            function: method,
            full_name: None,
            extent: None,
            source_file: None,
            line: None,
            is_of_kernel: frame.is_some_and(|frame| frame.is_of_kernel),
            is_managed: method.is_some(),
            is_inlined: false,
            unknown: "method of .NET without a name",
        };
        match frame.map(|frame| frame.place) {
            None => Call { unknown: "(no room for it)", ..call },
            Some(FramePlace::Module { module, offset }) => {
                let file_name = self.modules.id(module).and_then(|id| id.file_name.as_deref());
                Call { module: Some(module), offset: Some(offset), file_name, ..call }
            }
            Some(FramePlace::Method) => call,
            Some(FramePlace::Unknown(unknown)) => Call { unknown: unknown.text(), ..call },
        }
    }
}

/// GUID and age of the symbol file, as symbol servers write them: hexadecimal digits without anything between. Empty where they are not
/// known.
pub(crate) fn build_id(id: &ModuleId) -> String {
    let known = id.pdb_guid.as_ref().zip(id.pdb_age);
    known.map_or_else(String::new, |(guid, age)| format!("{}{age:X}", guid.replace(['-', '{', '}'], "").to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_known_by_guid_and_age() {
        let guid = Some("0a1b2c3d-0001-0002-0304-05060708090a".to_owned());
        let id = ModuleId { pdb_guid: guid, pdb_age: Some(26), ..ModuleId::default() };
        assert_eq!(build_id(&id), "0A1B2C3D00010002030405060708090A1A");
        assert_eq!(build_id(&ModuleId::default()), "");
    }
}
