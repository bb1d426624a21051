//! What planning a recording takes.

use super::descriptions::{MAX_KEPT_BYTES, WINDOW_BYTES};
use super::samples::MAX_FIRST_SAMPLE_BYTES;
use crate::survey::{FileSurvey, Mark, READ_BACK_BYTES};

/// Bytes that planning takes in memory at most, beside what the survey found: samples of events, descriptions, and those of both
/// that are read back at a time. None of them is more than all events of the recording have, but for descriptions, which repeat
/// what they name.
pub fn room_to_plan(files: &[FileSurvey]) -> u64 {
    let buffers = files.iter().flat_map(|file| file.buffers.iter());
    let content = buffers.fold(0_u64, |bytes, buffer| bytes.saturating_add(u64::from(buffer.content_bytes)));
    let carries_schemas = files.iter().any(|file| file.marked.iter().any(|marked| marked.mark == Mark::Schema));
    room(content, carries_schemas)
}

fn room(content: u64, carries_schemas: bool) -> u64 {
    let of_content = |most: usize| content.min(most as u64);
    let read_back = of_content(READ_BACK_BYTES);
    let sampled = of_content(MAX_FIRST_SAMPLE_BYTES);
    let described = if carries_schemas { of_content(WINDOW_BYTES) + MAX_KEPT_BYTES as u64 } else { 0 };
    // Descriptions are read before samples, and what is made of them stays.
    read_back + described.max(sampled.saturating_add(described.min(MAX_KEPT_BYTES as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_content_takes_little_and_much_no_more_than_the_limits() {
        assert_eq!(room(0, false), 0);
        assert_eq!(room(1 << 20, false), 2 << 20);
        assert_eq!(room(1 << 20, true), (1 + 33) << 20);
        let most = (READ_BACK_BYTES + MAX_FIRST_SAMPLE_BYTES + MAX_KEPT_BYTES) as u64;
        assert_eq!(room(2 << 30, true), most);
        assert_eq!(room(u64::MAX, true), most);
    }
}
