//! What the stacks of several traces need.

use std::collections::BTreeMap;

use ::symbols::SymbolPath;
use base::error::Result;
use base::progress::Progress;

use super::rows::ModuleSymbols;
use super::trace_table::name_of;
use crate::PublishedTrace;
use crate::beside::content;
use crate::frames::{ModuleId, NeededMethod, needed};

/// What is asked for, and where.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Where symbol files are.
    pub path: &'a SymbolPath,
    /// The least share of all frames with which a module is asked for.
    pub min_share: f64,
    /// Whether source files, lines and inlined functions are asked for.
    pub with_lines: bool,
    /// Whether the frames of each trace are written as a table.
    pub with_frames: bool,
}

/// What frames of some traces need.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Modules by what their symbols are found by; those without an identity by their names.
    modules: BTreeMap<(Option<String>, Option<String>), WantedModule>,
    /// Frames of all stacks of all events, and samples without one.
    pub frames: u64,
    /// Those in methods of .NET, outside of modules.
    pub in_methods: u64,
    /// Those in neither.
    pub unknown: u64,
    /// Those that there was no room for.
    pub left_out: u64,
    /// Where they are asked for the methods of each trace.
    pub methods: Vec<TraceMethods>,
}

/// The methods that frames of a trace lie in.
#[derive(Debug)]
pub(super) struct TraceMethods {
    pub trace: String,
    pub content: String,
    pub methods: Vec<NeededMethod>,
}

/// A module with the addresses that frames have in it.
#[derive(Debug, Default)]
pub(super) struct WantedModule {
    pub module: ModuleId,
    /// Address in the module, and how many frames have it.
    pub addresses: BTreeMap<u32, u64>,
    pub frames: u64,
}

impl Wanted {
    /// Reads the stacks of the traces, one trace after another; their methods only where these are asked for.
    ///
    /// # Errors
    /// Those of [`needed`].
    pub(super) fn of(traces: &[PublishedTrace], with_methods: bool, progress: &dyn Progress) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for trace in traces {
            let needs = needed(trace, with_methods, progress)?;
            wanted.frames = wanted.frames.saturating_add(needs.frames);
            wanted.in_methods = wanted.in_methods.saturating_add(needs.in_methods);
            wanted.unknown = wanted.unknown.saturating_add(needs.unknown);
            wanted.left_out = wanted.left_out.saturating_add(needs.left_out);
            if with_methods {
                let (trace, content) = (name_of(trace), content(&trace.record()?));
                wanted.methods.push(TraceMethods { trace, content, methods: needs.methods });
            }
            for needs in needs.modules {
                let frames = needs.frames();
                let known = wanted.modules.entry(key_of(&needs.module)).or_default();
                if known.frames == 0 {
                    known.module = needs.module;
                }
                known.frames = known.frames.saturating_add(frames);
                for (address, frames) in needs.addresses {
                    let sum = known.addresses.entry(address).or_default();
                    *sum = sum.saturating_add(frames);
                }
            }
        }
        Ok(wanted)
    }

    /// The modules, those with most frames first.
    pub(super) fn hottest_first(&mut self) -> Vec<WantedModule> {
        let mut modules: Vec<_> = std::mem::take(&mut self.modules).into_values().collect();
        modules.sort_by(|a, b| b.frames.cmp(&a.frames).then_with(|| a.module.cmp(&b.module)));
        modules
    }
}

/// What tells a module from others: what its symbols are known by, else its name.
pub(super) fn key_of(module: &ModuleId) -> (Option<String>, Option<String>) {
    let key = module.symbol_key();
    let name = if key.is_none() { module.file_name.clone() } else { None };
    (key, name)
}

impl WantedModule {
    /// The row of the module, before its symbols are looked for.
    pub(super) fn row(&self, of: u64) -> ModuleSymbols {
        let ModuleId { file_name, time_stamp, size, pdb_name, pdb_guid, pdb_age } = self.module.clone();
        #[expect(clippy::cast_precision_loss, reason = "a share is no exact number")]
        let share = if of == 0 { 0.0 } else { self.frames as f64 / of as f64 };
        ModuleSymbols {
            symbol_key: self.module.symbol_key(),
            file_name,
            time_stamp: time_stamp.map(i64::from),
            image_size: size,
            pdb_name,
            pdb_guid,
            pdb_age: pdb_age.map(i64::from),
            frames: i64::try_from(self.frames).unwrap_or(i64::MAX),
            share,
            addresses: i64::try_from(self.addresses.len()).unwrap_or(i64::MAX),
            ..ModuleSymbols::default()
        }
    }
}
