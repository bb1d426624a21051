//! From converted partitions to a published trace: checks, sidecar, commit record, one rename.

pub mod account;
pub mod checks;
mod finish;
pub mod lock_file;
pub mod record;
pub mod report;

pub use finish::{Commit, Finished};
