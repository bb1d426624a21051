//! Schema descriptions: one model, and one file per kind of source.

pub mod event_info;
pub mod eventsource;
pub mod manifest;
pub mod model;
pub mod tracelogging;
pub mod pack;
pub(crate) mod text;
pub mod tmf;
pub(crate) mod types;
pub mod wpp;
