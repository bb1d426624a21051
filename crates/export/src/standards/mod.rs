//! Events in the fields of public standards: the Elastic Common Schema, and the Open Cybersecurity Schema Framework.
//!
//! ```text
//! row ──► actions (of_process, of_file, of_registry, of_network, of_dns) ──► ecs, ocsf ──► document
//!                    ▲
//! known (processes, files, keys, machines)
//! ```
//!
//! An action is what an event proves, in no standard's words; a standard is one file, which names its fields.

mod action;
mod actions;
mod document;
mod ecs;
mod keys;
mod known;
mod machines;
mod ocsf;
mod of_dns;
mod of_file;
mod of_network;
mod of_process;
mod of_registry;
mod parts;
mod processes;
mod records;
mod row;
mod standard;

pub(crate) use document::Document;
pub(crate) use row::ActionRow;
pub(crate) use standard::{Documents, Standard};
