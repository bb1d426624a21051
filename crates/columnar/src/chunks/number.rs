//! The two widths in which Parquet holds integers and floating-point numbers, the latter by their bits.

use std::fmt::Debug;
use std::hash::Hash;

use arrow_buffer::ToByteSlice;
use parquet::file::statistics::{Statistics, ValueStatistics};

use crate::columns::{BatchValues, ListItems};

/// What the bits of a number stand for, and so the order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Signed,
    Unsigned,
    /// In the total order of IEEE 754.
    Floating,
}

/// `i32` or `i64`.
pub(super) trait Number: Copy + Ord + Hash + Debug + Default + 'static {
    type Floating;
    /// Values of a block of differences.
    const BLOCK: usize;
    const ZERO: Self;

    /// `self - other`, wrapped.
    fn difference(self, other: Self) -> Self;
    /// The signed number that has the same place in its order, and back.
    fn ordered(self, meaning: Meaning) -> Self;
    /// Whether it is no number, as a floating-point one.
    fn is_nan(self) -> bool;
    fn floating(self) -> Self::Floating;
    fn wide(self) -> i64;
    /// The low bits of a wide number.
    fn narrow(wide: i64) -> Self;
    /// As an unsigned number.
    fn bits(self) -> u64;
    /// Appends numbers, little-endian.
    fn append_le(numbers: &[Self], out: &mut Vec<u8>);
    fn of<'a>(values: &'a BatchValues<'a>) -> Option<&'a [Self]>;
    fn statistics(statistics: ValueStatistics<Self>) -> Statistics;
    fn floating_statistics(statistics: ValueStatistics<Self::Floating>) -> Statistics;
}

macro_rules! number {
    ($number:ident, $floating:ident, $block:literal, $variant:ident, $narrow:expr) => {
        impl Number for $number {
            type Floating = $floating;
            const BLOCK: usize = $block;
            const ZERO: Self = 0;

            fn difference(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn ordered(self, meaning: Meaning) -> Self {
                match meaning {
                    Meaning::Signed => self,
                    Meaning::Unsigned => self ^ $number::MIN,
                    // Negative ones stand as their magnitude, behind a sign.
                    Meaning::Floating if self < 0 => self ^ $number::MAX,
                    Meaning::Floating => self,
                }
            }

            fn is_nan(self) -> bool {
                self.floating().is_nan()
            }

            fn floating(self) -> $floating {
                $floating::from_bits(self.cast_unsigned())
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

            fn floating_statistics(statistics: ValueStatistics<$floating>) -> Statistics {
                statistics.into()
            }
        }
    };
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
const LOW_BITS: fn(i64) -> i32 = |wide| wide as i32;

number!(i32, f32, 128, Int32, LOW_BITS);
number!(i64, f64, 256, Int64, std::convert::identity);
