//! Reads single events again that the survey has seen.

use super::file::FileSurvey;
use super::tally::OrderKey;
use crate::buffer::content::{self, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::event::RawEvent;

/// Visits the events at the given places in file order, each with the index of its key. A buffer is read and
/// expanded once, however many of its events are wanted; of a key only the buffer and the offset count.
///
/// # Errors
/// When the file cannot be read; [`ErrorKind::Internal`] when there is no event at such a place, as when the file
/// has changed since the survey.
pub fn recall(file: &FileSurvey, keys: &[OrderKey], mut visit: impl FnMut(usize, &RawEvent<'_>)) -> Result<()> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|&index| (keys[index].ordinal, keys[index].offset, index));
    let ground = file.ground();
    let mut scratch = Scratch::default();
    for group in order.chunk_by(|&a, &b| keys[a].ordinal == keys[b].ordinal) {
        let ordinal = keys[group[0]].ordinal;
        let gone = || no_event(file, ordinal);
        let frame = &file.buffer(ordinal).ok_or_else(gone)?.frame;
        let content = content::read(ground.source, frame, ground.max_expanded, &mut scratch)?;
        for &index in group {
            let offset = keys[index].offset;
            let bytes = content.bytes.get(offset as usize..).ok_or_else(gone)?;
            visit(index, &RawEvent::at(bytes, offset).ok_or_else(gone)?);
        }
    }
    Ok(())
}

fn no_event(file: &FileSurvey, ordinal: u64) -> Error {
    Error::new(ErrorKind::Internal, "an event that was there before is gone")
        .in_file(file.source.path())
        .in_buffer(ordinal)
        .with_hint("the file must not change while it is converted")
}
