//! What profiles are made of: amounts of samples or of waits, added up by process and stack, and what their frames are called.

mod amounts;
mod code;
mod process;
mod records;
mod weights;

pub(crate) use amounts::{Amount, amounts};
pub(crate) use code::{Call, Code, build_id};
pub(crate) use process::Processes;
pub(crate) use records::{Record, Records, Thread, too_many};
pub(crate) use weights::{Place, Weight, Weights};
