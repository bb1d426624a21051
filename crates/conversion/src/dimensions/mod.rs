//! What ids meant, and when: processes, threads, modules, files, .NET methods.
//!
//! ```text
//! surveyed buffers that describe subjects ──gather──► facts ──fold, by id and in order──► spans ──► sidecar
//!        plan: schema per shape ──► readers ─┘                                           └► whose an event is
//! ```
//!
//! Ids are reused, so that times decide, never ids alone. Everything follows from the recording: not from filters,
//! partitions or threads.

mod attributes;
mod attributor;
mod fact;
mod fold;
mod gather;
mod owners;
mod paths;
mod reader;
mod result;
mod span;
mod texts;

pub use attributes::{file, image, method, process, thread};
pub use attributor::Attributor;
pub use gather::gather;
pub use owners::Owners;
pub use paths::{DosPaths, file_name};
pub use result::Dimensions;
pub use span::Span;
pub use texts::{TextId, Texts};
