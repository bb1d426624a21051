//! Paths of many spans, each as people know it.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};

use super::result::Dimensions;
use super::span::Span;
use super::texts::TextId;

/// Paths that are kept.
const MOST: usize = 1 << 16;

/// Bytes of paths that are kept.
const MOST_BYTES: usize = 8 << 20;

/// Paths with the letters of their drives, by machine and text: those that differ from how they were recorded, the first so many. Most
/// texts are the paths of many modules.
#[derive(Clone, Debug, Default)]
pub struct ShownPaths(HashMap<(u16, TextId), String>);

impl ShownPaths {
    /// Of the paths of some spans, which stand in a place of theirs.
    pub fn of(dimensions: &Dimensions, spans: &[Span], place: usize) -> Self {
        let Dimensions { paths, texts, .. } = dimensions;
        let (mut shown, mut seen, mut bytes) = (HashMap::new(), HashSet::new(), 0);
        for span in spans.iter().filter(|span| paths.has_drives(span.machine)) {
            if seen.len() >= MOST || bytes >= MOST_BYTES {
                break;
            }
            let id = (span.machine, span.text(place));
            if seen.insert(id)
                && let Some(Cow::Owned(path)) = texts.get(id.1).map(|path| paths.path(id.0, path))
            {
                bytes += path.len();
                shown.insert(id, path);
            }
        }
        ShownPaths(shown)
    }

    /// The path of a span, if it has one.
    pub fn get<'a>(&'a self, dimensions: &'a Dimensions, span: &Span, place: usize) -> Option<Cow<'a, str>> {
        if let Some(shown) = self.0.get(&(span.machine, span.text(place))) {
            return Some(Cow::Borrowed(shown));
        }
        dimensions.text(span, place).map(|path| dimensions.paths.path(span.machine, path))
    }
}

#[cfg(test)]
mod tests {
    use spill::SpillSpace;

    use super::super::paths::DosPaths;
    use super::super::texts::TextWriter;
    use super::*;

    #[test]
    fn paths_are_shown_whether_they_are_kept_or_not() {
        let mut texts = TextWriter::new(&SpillSpace::temporary());
        let ids = [r"\Device\Disk1\a.dll", "other"].map(|path| texts.add(path.as_bytes()).unwrap());
        let volume = (0, (r"\Device\Disk1".to_owned(), "C:".to_owned()));
        let paths = DosPaths::new([volume].into_iter());
        let dimensions = Dimensions { texts: texts.finish().unwrap(), paths, ..Dimensions::default() };
        let span = |machine, id| {
            let mut span = Span::begin((0, 0, machine), 0, 0);
            span.texts[1] = id;
            span
        };
        let spans = [span(0, ids[0]), span(0, ids[1]), span(1, ids[0]), span(0, 0)];
        let expected = [Some(r"C:\a.dll"), Some("other"), Some(r"\Device\Disk1\a.dll"), None];
        for shown in [ShownPaths::of(&dimensions, &spans, 1), ShownPaths::default()] {
            assert_eq!(
                spans.each_ref().map(|span| shown.get(&dimensions, span, 1)),
                expected.map(|path| path.map(Cow::from))
            );
        }
        assert_eq!(ShownPaths::of(&dimensions, &spans, 1).0.len(), 1);
    }
}
