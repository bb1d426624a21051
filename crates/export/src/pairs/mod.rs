//! What took time, from the event that begins it to the one that ends it: activities, and operations on files.

mod activities;
mod files;
mod marks;
mod texts;

pub(crate) use activities::activities;
pub(crate) use files::file_operations;
pub(crate) use marks::Mark;
