//! Processed profiles of the Firefox Profiler.
//!
//! ```text
//! chosen: which processes ──► write ──► threads, frames (libraries), markers (kinds) ◄── events
//! ```

mod chosen;
mod events;
mod frames;
mod kinds;
mod markers;
mod threads;
mod write;

pub(crate) use write::firefox;
