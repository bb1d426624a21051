//! Which part of an input one process surveys for others.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of so many parts of the bytes of an input, all of one size: `3/8` is the fourth of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stretch {
    /// How many there are.
    count: u32,
    /// Which one it is, counted from 0.
    number: u32,
}

impl Stretch {
    /// The stretch with this number of so many, if there is one.
    pub fn new(number: u32, count: u32) -> Option<Stretch> {
        (number < count).then_some(Stretch { count, number })
    }

    /// Which one it is, counted from 0.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Its bytes of an input of this size.
    pub fn bytes(self, size: u64) -> Range<u64> {
        let place = |number: u32| {
            let place = u128::from(size) * u128::from(number) / u128::from(self.count.max(1));
            u64::try_from(place).unwrap_or(size)
        };
        place(self.number)..place(self.number.saturating_add(1))
    }
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Stretch {
    type Err = String;

    fn from_str(text: &str) -> Result<Stretch, String> {
        let parsed = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        let stretch = parsed.and_then(|(number, count)| Stretch::new(number, count));
        stretch.ok_or_else(|| "expected K/N with K from 0 to N-1, such as 0/8 for the first of eight".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_all_of_an_input() {
        for (size, count) in [(0, 1), (1, 7), (1000, 3), (u64::MAX, 7), (u64::MAX, u32::MAX)] {
            let of = |number| Stretch::new(number, count).unwrap().bytes(size);
            assert_eq!((of(0).start, of(count - 1).end), (0, size));
            for number in 1..count.min(100) {
                assert_eq!(of(number - 1).end, of(number).start, "{size} {count}");
            }
        }
    }

    #[test]
    fn a_text_names_one_that_there_is() {
        assert_eq!("3/8".parse(), Ok(Stretch { number: 3, count: 8 }));
        assert_eq!("3/8".parse::<Stretch>().unwrap().to_string(), "3/8");
        for text in ["", "3", "8/8", "0/0", "-1/2", "1/2/3", "4294967296/4294967297", "a/b"] {
            assert!(text.parse::<Stretch>().is_err(), "{text}");
        }
    }
}
