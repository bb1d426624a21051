//! The rows of a trace's frames: what the view `frames` has of them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};

use super::line_table::{self, LinePlace, place};
use super::rows::{FOUND, FunctionRow, ModuleSymbols, NOT_ASKED, id_of};
use super::tables::Tables;
use crate::frames::{
    AddressedFrame, MethodBody, ModuleId, Modules, Place, Stack, Stacks, Unknown, addressed_frames,
    namespaces_and_names_of, stacks_of,
};
use crate::source::Source;

/// A row of the view `frames`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameRow<'a> {
    pub machine: i64,
    pub process_id: Option<i64>,
    pub stack_id: i64,
    pub frame: i64,
    pub depth: i64,
    pub inline_depth: i64,
    pub address: i64,
    pub module: Option<&'a str>,
    pub module_path: Option<&'a str>,
    pub module_offset: Option<i64>,
    pub function: Option<&'a str>,
    pub kind: Option<&'static str>,
    pub file: Option<&'a str>,
    pub line: Option<i64>,
    pub is_first: bool,
    pub unknown_because: Option<&'a str>,
}

/// The stacks of a trace, and all that is known of what they lie in.
pub(super) struct TraceFrames {
    stacks: Stacks,
    modules: Modules,
    /// Names of methods by the numbers of their rows; of one without any `None`.
    methods: HashMap<u32, Option<String>>,
    /// Where their bodies are, of those that have lines.
    bodies: HashMap<u32, MethodBody>,
    /// Source lines of addresses in them.
    lines: HashMap<LinePlace, (Arc<str>, i64)>,
    /// By the numbers of the modules that frames lie in.
    symbols: HashMap<u32, KnownModule>,
}

/// What symbols of a module are known.
#[derive(Debug, Default)]
struct KnownModule {
    /// Whether the trace says which build it is.
    has_identity: bool,
    /// What became of the search for its symbols; `None` where there was none.
    status: Option<String>,
    /// By the offset in the module what the address lies in, the function inlined furthest first.
    functions: HashMap<i64, Vec<FunctionRow>>,
}

/// A frame without a function.
const NOWHERE: FunctionRow = FunctionRow {
    rva: 0,
    inline_depth: 0,
    name: None,
    full_name: None,
    kind: None,
    start: None,
    size: None,
    file: None,
    line: None,
    with_lines: false,
};

impl TraceFrames {
    /// Reads the stacks of a trace, and what lies beside it.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace or a table beside it cannot be read;
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn read(source: &Source<'_>, root: &Path, trace: &str) -> Result<TraceFrames> {
        let (stacks, modules) = (stacks_of(source)?, Modules::read(source)?);
        let (mut asked, mut used) = (HashSet::new(), HashSet::new());
        for stack in stacks.iter() {
            stop_if_cancelled(source.progress())?;
            for AddressedFrame { frame, .. } in addressed_frames(&modules, stack) {
                asked.extend(frame.method);
                if let Place::Module { module, .. } = frame.place {
                    used.insert(module);
                }
            }
        }
        let mut methods = HashMap::new();
        namespaces_and_names_of(source, &asked, |number, space, name| {
            let text = match (space, name) {
                (Some(space), Some(name)) => Some(format!("{space}.{name}")),
                (one, other) => one.or(other).map(str::to_owned),
            };
            methods.insert(number, text);
        })?;
        let symbols = known(&modules, &used, &Tables::beside(root, source.progress()))?;
        let mut lines = HashMap::new();
        line_table::each(root, trace, source.progress(), |row| {
            if let Some((place, (file, line))) = row.place.zip(row.line) {
                lines.insert(place, (Arc::from(file), i64::from(line)));
            }
        })?;
        let bodies = if lines.is_empty() { HashMap::new() } else { modules.bodies().collect() };
        Ok(TraceFrames { stacks, modules, methods, bodies, lines, symbols })
    }

    /// Hands over the rows: by machine, process and stack, from the leaf on, and of one address the function inlined furthest first.
    ///
    /// # Errors
    /// Those of `each`, and [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn rows<'a>(
        &'a self,
        progress: &dyn Progress,
        mut each: impl FnMut(FrameRow<'a>) -> Result<()>,
    ) -> Result<()> {
        for stack in self.stacks.in_order().into_iter().filter_map(|number| self.stacks.get(number)) {
            stop_if_cancelled(progress)?;
            let (mut seen, mut frames) = (HashSet::new(), 0..);
            for (depth, found) in (0..).zip(addressed_frames(&self.modules, stack)) {
                for code in self.code(found) {
                    let row = self.row(stack, found, code);
                    let is_first = seen.insert((row.module, row.function));
                    each(FrameRow { depth, frame: frames.next().unwrap_or(i64::MAX), is_first, ..row })?;
                }
            }
        }
        Ok(())
    }

