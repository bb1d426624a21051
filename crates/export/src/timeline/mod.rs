//! Timelines: a line for each event, as Timesketch imports them and as people sort and search them.

mod entry;
mod lines;
mod message;
mod write;

pub(crate) use lines::Form;
pub(crate) use write::timeline;
