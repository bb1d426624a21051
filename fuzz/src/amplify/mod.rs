//! The amplification oracle: what a block of a trace costs where there are 1, 2, 4, 8 and 16 times as many of it.
//!
//! A parser that holds against every single input can still be made to take gigabytes: by something small that is there
//! often, and costs more than its bytes each time. So a block (a description, a provider, a buffer, a damaged spot, …) is
//! repeated, and memory and work of whole conversions with the smallest budget are held against the bytes that were added.

mod blocks;
mod judge;
mod measure;
mod sources;

pub use blocks::{BLOCKS, Block, Made};
pub use judge::{Fault, judge};
pub use measure::{Plant, Taken, measure};
