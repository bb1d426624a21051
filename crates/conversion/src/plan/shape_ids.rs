//! The numbers of event shapes.

use base::error::{Error, ErrorCode, ErrorKind, Result};
use etl::event::{FileContext, NewShape, RawEvent, RecentShapes, Shape, ShapeRef};
use hashbrown::HashMap;

/// The numbers of shapes.
#[derive(Clone, Debug, Default)]
pub struct ShapeIds(HashMap<Shape, u32>);

/// Finds the number of an event's shape, fast where one like it was found before. One thread has it.
#[derive(Debug)]
pub struct ShapeFinder<'a> {
    ids: &'a ShapeIds,
    recent: RecentShapes,
}

impl ShapeIds {
    /// Numbers shapes in their order.
    pub fn new<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Self {
        ShapeIds(shapes.cloned().zip(0..).collect())
    }

    fn find(&self, raw: &RawEvent<'_>, context: &FileContext) -> Result<u32> {
        let shape = ShapeRef::of(raw, context);
        let number = self.0.get(&shape).or_else(|| self.0.get(&ShapeRef::rest(shape.identity.family)));
        number.copied().ok_or_else(|| {
            Error::new(ErrorKind::Internal, "found an event that the survey did not see")
                .with_code(ErrorCode::InputChanged)
                .with_hint("the input must not change while it is read")
        })
    }
}

impl<'a> ShapeFinder<'a> {
    /// Finds the numbers of these shapes.
    pub fn new(ids: &'a ShapeIds) -> Self {
        ShapeFinder { ids, recent: RecentShapes::default() }
    }

    /// The number of an event's shape, or of what stands for the events of its header family that are not distinguished.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when it has none, as when the input has changed since the survey.
    #[inline]
    pub fn find(&mut self, raw: &RawEvent<'_>, context: &FileContext) -> Result<u32> {
        match self.recent.find(raw, context) {
            Ok(number) => Ok(number),
            Err(shape) => self.find_new(raw, context, &shape),
        }
    }

    #[cold]
    fn find_new(&mut self, raw: &RawEvent<'_>, context: &FileContext, shape: &NewShape<'_>) -> Result<u32> {
        let number = self.ids.find(raw, context)?;
        self.recent.remember(shape, number);
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use etl::layout::header::HeaderFamily;

    use super::*;

    const FILE: FileContext = FileContext { pointer_size: 8, private_session: false };

    /// An event header with an id, and with metadata behind it where there is some.
    fn event(id: u16, metadata: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 80];
        bytes[40..42].copy_from_slice(&id.to_le_bytes());
        if !metadata.is_empty() {
            bytes[4] = 1;
            let size = u16::try_from(metadata.len()).unwrap();
            bytes.extend([(size + 8).to_le_bytes(), [11, 0], [0, 0], size.to_le_bytes()].concat());
            bytes.extend_from_slice(metadata);
        }
        bytes
    }

    fn raw(bytes: &[u8]) -> RawEvent<'_> {
        RawEvent { offset: 0, family: HeaderFamily::Event64, bytes }
    }

    #[test]
    fn a_shape_is_found_again_among_many() {
        let long = vec![7; 1025];
        let metadata = |id: u16| match id % 4 {
            0 => vec![1; usize::from(id / 4 % 40)],
            1 => vec![u8::try_from(id % 251).unwrap(); 30],
            2 if id == 2 => long.clone(),
            _ => Vec::new(),
        };
        let events: Vec<_> = (0..4000).map(|id| event(id, &metadata(id))).collect();
        let shapes: Vec<_> = events.iter().map(|bytes| ShapeRef::of(&raw(bytes), &FILE).to_key()).collect();
        let ids = ShapeIds::new(shapes.iter());
        let mut finder = ShapeFinder::new(&ids);
        for step in [1, 7, 1] {
            for (number, bytes) in (0..).zip(&events).step_by(step) {
                for _ in 0..2 {
                    assert_eq!(finder.find(&raw(bytes), &FILE).unwrap(), number);
                }
            }
        }
    }

    #[test]
    fn shapes_that_differ_in_metadata_alone_are_distinguished() {
        let events = [event(1, &[]), event(1, b"abcdefgh"), event(1, b"abcdefgi"), event(1, b"abcdefghi")];
        let shapes: Vec<_> = events.iter().map(|bytes| ShapeRef::of(&raw(bytes), &FILE).to_key()).collect();
        let ids = ShapeIds::new(shapes.iter());
        let mut finder = ShapeFinder::new(&ids);
        for _ in 0..2 {
            let found: Vec<_> = events.iter().map(|bytes| finder.find(&raw(bytes), &FILE).unwrap()).collect();
            assert_eq!(found, [0, 1, 2, 3]);
        }
        let other = event(2, &[]);
        assert_eq!(finder.find(&raw(&other), &FILE).unwrap_err().kind(), ErrorKind::Internal);
    }

    #[test]
    fn what_is_not_distinguished_has_one_number() {
        let rest = Shape::rest(HeaderFamily::Event64);
        let ids = ShapeIds::new([rest].iter());
        let mut finder = ShapeFinder::new(&ids);
        for id in [1, 2, 1] {
            assert_eq!(finder.find(&raw(&event(id, &[])), &FILE).unwrap(), 0);
        }
    }
}
