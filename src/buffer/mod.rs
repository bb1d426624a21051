//! Buffers: where they lie in a file, and the event bytes they hold.

pub mod chain;
pub mod content;
mod large;
pub mod xpress;
