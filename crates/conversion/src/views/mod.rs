//! SQL views over published traces, for DuckDB and for Spark: a view per dataset and per event, and the answers.
//!
//! The answers are the files in `sql/`, one each, in the SQL that both engines share. A table stands there as
//! `{{dataset [events]: column TYPE, …}}`, so that each file says itself what it needs, and so do the questions that a trace
//! can answer. What the traces lack becomes a typed NULL or an empty select: every view binds and runs whatever a trace holds.

mod answers;
mod dialect;
mod emptiness;
mod events;
mod functions;
mod lake;
mod meanings;
mod message;
mod message_value;
mod messages;
mod naming;
mod questions;
mod script;
mod source;
mod statements;
mod stored;
mod template;

pub use dialect::{Dialect, Traces};
pub use events::Events;
pub use functions::drop_reason_name;
pub use lake::{Lake, LakeTable};
pub use meanings::{Meaning, ViewColumn, ViewMeaning, common_meaning, view_meanings};
pub use message::{MessageField, MessageKey, Messages};
pub use messages::are_asked as messages_are_asked;
pub use naming::view_of as view_name;
pub use questions::{Evidence, QUESTIONS, Question, to_record};
pub use script::{Extent, Script};
pub use source::{common, is_asked};
pub use statements::Statements;
