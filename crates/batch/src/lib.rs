//! From what somebody names as inputs to recordings, converted several at a time.
//!
//! ```text
//! names ──► inputs ──► recordings ──► lanes ──► a trace each, or a record in quarantine
//!           folders,   files that
//!           patterns,  belong
//!           lists,     together
//!           archives
//! ```
//!
//! | module | |
//! |---|---|
//! | [`inputs`] | the traces behind files, folders, patterns, lists, members of archives and standard input |
//! | [`recordings`] | the recordings that the traces become, and their names: each file alone, all together, or those that belong together |
//! | [`lanes`] | several jobs at a time, reported in their order |
//! | [`quarantine`] | one small record for each input that could not be read as a trace |
//!
//! ```
//! use base::names::NameFrom;
//! use etl2parquet_batch::{inputs, recordings};
//! use etl::input::OpenOptions;
//!
//! let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
//! let found = inputs::find(&[examples.into()], OpenOptions::default());
//! let recordings = recordings::separate(&found.inputs, NameFrom::Stem);
//! assert_eq!(recordings.iter().map(|recording| recording.name.as_str()).collect::<Vec<_>>(), ["example"]);
//! ```

mod begin;
mod contents;
mod groups;
pub mod inputs;
pub mod lanes;
mod list;
mod passed_over;
pub mod quarantine;
pub mod recordings;

pub use begin::{probe, session_of};
