//! Reads back events that the survey remembers.

use super::file::FileSurvey;
use super::tally::OrderKey;
use crate::buffer::content::{self, Scratch};
use crate::error::Result;
use crate::event::RawEvent;

/// Visits the events at the given keys in file order, with the index of each key. Every buffer is read once.
///
/// # Errors
/// When the file cannot be read.
pub fn recall(file: &FileSurvey, keys: &[OrderKey], mut visit: impl FnMut(usize, &RawEvent<'_>)) -> Result<()> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|&index| (keys[index].ordinal, keys[index].offset));
    let mut scratch = Scratch::default();
    for group in order.chunk_by(|&a, &b| keys[a].ordinal == keys[b].ordinal) {
        let ordinal = keys[group[0]].ordinal;
        let Ok(at) = file.buffers.binary_search_by_key(&ordinal, |record| record.frame.ordinal) else { continue };
        let ground = file.ground();
        let content = content::read(ground.source, &file.buffers[at].frame, ground.max_expanded, &mut scratch)?;
        for &index in group {
            let offset = keys[index].offset;
            let bytes = content.bytes.get(offset as usize..).unwrap_or_default();
            if let Some(raw) = RawEvent::at(bytes, offset) {
                visit(index, &raw);
            }
        }
    }
    Ok(())
}
