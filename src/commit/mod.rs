//! From converted partitions to a published trace: checks, sidecar, commit record, one rename.

pub mod checks;
pub mod record;
