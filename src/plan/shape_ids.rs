//! The numbers of event shapes.

use hashbrown::HashMap;

use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::event::{FileContext, RawEvent, Shape, ShapeRef};

/// Finds the number of an event's shape.
#[derive(Clone, Debug, Default)]
pub struct ShapeIds(HashMap<Shape, u32>);

impl ShapeIds {
    /// Numbers shapes in their order.
    pub fn new<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Self {
        ShapeIds(shapes.cloned().zip(0..).collect())
    }

    /// The number of an event's shape, or of what stands for the events of its header family that are not told apart.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when it has none, as when the input has changed since the survey.
    #[inline]
    pub fn find(&self, raw: &RawEvent<'_>, context: &FileContext) -> Result<u32> {
        let shape = ShapeRef::of(raw, context);
        let number = self.0.get(&shape).or_else(|| self.0.get(&ShapeRef::rest(shape.identity.family)));
        number.copied().ok_or_else(|| {
            Error::new(ErrorKind::Internal, "found an event that the survey did not see")
                .with_code(ErrorCode::InputChanged)
                .with_hint("the input must not change while it is read")
        })
    }
}
