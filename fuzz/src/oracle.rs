//! What holds whatever the input: each function stops where it does not.
//!
//! An oracle knows no right answer. It knows what every right answer has in common.

use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use etl2parquet::EventCounts;
use etl2parquet::names::fold_case;

/// **Tiling**: the parts follow one another without gap and overlap and make up the whole.
pub fn tiling(parts: impl IntoIterator<Item = Range<u64>>, whole: Range<u64>) {
    let mut at = whole.start;
    for part in parts {
        assert_eq!(part.start, at, "tiling: a part begins where the one before it ends");
        assert!(part.end > part.start, "tiling: a part is not empty ({part:?})");
        at = part.end;
    }
    assert_eq!(at, whole.end, "tiling: the parts end where the whole ends");
}

/// **Alignment**: an event begins at a multiple of 8 bytes.
pub fn alignment(offset: u32) {
    assert_eq!(offset % 8, 0, "alignment: an event begins at {offset}");
}

/// **Names unique**, without regard to case.
pub fn unique<S: AsRef<str>>(names: impl IntoIterator<Item = S>) {
    let mut known = HashSet::new();
    for name in names {
        let name = name.as_ref();
        assert!(known.insert(fold_case(name)), "unique: {name:?} is there twice");
    }
}

/// **Monotone**: from one to the next, values do not fall.
pub fn monotone<T: PartialOrd + Debug>(values: impl IntoIterator<Item = T>) {
    let mut last: Option<T> = None;
    for value in values {
        if let Some(last) = &last {
            assert!(*last <= value, "monotone: {value:?} behind {last:?}");
        }
        last = Some(value);
    }
}

/// **Arrays valid in full**: offsets, lengths, texts and children are what Arrow demands.
pub fn valid_in_full(array: &ArrayRef, rows: usize) {
    assert_eq!(array.len(), rows, "valid: a column has a value or NULL in each row");
    array.to_data().validate_full().expect("valid: the array is one");
}

/// **Conserved**: every event found is written, filtered or damaged.
pub fn conserved(events: &EventCounts) {
    assert!(events.is_conserved(), "conserved: {events:?}");
}

/// **Read-back equality**: what was written and read again is what it was.
pub fn same<T: PartialEq + Debug>(read: &T, written: &T) {
    assert_eq!(read, written, "read back: it is what was written");
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use arrow_array::Int8Array;

    use super::*;

    fn stops(oracle: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(oracle)).is_err()
    }

    #[test]
    fn every_oracle_is_content_with_what_is_right() {
        tiling([0..3, 3..8], 0..8);
        tiling([], 5..5);
        alignment(24);
        unique(["a", "b", "a~2"]);
        monotone([1, 1, 2]);
        valid_in_full(&(Arc::new(Int8Array::from(vec![Some(1), None])) as ArrayRef), 2);
        conserved(&EventCounts { found: 6, written: 1, filtered: 2, damaged: 3, damaged_bytes: 9 });
        same(&1, &1);
    }

    #[test]
    fn every_oracle_stops_at_what_is_wrong() {
        assert!(stops(|| tiling([0..3, 4..8], 0..8)), "a gap");
        assert!(stops(|| tiling([0..3, 2..8], 0..8)), "an overlap");
        assert!(stops(|| tiling([0..3, 3..6], 0..8)), "an early end");
        assert!(stops(|| tiling([0..3, 3..3, 3..8], 0..8)), "a part without bytes");
        assert!(stops(|| alignment(12)));
        assert!(stops(|| unique(["Name", "nAME"])));
        assert!(stops(|| monotone([2, 1])));
        assert!(stops(|| valid_in_full(&(Arc::new(Int8Array::from(vec![1])) as ArrayRef), 2)));
        assert!(stops(|| conserved(&EventCounts { found: 7, ..EventCounts::default() })));
        assert!(stops(|| same(&1, &2)));
    }
}
