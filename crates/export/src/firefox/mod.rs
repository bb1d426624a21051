//! Processed profiles of the Firefox Profiler.
//!
//! ```text
//! chosen: which processes ──► write ──► threads, frames (libraries), markers (kinds) ◄── events
//!                                    └──► processor (usage), heaps
//! ```

mod chosen;
mod events;
mod frames;
mod heaps;
mod kinds;
mod markers;
mod processor;
mod threads;
mod usage;
mod write;

pub(crate) use write::firefox;
