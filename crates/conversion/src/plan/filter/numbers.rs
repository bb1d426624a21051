//! Sets of numbers as people type them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Numbers such as `1,4-7,0x10`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberSet {
    /// First and last of each range, ascending, apart from one another.
    ranges: Vec<(u32, u32)>,
}

impl NumberSet {
    /// All numbers of several sets; `None` where there is no set.
    pub fn union<'a>(sets: impl Iterator<Item = &'a NumberSet>) -> Option<NumberSet> {
        let ranges = sets.map(|set| set.ranges.clone()).reduce(|all, one| [all, one].concat());
        ranges.map(NumberSet::of)
    }

    fn of(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        NumberSet { ranges: merged }
    }

    /// Whether the number is one of them.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.0 <= number);
        after > 0 && number <= self.ranges[after - 1].1
    }
}

/// Shown in ascending order, every number once.
impl fmt::Display for NumberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{first}")?;
            if first < last {
                write!(f, "-{last}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for NumberSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some((first, last))
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges.map(NumberSet::of).ok_or_else(|| "expected numbers and ranges, such as 4, 1,4-7 or 0x1f".to_owned())
    }
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_become_one_form() {
        let t = |text: &str, shown: &str| assert_eq!(text.parse::<NumberSet>().unwrap().to_string(), shown, "{text}");
        t("4", "4");
        t("7,1", "1,7");
        t("1,4-7", "1,4-7");
        t("4-7, 8 ,5,1", "1,4-8");
        t("0x10,0X1f-32", "16,31-32");
        t("0-4294967295", "0-4294967295");
        t("4294967295,4294967294", "4294967294-4294967295");
        for wrong in ["", ",", "1,", "-1", "4-", "7-4", "4294967296", "x", "0x", "+1", "0x+1", "1-2-3"] {
            assert!(wrong.parse::<NumberSet>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_set_holds_its_ranges_with_both_ends() {
        let set: NumberSet = "1,4-7,4294967295".parse().unwrap();
        let held: Vec<u32> = (0..10).chain([u32::MAX - 1, u32::MAX]).filter(|&n| set.contains(n)).collect();
        assert_eq!(held, [1, 4, 5, 6, 7, u32::MAX]);
        assert!(!NumberSet::default().contains(0));
    }

    #[test]
    fn several_sets_add_up() {
        let sets = ["1-3", "9", "2-4"].map(|text| text.parse().unwrap());
        assert_eq!(NumberSet::union(sets.iter()), Some("1-4,9".parse().unwrap()));
        assert_eq!(NumberSet::union([].iter()), None);
    }
}
