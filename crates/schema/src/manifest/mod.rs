//! Instrumentation manifests: the XML in which providers declare their events.
//!
//! Grammar: `eventman.xsd` of the Windows SDK, standard names of `winmeta.xml`. Elements and attributes are matched
//! by local name only. What circulates under the name of manifests is often regenerated from a machine and has lost
//! structures, lengths and out types on the way; layouts that show it are doubtful ([`ManifestEvent::trust`]).

mod classic;
mod document;
mod model;
mod names;
mod provider;
mod strings;
mod template;
mod tree;
mod xml;

pub use self::classic::classic_classes;
pub use self::document::Manifest;
pub use self::model::{ClassicType, ManifestEvent, OpcodeName, Provenance, ProviderSchemas, TaskName};
pub(crate) use self::names::standard_opcode;
pub(crate) use self::strings::is_name;

#[cfg(test)]
mod tests;
