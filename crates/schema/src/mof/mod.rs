//! MOF text: classes of classic events as providers registered them before there were manifests.
//!
//! ```text
//! [Dynamic, Guid("{…}")]                                class Lab : EventTrace {};      the provider
//! [Dynamic, Guid("{…}"), EventVersion(1)]               class Work : Lab {};            a class of events
//! [Dynamic, EventType{1, 2}, EventTypeName{"Go", "End"}] class Work_Types : Work        events, by opcode
//! {
//!     [WmiDataId(1), pointer, read] uint32 Handle;
//!     [WmiDataId(2), format("w"), StringTermination("NullTerminated"), read] string Name;
//! };
//! ```
//!
//! Facts: "Event Tracing MOF Qualifiers" of Microsoft Learn,
//! <https://learn.microsoft.com/windows/win32/etw/event-tracing-mof-qualifiers>; syntax: DSP0004 of the DMTF, annex A.

mod classes;
mod faults;
mod field;
mod maps;
mod qualifiers;
mod syntax;
mod tokens;

#[cfg(test)]
mod tests;

pub use classes::Mof;
pub use syntax::is_mof;
