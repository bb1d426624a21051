//! Schema descriptions: one model, and one file per kind of source.

pub mod budget;
pub mod catalog;
pub mod declared;
pub mod describe;
pub mod event_info;
pub mod eventsource;
pub mod extend;
pub mod family;
pub mod files;
pub mod load;
pub mod lock;
pub mod manifest;
pub mod model;
pub mod numbers;
pub mod pack;
pub mod registry;
pub mod settle;
pub mod settled;
pub mod settled_layout;
pub mod source;
pub mod store;
pub(crate) mod stored;
pub(crate) mod text;
pub mod tmf;
pub mod tracelogging;
pub mod trust;
pub(crate) mod types;
pub mod used;
pub mod user;
pub mod wpp;

pub use registry::Registry;
pub use source::DecodeSource;
