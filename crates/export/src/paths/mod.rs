//! What ids meant, and when: the paths of files by their keys.

mod files;
mod spans;

pub(crate) use files::paths;
pub(crate) use spans::{MOST_TEXT, Spans};
