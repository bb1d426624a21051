//! Symbols beside published traces: the functions that the frames of their stacks lie in.
//!
//! ```text
//! OUT/trace=…/            what was recorded, which no look-up changes
//! OUT/symbols/modules.parquet                   modules that frames lie in, and what became of the search
//! OUT/symbols/pdb/<GUID><age>.parquet           addresses of a module, shared by all traces
//! OUT/symbols/frames/<trace>.parquet            the view `frames` of a trace, where it is asked for
//! OUT/symbols/lines/<trace>.parquet             lines of addresses in methods of .NET, where they are asked for
//! traces ─► wanted ─► fetch, from servers ─┬► search ─► tables ─► frame rows ─► frame table
//!                                          └► managed ─► line table ─┘
//! ```
//!
//! [`messages`] looks for the formats of WPP messages in the same symbol files.
//!
//! A module is known by the GUID and the age of its symbol file, or by the time stamp and the size of its own file; never by a
//! name or a path.

mod fetch;
mod frame_rows;
mod frame_table;
mod line_table;
mod managed;
mod messages;
mod named;
mod rows;
mod search;
mod tables;
mod trace_table;
mod wanted;

pub use frame_table::FrameTable;
pub use messages::{MessageId, MessageSearch, messages};
pub use named::{StoredCode, StoredNames};
pub use rows::{ModuleSymbols, NOT_ASKED, id_of};
pub use search::{Resolved, resolve, symbol_path};
pub use tables::root_of;
pub use wanted::Asked;
