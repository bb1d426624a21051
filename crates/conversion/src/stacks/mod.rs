//! The stacks of events: the walks that follow them, joined.
//!
//! ```text
//! what the survey took down, or buffers ──gather──► walks, keys ──resolve──► walks, by time and thread of their events
//!                                                                                │
//! events of those times ──────────────────────────match──────────────────────────┴──join──► the stack of each event
//! ```
//!
//! A walk names its event by time and thread; which event that is, is found out once, before anything is converted. So the
//! stack of an event follows from the recording alone: not from filters, partitions or threads. Whoever converts the event
//! looks it up by its place.

mod buffers;
mod gather;
mod join;
mod keys;
mod matching;
mod result;
mod sorted;
mod unjoined;
mod wanted;

pub use gather::gather;
pub use result::{BufferStacks, StackOfEvent, Stacks};
