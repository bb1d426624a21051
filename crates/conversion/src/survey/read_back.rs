//! Reads single events again that the survey has seen.

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::content::Scratch;
use etl::event::RawEvent;
use etl::input::Input;
use etl::reader::BufferReader;
use rayon::prelude::*;

use super::file_key::FileKey;
use super::result::FileSurvey;

/// Buffers that are read side by side before what was made of their events is handed over.
const TOGETHER: usize = 256;

/// Bytes that these buffers may have together: all of that can be payloads.
pub const READ_BACK_BYTES: usize = 32 << 20;

/// Bytes of an uncompressed buffer for each event of which this event alone is read: to read more in one go costs less than to read
/// many events one by one.
const ALONE_BYTES: usize = 8 << 10;

/// Visits the events at the given places in file order, each with the index of its key. A buffer is expanded once, however many of
/// its events are wanted, and of one that is not compressed a few events are read alone; of a key only the buffer and the offset
/// count.
///
/// # Errors
/// When the file cannot be read; [`ErrorKind::Internal`] when there is no event at such a place, as when the file
/// has changed since the survey; [`ErrorKind::Interrupted`] when the caller asked to stop.
pub fn read_back(
    file: &FileSurvey,
    input: &dyn Input,
    keys: &[FileKey],
    progress: &dyn Progress,
    mut visit: impl FnMut(usize, &RawEvent<'_>),
) -> Result<()> {
    let reader = BufferReader { rules: file.rules(), input };
    let mut scratch = Scratch::default();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(place(keys));
    order.chunk_by(same_buffer(keys)).try_for_each(|buffer| {
        stop_if_cancelled(progress)?;
        visit_buffer(file, reader, keys, buffer, &mut scratch, &mut visit)
    })
}

/// Like [`read_back`], but buffers are read side by side on the current pool: `read` makes something of every event, and
/// `take` gets it in file order, before the next buffers are read.
///
/// # Errors
/// Those of [`read_back`].
pub fn read_back_parallel<T: Send>(
    file: &FileSurvey,
    input: &dyn Input,
    keys: &[FileKey],
    progress: &dyn Progress,
    read: impl Fn(&RawEvent<'_>) -> T + Sync,
    mut take: impl FnMut(usize, T),
) -> Result<()> {
    let reader = BufferReader { rules: file.rules(), input };
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.par_sort_unstable_by_key(place(keys));
    let buffers: Vec<&[usize]> = order.chunk_by(same_buffer(keys)).collect();
    let largest = usize::try_from(reader.rules.max_buffer_size).unwrap_or(usize::MAX).max(1);
    for together in buffers.chunks((READ_BACK_BYTES / largest).clamp(1, TOGETHER)) {
        stop_if_cancelled(progress)?;
        let events = together.par_iter().map_init(Scratch::default, |scratch, buffer| {
            let mut events = Vec::with_capacity(buffer.len());
            let visit = |index, event: &RawEvent<'_>| events.push((index, read(event)));
            timed(progress, Step::Schema, || visit_buffer(file, reader, keys, buffer, scratch, visit))?;
            Ok(events)
        });
        let events: Vec<Vec<(usize, T)>> = events.collect::<Result<_>>()?;
        timed(progress, Step::Plan, || events.into_iter().flatten().for_each(|(index, made)| take(index, made)));
    }
    Ok(())
}

/// Where in the file the event of a key with this index lies; the index distinguishes equal keys.
fn place(keys: &[FileKey]) -> impl Fn(&usize) -> (u64, u32, usize) {
    |&index| (keys[index].ordinal, keys[index].offset, index)
}

fn same_buffer(keys: &[FileKey]) -> impl Fn(&usize, &usize) -> bool {
    |&a, &b| keys[a].ordinal == keys[b].ordinal
}

/// Visits events of one buffer.
fn visit_buffer(
    file: &FileSurvey,
    reader: BufferReader<'_>,
    keys: &[FileKey],
    indices: &[usize],
    scratch: &mut Scratch,
    mut visit: impl FnMut(usize, &RawEvent<'_>),
) -> Result<()> {
    let ordinal = keys[indices[0]].ordinal;
    let gone = || no_event(file, ordinal);
    let extent = &file.buffer(ordinal).ok_or_else(gone)?.extent;
    if !extent.is_compressed() && indices.len() <= extent.stored_len as usize / ALONE_BYTES {
        return indices.iter().try_for_each(|&index| {
            let event = reader.event(extent, keys[index].offset, scratch)?;
            visit(index, &event.ok_or_else(gone)?);
            Ok(())
        });
    }
    let content = reader.content(extent, scratch)?;
    for &index in indices {
        let offset = keys[index].offset;
        let bytes = content.bytes().get(offset as usize..).ok_or_else(gone)?;
        visit(index, &RawEvent::at(bytes, offset).ok_or_else(gone)?);
    }
    Ok(())
}

fn no_event(file: &FileSurvey, ordinal: u64) -> Error {
    Error::new(ErrorKind::Internal, "an event that was there before is gone")
        .with_code(ErrorCode::InputChanged)
        .in_file(&file.identity.source)
        .in_buffer(ordinal)
        .with_hint("the file must not change while it is converted")
}
