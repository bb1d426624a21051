//! A run over many recordings: from what somebody names as inputs to a summary of what became of each.
//!
//! ```text
//! names ──► inputs ──► recordings ──► converter ──► outcomes ──► summary, exit code
//!           folders,   files that     several at    a trace each,
//!           patterns,  belong         a time        or a record in
//!           lists,     together                     quarantine
//!           archives
//! ```
//!
//! [`Batch`] is the run. An [`Observer`] hears what it says, and a [`Converter`] does the work, so that the command line and
//! other programs run the same, each with its own display.
//!
//! | module | |
//! |---|---|
//! | [`inputs`] | the traces behind files, folders, patterns, lists, members of archives and standard input |
//! | [`recordings`] | the recordings that the traces become, and their names: each file alone, all together, or those that belong together |
//! | [`lanes`] | several jobs at a time, reported in their order |
//! | [`quarantine`] | one small record for each input that could not be read as a trace |
//! | [`schemas`] | those that somebody names, those that lie beside the traces, those of the store |
//! | [`keywords`] | options as keyword arguments, for Python and SQL |
//! | [`known`], [`stored`], [`harvest`] | what is known of the payloads of events, as documents; the schema store, and what traces give it |
//! | [`notice`] | what a run says while it goes on |
//! | [`summary`], [`datasets`], [`undecoded`] | what became of each trace, as a document; what traces have together |
//! | [`status`] | exit codes: of all that went wrong, the gravest |
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

mod asked;
mod begin;
mod caught;
mod contents;
pub mod datasets;
mod groups;
pub mod harvest;
mod input_ends;
pub mod inputs;
pub mod keywords;
pub mod known;
pub mod lanes;
mod list;
mod metrics;
mod missing;
pub mod notice;
mod observer;
mod one;
pub mod options;
mod outcomes;
mod passed_over;
pub mod quarantine;
pub mod recordings;
mod remote_inputs;
mod run;
mod run_facts;
pub mod schemas;
mod select;
pub mod status;
pub mod stored;
pub mod summary;
pub mod undecoded;
mod warnings;

pub use asked::Asked;
pub use begin::{probe, session_of};
pub use caught::caught;
pub use input_ends::InputEnd;
pub use metrics::exposition;
pub use observer::{Converter, Observer};
pub use one::{not_one, one_trace};
pub use options::{BatchOptions, OnBadInput};
pub use outcomes::Outcomes;
pub use run::{Batch, Inputs, extend_lock, open_by};
pub use run_facts::{FORMAT_VERSION, RunFacts};
pub use status::RunStatus;
