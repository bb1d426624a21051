//! What the frames of stacks are called.

use std::collections::{HashMap, HashSet};
use std::fmt;

use base::error::Result;
use published::frames::{Frame, ModuleId, Modules, Place as FramePlace, Stack, frames, names_of};
use published::symbols::{StoredNames, root_of};

use super::weights::Weights;
use crate::exported::Exported;
use crate::opened::Opened;

/// What addresses lie in: modules, methods and functions.
#[derive(Debug)]
pub(crate) struct Code {
    /// The modules of the trace.
    pub(crate) modules: Modules,
    names: StoredNames,
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

impl Code {
    /// Reads what the addresses of some stacks lie in.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(crate) fn of(opened: &Opened<'_>, weights: &Weights, exported: &mut Exported) -> Result<Code> {
        let modules =
            if weights.stacks().next().is_some() { Modules::read(&opened.source)? } else { Modules::default() };
        exported.warn_of(modules.left_out(), "spans of modules and methods are left out: there are too many");
        let root = root_of(&opened.trace.folder());
        let names = StoredNames::beside(&root, modules.ids(), opened.source.progress())?;
        let asked: HashSet<u32> =
            weights.stacks().flat_map(|stack| frames(&modules, stack)).filter_map(|frame| frame.method).collect();
        let mut methods = HashMap::new();
        names_of(&opened.source, &asked, |number, name| drop(methods.insert(number, name.to_owned())))?;
        Ok(Code { modules, names, methods })
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn frames<'a>(&'a self, stack: Stack<'a>) -> impl Iterator<Item = Frame> + 'a {
        frames(&self.modules, stack)
    }

    /// Which module it is, by its number.
    pub(crate) fn module(&self, module: u32) -> Option<&ModuleId> {
        self.modules.id(module)
    }

    /// The functions of a frame: that which the compiler has put furthest into another one first, then that whose code it is.
    pub(crate) fn calls(&self, frame: Frame) -> impl Iterator<Item = Call<'_>> {
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
            source_file: code.file.as_deref(),
            line: code.line,
            is_inlined: code.inline_depth > 0,
            ..own
        });
        named.chain(known.is_empty().then_some(own))
    }

    /// What is known of a frame without symbols.
    fn own(&self, frame: Frame) -> Call<'_> {
        let method = frame.method.and_then(|method| self.methods.get(&method)).map(String::as_str);
        let call = Call {
            module: None,
            file_name: None,
            offset: None,
            function: method,
            full_name: None,
            source_file: None,
            line: None,
            is_of_kernel: frame.is_of_kernel,
            is_managed: method.is_some(),
            is_inlined: false,
            unknown: "method of .NET without a name",
        };
        match frame.place {
            FramePlace::Module { module, offset } => {
                let file_name = self.modules.id(module).and_then(|id| id.file_name.as_deref());
                Call { module: Some(module), offset: Some(offset), file_name, ..call }
            }
            FramePlace::Method => call,
            FramePlace::Unknown(unknown) => Call { unknown: unknown.text(), ..call },
        }
    }
}
