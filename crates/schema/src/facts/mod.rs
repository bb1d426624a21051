//! The documents of `schema export`, read back: providers with their events, classes, and WPP messages (`docs/schemas.md`).
//!
//! What a document has of an event or a message and that cannot be used is rejected alone; the rest stands. Text that is no JSON, or no
//! such document, is refused as a whole.

mod document;
mod events;
mod fields;
mod messages;
mod provider;

pub use self::document::{Facts, is_facts};

#[cfg(test)]
mod tests;
