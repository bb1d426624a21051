//! Buffers: where they lie in a file, and the event bytes they hold.

pub mod content;
mod extent;
mod filler;
pub mod guess;
mod head;
mod large;
pub mod scan;
mod search;
pub mod stride;
pub mod xpress;
