//! Whether published traces are still what was published: the manifest against the files, the rows against the manifest
//! and the sidecar, and the schemas of all traces against one another; the frames beside traces against these.

mod all;
mod beside;
mod content;
mod files;
mod finding;
mod lake;
mod manifest;
mod rows;
mod run;
mod slots;

pub use all::verify_all;
pub use files::check_file;
pub use finding::{Finding, FindingKind};
pub use run::{Document, Verified, verify};
