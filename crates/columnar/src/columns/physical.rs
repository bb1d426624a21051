//! Integers, and the bits of floating-point numbers, as Parquet holds them: in 32 or 64 bits.

use arrow_schema::{DataType, TimeUnit};

use super::prefix::NumberForm;

/// How the integers of a column become Parquet's.
///
/// Values of fewer bytes than their column are unsigned, unless whoever holds them says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberType {
    /// Whether they have 64 bits in Parquet.
    pub is_wide: bool,
    /// The bytes of those that are below 32 bits and signed.
    signed: Option<usize>,
}

/// A number as Parquet holds it.
pub(super) trait StoredNumber: Copy + Default {
    /// Appends numbers of `width` bytes each.
    fn read(values: &[u8], width: usize, form: NumberForm, all: &mut Vec<Self>);
}

impl NumberType {
    /// Unsigned numbers of at most 4 bytes.
    pub(super) const UNSIGNED: NumberType = NumberType { is_wide: false, signed: None };
    /// Numbers of 8 bytes.
    pub(super) const WIDE: NumberType = NumberType { is_wide: true, signed: None };

    /// That of an Arrow type, where it is one of numbers.
    pub(super) fn of(data_type: &DataType) -> Option<NumberType> {
        Some(match data_type {
            DataType::Int8 => NumberType { is_wide: false, signed: Some(1) },
            DataType::Int16 => NumberType { is_wide: false, signed: Some(2) },
            DataType::Int32 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::Float32 => {
                NumberType::UNSIGNED
            }
            DataType::Int64
            | DataType::UInt64
            | DataType::Float64
            | DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _) => NumberType::WIDE,
            _ => return None,
        })
    }

    /// How values of so many bytes are extended, where whoever holds them does not say.
    pub(super) fn form(self, bytes: usize) -> NumberForm {
        if self.signed == Some(bytes) { NumberForm::Signed } else { NumberForm::Unsigned }
    }
}

impl StoredNumber for i32 {
    fn read(values: &[u8], width: usize, form: NumberForm, all: &mut Vec<i32>) {
        let is_signed = form == NumberForm::Signed;
        match width {
            2 if form == NumberForm::BigEndian => {
                extend(values, all, |value| u16::from_be_bytes(value).into());
            }
            1 if is_signed => extend(values, all, |value| i8::from_le_bytes(value).into()),
            1 => extend(values, all, |value| u8::from_le_bytes(value).into()),
            2 if is_signed => extend(values, all, |value| i16::from_le_bytes(value).into()),
            2 => extend(values, all, |value| u16::from_le_bytes(value).into()),
            _ => extend(values, all, i32::from_le_bytes),
        }
    }
}

impl StoredNumber for i64 {
    fn read(values: &[u8], width: usize, form: NumberForm, all: &mut Vec<i64>) {
        let is_signed = form == NumberForm::Signed;
        match width {
            2 if form == NumberForm::BigEndian => {
                extend(values, all, |value| u16::from_be_bytes(value).into());
            }
            1 if is_signed => extend(values, all, |value| i8::from_le_bytes(value).into()),
            1 => extend(values, all, |value| u8::from_le_bytes(value).into()),
            2 if is_signed => extend(values, all, |value| i16::from_le_bytes(value).into()),
            2 => extend(values, all, |value| u16::from_le_bytes(value).into()),
            4 if is_signed => extend(values, all, |value| i32::from_le_bytes(value).into()),
            4 => extend(values, all, |value| u32::from_le_bytes(value).into()),
            _ => extend(values, all, i64::from_le_bytes),
        }
    }
}

fn extend<const N: usize, T>(values: &[u8], all: &mut Vec<T>, number: impl Fn([u8; N]) -> T) {
    all.extend(values.as_chunks().0.iter().map(|value| number(*value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: StoredNumber>(values: &[u8], width: usize, data_type: &DataType) -> Vec<T> {
        extended(values, width, NumberType::of(data_type).unwrap().form(width))
    }

    fn extended<T: StoredNumber>(values: &[u8], width: usize, form: NumberForm) -> Vec<T> {
        let mut all = Vec::new();
        T::read(values, width, form, &mut all);
        all
    }

    #[test]
    fn numbers_are_extended_by_their_sign_or_by_zeros() {
        let bytes = [0xff, 0xfe, 1, 0x80];
        assert_eq!(read::<i32>(&bytes, 1, &DataType::Int8), [-1, -2, 1, -128]);
        assert_eq!(read::<i32>(&bytes, 1, &DataType::UInt8), [255, 254, 1, 128]);
        assert_eq!(read::<i32>(&bytes, 2, &DataType::Int16), [-257, -32767]);
        assert_eq!(read::<i32>(&bytes, 2, &DataType::UInt16), [0xfeff, 0x8001]);
        // Of fewer bytes than the column: unsigned.
        assert_eq!(read::<i32>(&bytes, 1, &DataType::Int16), [255, 254, 1, 128]);
        assert_eq!(read::<i32>(&bytes, 2, &DataType::Int32), [0xfeff, 0x8001]);
        assert_eq!(read::<i32>(&bytes, 4, &DataType::UInt32), [i32::from_le_bytes(bytes)]);
        assert_eq!(read::<i64>(&bytes, 1, &DataType::Int64), [255, 254, 1, 128]);
        assert_eq!(read::<i64>(&bytes, 2, &DataType::UInt64), [0xfeff, 0x8001]);
        assert_eq!(read::<i64>(&bytes, 4, &DataType::Int64), [0x8001_feff]);
        assert_eq!(read::<i64>(&[0xff; 8], 8, &DataType::UInt64), [-1]);
        assert_eq!(extended::<i64>(&bytes, 1, NumberForm::Signed), [-1, -2, 1, -128]);
        assert_eq!(extended::<i64>(&bytes, 2, NumberForm::Signed), [-257, -32767]);
        assert_eq!(extended::<i64>(&bytes, 4, NumberForm::Signed), [i64::from(i32::from_le_bytes(bytes))]);
        assert_eq!(extended::<i32>(&bytes, 2, NumberForm::Signed), [-257, -32767]);
        assert_eq!(extended::<i32>(&bytes, 2, NumberForm::BigEndian), [0xfffe, 0x0180]);
        assert_eq!(extended::<i64>(&bytes, 2, NumberForm::BigEndian), [0xfffe, 0x0180]);
    }

    #[test]
    fn what_has_other_bits_is_no_number() {
        let others =
            [DataType::Boolean, DataType::Float16, DataType::Utf8, DataType::Timestamp(TimeUnit::Second, None)];
        assert!(others.iter().all(|data_type| NumberType::of(data_type).is_none()));
    }
}
