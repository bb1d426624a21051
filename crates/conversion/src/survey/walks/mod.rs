//! What a recording says of stacks, taken down as its buffers are walked: walks, their keys, and the events that walks can be of.
//!
//! ```text
//! events of a buffer ──taker──► what some buffers say ──log, in file order──► walks, keys, events by buffer
//! ```
//!
//! The survey does so where the rows of all events are asked for; else whoever joins walks reads the buffers that matter. What the
//! survey takes down is bounded: from the first buffer on for which there is no room, buffers are read again.

mod found;
mod lists;
mod log;
mod place;
mod records;
mod taker;

pub use found::FoundWalks;
pub use lists::{Added, AddressList, ListWriter, Lists, MAX_ADDRESSES, MAX_OF_EVENT};
pub use log::{RecordedWalks, WalkLog, WalkedEvents};
pub use place::EventPlace;
pub use records::{Definition, MAX_KEPT, NO_PROCESS, Walk, WalkPart, WalkedEvent};
pub use taker::{WalkRoom, WalkTaker};
