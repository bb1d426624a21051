//! What profiles are made of: amounts of samples or of waits, added up by process and stack, and what their frames are called.

mod amounts;
mod code;
mod process;
mod weights;

pub(crate) use amounts::{Amount, amounts};
pub(crate) use code::{Call, Code};
pub(crate) use process::{Process, Processes};
pub(crate) use weights::{Place, Weights};
