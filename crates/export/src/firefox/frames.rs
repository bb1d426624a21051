//! Frames of stacks as the profile has them: addresses in libraries, which the viewer can look up itself, or names.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use fxprof_processed_profile::debugid::DebugId;
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, Frame, FrameFlags, FrameInfo, LibraryHandle, LibraryInfo, Profile, StackHandle,
    Symbol, SymbolTable, ThreadHandle,
};
use published::frames::ModuleId;

use crate::profile::{Call, Code, Place, build_id};

/// Where code belongs, as the viewer colours it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Categories {
    kernel: CategoryHandle,
    user: CategoryHandle,
    managed: CategoryHandle,
}

impl Categories {
    /// Makes them known to a profile.
    pub(super) fn register(profile: &mut Profile) -> Categories {
        Categories {
            kernel: profile.add_category("Kernel", CategoryColor::Orange),
            user: profile.add_category("User", CategoryColor::Yellow),
            managed: profile.add_category(".NET", CategoryColor::Green),
        }
    }
}

/// The frames of a profile, by their numbers.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    code: &'a Code,
    categories: Categories,
    libraries: HashMap<u32, Option<LibraryHandle>>,
    /// From the outermost function on.
    known: HashMap<u32, Vec<FrameInfo>>,
    stacks: HashMap<(ThreadHandle, Place), Option<StackHandle>>,
}

impl<'a> Frames<'a> {
    /// None yet; names of functions that are known are made known to the libraries of a profile.
    pub(super) fn of(code: &'a Code, profile: &mut Profile) -> Frames<'a> {
        let categories = Categories::register(profile);
        let (libraries, known, stacks) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut frames = Frames { code, categories, libraries, known, stacks };
        frames.name(profile);
        frames
    }

    /// The stack of a place in a thread; `None` where there is none.
    pub(super) fn stack(&mut self, profile: &mut Profile, thread: ThreadHandle, place: Place) -> Option<StackHandle> {
        if let Some(known) = self.stacks.get(&(thread, place)) {
            return *known;
        }
        let mut frames: Vec<FrameInfo> = Vec::new();
        let code = self.code;
        for frame in code.stack(place).iter().rev() {
            let infos = self.infos(profile, *frame);
            frames.extend_from_slice(infos);
        }
        if frames.is_empty() {
            frames.push(label(profile, place.text(), CategoryHandle::OTHER));
        }
        let stack = profile.intern_stack_frames(thread, frames.into_iter());
        self.stacks.insert((thread, place), stack);
        stack
    }

    fn infos(&mut self, profile: &mut Profile, frame: u32) -> &[FrameInfo] {
        let code = self.code;
        if !self.known.contains_key(&frame) {
            let mut infos: Vec<FrameInfo> = code.calls(frame).map(|call| self.info(profile, &call)).collect();
            infos.reverse();
            self.known.insert(frame, infos);
        }
        self.known.get(&frame).map_or(&[], Vec::as_slice)
    }

    fn info(&mut self, profile: &mut Profile, call: &Call<'_>) -> FrameInfo {
        let category = match (call.is_managed, call.is_of_kernel) {
            (true, _) => self.categories.managed,
            (false, true) => self.categories.kernel,
            (false, false) => self.categories.user,
        };
        // An inlined function has no address of its own, and a method of .NET is in no symbol file.
        let address = call.offset.filter(|_| !call.is_managed && !call.is_inlined);
        let address = address.and_then(|offset| u32::try_from(offset).ok());
        let library = call.module.and_then(|module| self.library(profile, module));
        match library.zip(address) {
            Some((library, address)) => FrameInfo {
                // The address of the call, not the one that it returns to.
                frame: Frame::RelativeAddressFromAdjustedReturnAddress(library, address),
                category_pair: category.into(),
                flags: FrameFlags::empty(),
            },
            None => label(profile, &call.to_string(), category),
        }
    }

    fn library(&mut self, profile: &mut Profile, module: u32) -> Option<LibraryHandle> {
        let code = self.code;
        let made = self.libraries.entry(module);
        *made.or_insert_with(|| code.module(module).map(|id| profile.add_lib(library(id))))
    }

    /// Gives libraries the names of functions that are known.
    fn name(&mut self, profile: &mut Profile) {
        let code = self.code;
        let mut named = BTreeMap::<u32, Vec<Symbol>>::new();
        for frame in 0..code.frame_count() {
            for call in code.calls(frame).filter(|call| !call.is_inlined && !call.is_managed) {
                if let Some((module, symbol)) = call.module.zip(symbol(&call)) {
                    named.entry(module).or_default().push(symbol);
                }
            }
        }
        for (module, symbols) in named {
            if let Some(library) = self.library(profile, module) {
                profile.set_lib_symbol_table(library, Arc::new(SymbolTable::new(symbols)));
            }
        }
    }
}

/// The function of a call. One whose length is not known has the one byte that was looked up.
fn symbol(call: &Call<'_>) -> Option<Symbol> {
    let name = call.function?.to_owned();
    let address = u32::try_from(call.offset?).ok()?;
    let whole = call.extent.and_then(|(start, size)| Some((u32::try_from(start).ok()?, u32::try_from(size).ok()?)));
    let whole = whole.filter(|(start, size)| address.checked_sub(*start).is_some_and(|into| into < *size));
    let (address, size) = whole.unwrap_or((address, 1));
    Some(Symbol { address, size: Some(size), name })
}

fn label(profile: &mut Profile, text: &str, category: CategoryHandle) -> FrameInfo {
    let frame = Frame::Label(profile.intern_string(text));
    FrameInfo { frame, category_pair: category.into(), flags: FrameFlags::empty() }
}

/// A module as symbol servers know it.
fn library(id: &ModuleId) -> LibraryInfo {
    let name = id.file_name.clone().unwrap_or_else(|| "module without a name".to_owned());
    let debug_name = id.pdb_name.as_deref().and_then(|name| name.rsplit(['\\', '/']).next()).map(str::to_owned);
    let debug_name = debug_name.unwrap_or_else(|| name.clone());
    let code_id = id.time_stamp.zip(id.size).map(|(time, size)| format!("{time:08X}{size:x}"));
    LibraryInfo {
        path: name.clone(),
        debug_path: debug_name.clone(),
        debug_id: DebugId::from_breakpad(&build_id(id)).unwrap_or_default(),
        name,
        debug_name,
        code_id,
        arch: None,
        symbol_table: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_by_its_identities() {
        let id = ModuleId {
            file_name: Some("ntdll.dll".to_owned()),
            time_stamp: Some(0xabc),
            size: Some(0x1f_0000),
            pdb_name: Some("c:\\obj\\ntdll.pdb".to_owned()),
            pdb_guid: Some("0a1b2c3d-0001-0002-0304-05060708090a".to_owned()),
            pdb_age: Some(26),
        };
        let made = library(&id);
        assert_eq!((made.name.as_str(), made.debug_name.as_str()), ("ntdll.dll", "ntdll.pdb"));
        assert_eq!(made.debug_id.breakpad().to_string(), "0A1B2C3D00010002030405060708090A1a");
        assert_eq!(made.code_id.as_deref(), Some("00000ABC1f0000"));
        assert!(library(&ModuleId::default()).debug_id.is_nil());
    }
}
