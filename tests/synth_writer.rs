//! The trace writer against bytes worked out by hand from the format description.

mod synth;
