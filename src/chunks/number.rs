//! The two widths in which Parquet holds integers.

use std::fmt::Debug;
use std::hash::Hash;

use arrow_buffer::ToByteSlice;
use parquet::file::statistics::{Statistics, ValueStatistics};

use crate::columns::{BatchValues, ListItems};

/// `i32` or `i64`.
pub(super) trait Number: Copy + Ord + Hash + Debug + Default + 'static {
    /// Values of a block of differences.
    const BLOCK: usize;
    const ZERO: Self;

    /// `self - other`, wrapped.
    fn difference(self, other: Self) -> Self;
    /// With the sign of the other half of its values where `flips`: the order of unsigned numbers becomes that of signed ones,
    /// and back.
    fn ordered(self, flips: bool) -> Self;
    fn wide(self) -> i64;
    /// The low bits of a wide number.
    fn narrow(wide: i64) -> Self;
    /// As an unsigned number.
    fn bits(self) -> u64;
    /// Appends numbers, little-endian.
    fn append_le(numbers: &[Self], out: &mut Vec<u8>);
    fn of<'a>(values: &'a BatchValues<'a>) -> Option<&'a [Self]>;
    fn statistics(statistics: ValueStatistics<Self>) -> Statistics;
}

macro_rules! number {
    ($number:ident, $unsigned:ident, $block:literal, $variant:ident, $narrow:expr) => {
        impl Number for $number {
            const BLOCK: usize = $block;
            const ZERO: Self = 0;

            fn difference(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn ordered(self, flips: bool) -> Self {
                if flips { self ^ $number::MIN } else { self }
            }

            fn wide(self) -> i64 {
                self.into()
            }

            fn narrow(wide: i64) -> Self {
                $narrow(wide)
            }

            fn bits(self) -> u64 {
                self.cast_unsigned().into()
            }

            fn append_le(numbers: &[Self], out: &mut Vec<u8>) {
                if cfg!(target_endian = "little") {
                    out.extend_from_slice(numbers.to_byte_slice());
                } else {
                    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
                }
            }

            fn of<'a>(values: &'a BatchValues<'a>) -> Option<&'a [Self]> {
                match values {
                    BatchValues::$variant(values) | BatchValues::Lists { items: ListItems::$variant(values), .. } => {
                        Some(values)
                    }
                    _ => None,
                }
            }

            fn statistics(statistics: ValueStatistics<Self>) -> Statistics {
                statistics.into()
            }
        }
    };
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
const LOW_BITS: fn(i64) -> i32 = |wide| wide as i32;

number!(i32, u32, 128, Int32, LOW_BITS);
number!(i64, u64, 256, Int64, std::convert::identity);
