//! The built-in schema pack: what was gathered about Windows' providers and the kernel's classic event classes.
//!
//! The texts of `schemas/` (see the README there for format, origins and licences) are in the binary, compressed, with
//! a sorted index in front. Nothing is expanded before it is asked for: names cost a binary search, a provider costs
//! the expansion of the frame it stands in (once) and the reading of its own section (once).

mod builtin;
mod cell;
mod codes;
mod fields;
mod kernel;
mod layouts;
mod messages;
mod recurring;
pub mod text;

pub use self::builtin::Pack;
pub use self::cell::{meanings, wire_types};
pub use self::codes::CodeTable;
pub use self::fields::{EventFacts, FieldFact};
pub use self::kernel::{IMAGE_LOAD_HOOK, KernelClass, standard_type};
pub use self::layouts::{ClassPack, PackLayout, ProviderPack};
