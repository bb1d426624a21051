//! What the payloads of events mean: one model, and one module for each kind of source.
//!
//! | source | module |
//! |---|---|
//! | metadata on the event | [`tracelogging`] |
//! | the manifest that an EventSource writes into the trace | [`eventsource`] |
//! | descriptions that merging tools append | [`event_info`] |
//! | instrumentation manifests, TMF files, MOF, PDBs and exported documents of the user | [`manifest`], [`tmf`], [`mof`], [`symbol_file`], [`facts`], found by [`files`], kept in the [`store`] |
//! | binaries of the user | [`wevt`], found and kept alike |
//! | what other traces said of themselves | [`harvest`] |
//! | what is built in | [`pack`] |
//! | WPP messages | [`wpp`] |
//!
//! Each becomes an [`EventSchema`](model::EventSchema). A [`Registry`] holds what a trace carries, a [`catalog`](catalog::SchemaCatalog)
//! what is known beside it; [`settled`] names and a [`lock`] say what columns and events are called in all traces.
//!
//! ```
//! use etl2parquet_schema::manifest::Manifest;
//!
//! let text = r#"<instrumentationManifest><provider name="Lab" guid="{11111111-2222-3333-4444-555555555555}">
//!   <templates><template tid="t"><data name="Count" inType="win:UInt32"/></template></templates>
//!   <events><event value="7" template="t"/></events></provider></instrumentationManifest>"#;
//! let manifest = Manifest::parse(text.as_bytes(), None).unwrap();
//! assert!(manifest.rejected.is_empty());
//! let event = &manifest.providers[0].events[0];
//! assert_eq!((event.id, event.schema.fields[0].name.as_str()), (7, "Count"));
//! ```

mod archive;
pub mod budget;
pub mod catalog;
pub mod conflict;
pub mod declared;
pub mod declared_names;
pub mod describe;
pub mod described_fields;
mod digits;
pub mod event_info;
pub mod eventsource;
pub mod extend;
pub mod facts;
pub mod family;
pub mod files;
pub mod harvest;
pub mod load;
pub mod lock;
pub mod manifest;
pub mod message;
pub mod model;
pub mod mof;
pub mod numbers;
pub mod pack;
pub mod printf;
pub mod registry;
pub mod settle;
pub mod settled;
pub mod settled_layout;
pub mod shared_serde;
pub mod source;
pub mod store;
pub mod symbol_file;
pub mod text;
pub mod tmf;
pub mod tracelogging;
pub mod trust;
pub mod types;
pub mod used;
pub mod user;
pub mod wevt;
pub mod wpp;

pub use registry::Registry;
pub use source::DecodeSource;
