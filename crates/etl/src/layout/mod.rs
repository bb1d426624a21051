//! Structures as they lie on disk: plain data, no behaviour beyond naming their bits.

pub mod buffer;
pub mod extended;
pub mod header;
pub mod kernel;
pub mod logfile;
