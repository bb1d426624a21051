//! What ids meant, and when: processes, threads, modules, files, .NET methods.
//!
//! ```text
//! surveyed buffers that describe subjects ──gather──► facts ──fold, by id and in order──► spans ──► sidecar
//!        plan: schema per shape ──► readers ─┤                                           └► whose an event is
//! events that become rows, in order ─────────┴──late──► facts ──fold, as they come──► spans of modules, files, methods
//! ```
//!
//! Rows depend on processes and threads, which are gathered before them. Where every event becomes a row, what else there is is
//! gathered with the rows; where a filter leaves events out, or others make the rows, before them. Both ways lead to
//! the same spans.
//!
//! Ids are reused, so that times decide, never ids alone. Everything follows from the recording: not from filters,
//! partitions or threads.

mod attributes;
mod attributor;
mod fact;
mod fold;
mod gather;
mod late;
mod local_texts;
mod owners;
mod paths;
mod reader;
mod result;
mod shown_paths;
mod span;
mod texts;

pub use attributes::{file, image, method, process, thread};
pub use attributor::Attributor;
pub use gather::gather;
pub use late::{BEFORE_ROWS, LateDimensions, LateFacts, TakesFacts, can_come_late};
pub use owners::Owners;
pub use paths::{DosPaths, file_name};
pub use reader::{DescribedFacts, Readers};
pub use result::Dimensions;
pub use shown_paths::ShownPaths;
pub use span::Span;
pub use texts::{TextId, Texts};
