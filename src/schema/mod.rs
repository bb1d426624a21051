//! Schema descriptions: one model, and one file per kind of source.

pub mod model;
pub mod tracelogging;
pub mod pack;
