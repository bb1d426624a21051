//! The targets, room by room: functions that take bytes and stop where an oracle is contradicted.

pub mod binaries;
pub mod buffers;
mod codes;
pub mod containers;
pub mod decode;
pub mod lake;
pub mod loss;
pub mod report;
pub mod schemas;
pub mod stored;
pub mod symbols;
pub mod traces;
pub mod values;
pub mod xpress;