    /// What symbols say of a frame, at least one row; nothing of a method, which has its name from the trace.
    fn code(&self, found: AddressedFrame) -> &[FunctionRow] {
        let of_module = match found.frame.place {
            Place::Module { module, offset } if found.frame.method.is_none() => {
                self.symbols.get(&module).and_then(|known| known.functions.get(&offset))
            }
            _ => None,
        };
        of_module.map_or(&[NOWHERE][..], Vec::as_slice)
    }

    /// A row, but for its number and what depends on other frames of its stack.
    fn row<'a>(&'a self, stack: Stack<'_>, found: AddressedFrame, code: &'a FunctionRow) -> FrameRow<'a> {
        let AddressedFrame { address, looked_up, frame } = found;
        let method = frame.method.and_then(|method| self.methods.get(&method)?.as_deref());
        let function = method.or(code.name.as_deref());
        let body = frame.method.and_then(|method| self.bodies.get(&method));
        let line = body.and_then(|body| self.lines.get(&place(*body, looked_up)));
        let (module, offset) = match frame.place {
            Place::Module { module, offset } => (Some(module), Some(offset)),
            _ => (None, None),
        };
        FrameRow {
            machine: stack.owner.machine,
            process_id: stack.owner.process,
            stack_id: stack.id,
            frame: 0,
            depth: 0,
            inline_depth: code.inline_depth,
            address,
            module: module.and_then(|module| self.modules.id(module)?.file_name.as_deref()),
            module_path: module.and_then(|module| self.modules.path(module)),
            module_offset: offset.map(|offset| offset.saturating_add(address.saturating_sub(looked_up))),
            function,
            kind: kind(found),
            file: code.file.as_deref().or(line.map(|(file, _)| &**file)),
            line: code.line.or(line.map(|(_, line)| *line)),
            is_first: false,
            unknown_because: if function.is_some() { None } else { Some(self.unknown_because(found, stack)) },
        }
    }

    /// Why there is no function.
    fn unknown_because(&self, found: AddressedFrame, stack: Stack<'_>) -> &str {
        match found.frame.place {
            Place::Unknown(Unknown::Changed) => "changed",
            Place::Module { module, .. } => match self.symbols.get(&module) {
                Some(KnownModule { has_identity: false, .. }) | None => "no identity",
                Some(known) => match known.status.as_deref() {
                    None => NOT_ASKED,
                    Some(FOUND) => "no symbol",
                    Some(status) => status,
                },
            },
            _ if stack.owner.process.is_none() && found.address >= 0 => "no process",
            _ => "in no module",
        }
    }
}

/// Whose code a frame is; `None` of an address that may be one of a 32-bit kernel or of a program.
fn kind(found: AddressedFrame) -> Option<&'static str> {
    let AddressedFrame { address, frame, .. } = found;
    let is_in_module = matches!(frame.place, Place::Module { .. });
    if address < 0 || (is_in_module && frame.is_of_kernel) {
        Some("kernel")
    } else if frame.method.is_some() {
        Some("managed")
    } else if !is_in_module && (1 << 31..1 << 32).contains(&address) {
        None
    } else {
        Some("user")
    }
}

/// What is known of the symbols of some modules.
fn known(modules: &Modules, used: &HashSet<u32>, tables: &Tables<'_>) -> Result<HashMap<u32, KnownModule>> {
    let stored: HashMap<String, ModuleSymbols> =
        tables.modules()?.into_iter().filter_map(|row| Some((row.symbol_key.clone()?, row))).collect();
    let mut found = HashMap::new();
    for module in used {
        let key = modules.id(*module).and_then(ModuleId::symbol_key);
        let row = key.as_ref().and_then(|key| stored.get(key));
        let mut known = KnownModule { has_identity: key.is_some(), ..KnownModule::default() };
        if let Some(row) = row {
            known.status = Some(row.status.clone());
            let rows = id_of(row).map(|id| tables.functions(&id.folder())).transpose()?;
            // Sorted by address and depth.
            for row in rows.unwrap_or_default().into_iter().rev() {
                known.functions.entry(row.rva).or_default().push(row);
            }
        }
        found.insert(*module, known);
    }
    Ok(found)
}
