//! What is known of every file of a recording once all of them are surveyed.
//!
//! Checks, sidecar, manifest, summary and `inspect` tell the same values, because there are no others.

mod clock;
mod file;
mod session;

pub use clock::ClockFacts;
pub use file::FileFacts;
pub use session::SessionFacts;
