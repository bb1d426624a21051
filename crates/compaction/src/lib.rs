//! Published traces, brought together: one table per provider over all of them, in few large files.
//!
//! ```text
//! members ──► bucket ────────────────────────────────────────────► compact
//! what comes  of each bucket that changes, table by table:         new files get their names,
//! and goes    columns ──► sources ──► pieces ──► files             then lake.json, then old ones go
//! ```
//!
//! A trace falls into a bucket by its name and its day, and no file has rows of two buckets: what a run writes is the files of those
//! buckets that it changes. They depend on the traces of the bucket alone. A trace that is in the lake already is read from there, so that
//! what it was converted to may be gone.

mod bucket;
mod columns;
mod compact;
mod folder;
mod members;
mod pieces;
mod place;
mod row_group;
mod sources;
mod table;

pub use compact::{Compacted, Request, compact};
pub use published::lake_manifest::By;
