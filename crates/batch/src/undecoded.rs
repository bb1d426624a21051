//! What was not decoded, added up over recordings.

use std::cmp::Reverse;
use std::collections::HashMap;

use conversion::sidecar::undecoded::Undecoded;

/// Entries of several recordings, those that need the same added up; most rows first.
pub fn add_up<'a>(entries: impl Iterator<Item = &'a Undecoded>) -> Vec<Undecoded> {
    let mut sums: Vec<Undecoded> = Vec::new();
    let mut positions = HashMap::new();
    for entry in entries {
        let position = *positions.entry((&entry.name, entry.problem, &entry.fix)).or_insert(sums.len());
        match sums.get_mut(position) {
            Some(sum) => sum.rows += entry.rows,
            None => sums.push(entry.clone()),
        }
    }
    sums.sort_by_key(|entry| Reverse(entry.rows));
    sums
}

#[cfg(test)]
mod tests {
    use conversion::sidecar::undecoded::Problem;

    use super::*;

    fn entry(name: &str, rows: u64, fix: &str) -> Undecoded {
        Undecoded {
            problem: Problem::NoSchema,
            name: name.to_owned(),
            provider_id: None,
            decode_source: "none",
            rows,
            events: Vec::new(),
            fix: fix.to_owned(),
            way: None,
        }
    }

    #[test]
    fn recordings_that_lack_the_same_add_up() {
        let all = [entry("A", 1, "x"), entry("B", 2, "y"), entry("A", 4, "x"), entry("A", 3, "z")];
        let sums: Vec<_> = add_up(all.iter()).into_iter().map(|sum| (sum.name, sum.rows)).collect();
        assert_eq!(sums, [("A".to_owned(), 5), ("A".to_owned(), 3), ("B".to_owned(), 2)]);
    }
}
