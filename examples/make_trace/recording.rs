//! The committed example: twelve seconds of a small shop on a machine with four CPUs.

use crate::synth::{Trace, header, trace};

pub fn example() -> Trace {
    trace(header())
}
