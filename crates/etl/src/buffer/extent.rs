//! How far a buffer reaches, where buffers differ in size and a header may be damaged.
//!
//! A size is believed where another buffer stands behind it, or the end of the file. Where neither does, one of the
//! two headers is damaged, and other witnesses are asked: a header that stands inside, the compressed data, whose own
//! end says how long it is, and the size that uncompressed buffers of the session have.

use base::error::Result;

use super::head::{HEAD_LEN, Head};
use super::search;
use super::xpress;
use crate::input::Input;
use crate::layout::buffer::{BUFFER_HEADER_LEN, MAX_BUFFER_SIZE, MIN_BUFFER_SIZE};

/// What is known of the buffers of a file whose sizes differ.
#[derive(Debug)]
pub(super) struct Extents<'a> {
    input: &'a dyn Input,
    /// Size of the session's buffers in memory, and of uncompressed ones in the file.
    buffer_size: u32,
    /// The largest size of an expanded buffer.
    max_buffer_size: u32,
    /// Bytes that were looked at to find out how far buffers reach.
    spent: u64,
    /// How many more that could have been, and all would have been found that was.
    spare: u64,
}

/// Bytes that may be spent on finding out how far buffers reach, beside as many as the file has up to there.
const GRACE: u64 = 64 << 20;

impl<'a> Extents<'a> {
    pub(super) fn new(input: &'a dyn Input, buffer_size: u32, max_buffer_size: u32) -> Self {
        Extents { input, buffer_size, max_buffer_size, spent: 0, spare: u64::MAX }
    }

    /// Bytes that were looked at to find out how far buffers reach.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    /// How many more that could have been since [`Extents::go_on`], and all would have been found that was.
    pub(super) fn spare(&self) -> u64 {
        self.spare
    }

    /// Goes on as if so many bytes had been looked at.
    pub(super) fn go_on(&mut self, spent: u64) {
        (self.spent, self.spare) = (spent, u64::MAX);
    }

    /// Distance from a buffer to the next, no matter whether the file is that long.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn size(&mut self, head: &Head<'_>, offset: u64) -> Result<u32> {
        let stated = Some(head.header.buffer_size.get()).filter(|_| head.header.has_plausible_size());
        if let Some(size) = stated
            && self.is_end(offset, size, false)?
        {
            return Ok(size);
        }
        // A file made of headers that contradict one another is not worth more than a second look.
        let left = offset.saturating_add(GRACE).checked_sub(self.spent);
        self.spare = self.spare.min(left.unwrap_or(u64::MAX));
        let found = if left.is_some() { self.search(head, offset, stated)? } else { None };
        let left = u32::try_from(self.input.size() - offset).unwrap_or(MAX_BUFFER_SIZE).min(MAX_BUFFER_SIZE);
        Ok(found.or(stated).unwrap_or(left))
    }

    /// The size by other witnesses than the header.
    fn search(&mut self, head: &Head<'_>, offset: u64, stated: Option<u32>) -> Result<Option<u32>> {
        let from = offset + u64::from(BUFFER_HEADER_LEN);
        let to = offset.saturating_add(u64::from(stated.unwrap_or(MAX_BUFFER_SIZE))).min(self.input.size());
        let next = search::next_head(self.input, from, to)?;
        self.spent = self.spent.saturating_add(next.unwrap_or(to).saturating_sub(from));
        if let Some(next) = next {
            return Ok(u32::try_from(next - offset).ok());
        }
        match self.size_of_data(head, offset)? {
            Some(size) if self.is_end(offset, size, true)? => Ok(Some(size)),
            _ => Ok(None),
        }
    }

    /// Whether another buffer stands behind a buffer of this size, or the end of the file, or unused space where that
    /// will do.
    fn is_end(&self, offset: u64, size: u32, may_be_unused: bool) -> Result<bool> {
        let end = offset.saturating_add(u64::from(size));
        if end >= self.input.size() {
            return Ok(end == self.input.size());
        }
        let mut scratch = Vec::new();
        let bytes = self.input.bytes(end, HEAD_LEN, &mut scratch)?;
        Ok(Head::read(bytes).is_some_and(|next| next.is_certain() || may_be_unused && next.is_unused()))
    }

    /// The size that follows from what the buffer holds.
    fn size_of_data(&mut self, head: &Head<'_>, offset: u64) -> Result<Option<u32>> {
        if !head.header.is_compressed() {
            // The header event may be damaged, too, and a buffer without bytes would be followed by itself.
            let is_possible = (MIN_BUFFER_SIZE..=MAX_BUFFER_SIZE).contains(&self.buffer_size);
            return Ok(is_possible.then_some(self.buffer_size));
        }
        let wanted = head.header.filled_bytes.get().saturating_sub(BUFFER_HEADER_LEN);
        if wanted == 0 || head.header.filled_bytes.get() > self.max_buffer_size {
            return Ok(None);
        }
        // Bytes that cannot be compressed grow by an eighth, for the flags.
        let most = wanted as usize + wanted as usize / 8 + 64;
        let mut scratch = Vec::new();
        let stored = self.input.bytes(offset + u64::from(BUFFER_HEADER_LEN), most, &mut scratch)?;
        self.spent = self.spent.saturating_add(stored.len() as u64 + u64::from(wanted));
        let expansion = xpress::expand(stored, &mut vec![0; wanted as usize]);
        let consumed = u32::try_from(expansion.consumed).ok().filter(|_| expansion.result.is_ok());
        Ok(consumed.and_then(|consumed| consumed.checked_add(BUFFER_HEADER_LEN)))
    }
}
