//! Where a trace is written: its files, the commit record, and how it is published in one step.
//!
//! ```text
//! LocalFolder ──► .etl2parquet-<name>/parts/
//!                     events/<dataset>/part-00000-00000.parquet.<attempt>.tmp   dataset::TableWriter
//!                     sidecar/manifest.json.<attempt>.tmp                 CommitRecord
//! publish     ──► trace=<name>/                                           names without the endings, one rename
//! ```
//!
//! A [`Store`] has what is published, and the small files beside it: [`LocalStore`] a folder, [`MemoryStore`] memory.
//!
//! Nothing here knows what a trace is made of, nor what Parquet is.

mod append;
pub mod clean;
pub mod errors;
pub mod folder;
pub mod interface;
mod local_change;
pub mod local_store;
pub mod manifest;
pub mod memory;
pub mod memory_store;
pub mod place;
pub mod refusal;
pub mod remote_output;
pub mod remote_store;
pub mod sink;
pub mod store;
pub mod whole_file;

pub use folder::LocalFolder;
pub use interface::{IfExists, Output, OutputFile, PlanOutput, Published, StagedFile, StagedName};
pub use local_store::LocalStore;
pub use manifest::{CommitRecord, FileEntry, options_hash};
pub use memory::MemoryOutput;
pub use memory_store::{MemoryFile, MemoryStore};
pub use remote_output::RemoteOutput;
pub use remote_store::store_at;
pub use store::{Store, StoredFile};
