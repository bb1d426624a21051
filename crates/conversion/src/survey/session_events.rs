//! Events of the session's own that the survey reads whole: what was enabled, and when events were dropped.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::Progress;
use etl::event::{Event, FileContext, RawEvent};
use etl::input::Input;
use etl::layout::buffer::MAX_PROCESSORS;

use super::file_key::FileKey;
use super::marked::Mark;
use super::read_back::read_back;
use super::result::FileSurvey;

/// Adds what the session's own events record to the survey of their file.
///
/// # Errors
/// When the file cannot be read or has changed since the survey, and when the caller asked to stop.
pub(super) fn read(file: &mut FileSurvey, input: &dyn Input, progress: &dyn Progress) -> Result<()> {
    file.group_masks = group_masks(file, input, progress)?;
    file.last_dropped = last_dropped(file, input, progress)?;
    Ok(())
}

/// Where the events with this mark lie.
fn keys(file: &FileSurvey, mark: Mark) -> impl Iterator<Item = FileKey> + '_ {
    file.marked.iter().filter(move |marked| marked.mark == mark).map(|marked| marked.at)
}

/// The eight masks of the first event that holds them: hook 0005, or 0020 at the end of a session.
fn group_masks(file: &FileSurvey, input: &dyn Input, progress: &dyn Progress) -> Result<Option<[u32; 8]>> {
    let first: Vec<FileKey> = keys(file, Mark::Session).take(1).collect();
    let context = file.rules().context;
    let mut masks = None;
    read_back(file, input, &first, progress, |_, event| {
        let payload = Event::of(event, &context).payload;
        masks = payload.first_chunk().map(|masks: &[u8; 32]| {
            let masks: &[[u8; 4]; 8] = zerocopy::transmute_ref!(masks);
            masks.map(u32::from_le_bytes)
        });
    })?;
    Ok(masks)
}

/// Per processor when its last event was dropped, in ticks.
fn last_dropped(file: &FileSurvey, input: &dyn Input, progress: &dyn Progress) -> Result<BTreeMap<u16, i64>> {
    let keys: Vec<FileKey> = keys(file, Mark::Dropped).collect();
    let context = file.rules().context;
    let mut times = BTreeMap::new();
    read_back(file, input, &keys, progress, |_, event| add_dropped(&mut times, event, context))?;
    Ok(times)
}

/// `LastDroppedTimes`: a count, four bytes of padding, then a raw time for each processor, 0 for none. A merged file may
/// hold several; the latest time of a processor is its last.
fn add_dropped(last: &mut BTreeMap<u16, i64>, event: &RawEvent<'_>, context: FileContext) {
    let payload = Event::of(event, &context).payload;
    let Some((head, times)) = payload.split_first_chunk::<8>() else { return };
    let [a, b, c, d, ..] = *head;
    let count = u32::from_le_bytes([a, b, c, d]) as usize;
    let times = times.as_chunks::<8>().0.iter().map(|&time| i64::from_le_bytes(time));
    for (cpu, ticks) in (0..MAX_PROCESSORS).zip(times.take(count)).filter(|(_, ticks)| *ticks != 0) {
        let known = last.entry(cpu).or_insert(ticks);
        *known = ticks.max(*known);
    }
}
