//! The events that binaries declare: what the compiler of manifests puts into a program's resources.
//!
//! A manifest ends up in two of them: `WEVT_TEMPLATE` has providers, events, layouts and names (`CRIM`, one `WEVT` for each
//! provider, in it one list for each kind of element), the message table has all texts, by numbers. Of a program both are
//! taken out as an [`Extract`], and that is read as the manifest that it was made of, into the same model. What the compiler
//! leaves out is left out here: symbols of events and names of templates.
//!
//! Layout: observed in programs of .NET, Node.js, the DirectX compiler and Direct3D 12; numbers are little-endian, offsets
//! count from the beginning of the resource.

mod beside;
mod binary;
mod channels;
mod events;
mod extract;
mod item;
mod keywords;
mod language;
mod levels;
mod maps;
mod messages;
mod names;
mod opcodes;
mod provider;
mod reader;
mod resource;
mod tasks;
mod template;
mod traits;

pub use self::binary::{Binary, WITHOUT_EVENTS};
pub use self::extract::{Extract, Part, PartType};
pub use self::messages::MessageTable;
pub use self::resource::parse;
