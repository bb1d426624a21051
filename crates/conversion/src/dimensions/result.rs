//! What ids of a recording meant.

use spill::Spilled;

use super::paths::DosPaths;
use super::span::Span;
use super::texts::Texts;

/// What ids of a recording meant, and when: spans ordered by process where they hold within one, by id, and by time.
#[derive(Debug, Default)]
pub struct Dimensions {
    /// Of process ids.
    pub processes: Spilled<Span>,
    /// Of thread ids.
    pub threads: Spilled<Span>,
    /// Of base addresses of modules.
    pub images: Spilled<Span>,
    /// Of addresses of files' control blocks and file objects.
    pub files: Spilled<Span>,
    /// Of addresses of bodies of methods of .NET and JavaScript.
    pub methods: Spilled<Span>,
    /// The texts of all.
    pub texts: Texts,
    /// The letters of drives.
    pub paths: DosPaths,
}

impl Dimensions {
    /// A text of a span.
    pub fn text(&self, span: &Span, place: usize) -> Option<&str> {
        self.texts.get(span.text(place))
    }
}
