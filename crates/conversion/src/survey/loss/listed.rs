//! Keeps a ledger small, whatever a file claims.

use std::collections::BTreeMap;

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};

use super::row::{LossKind, LossRow};

/// Rows of one kind and unit that are listed one by one: far more than a trace that is worth reading has.
pub(super) const LISTED: usize = 10_000;

/// The first rows of each kind as they are, and one row for all others of the kind, so that a ledger stays small whatever
/// a file claims.
pub(super) fn listed(
    rows: impl Iterator<Item = LossRow>,
    most: usize,
    progress: &dyn Progress,
) -> Result<Vec<LossRow>> {
    let mut counts: BTreeMap<(LossKind, &str), usize> = BTreeMap::new();
    let mut rest: BTreeMap<(LossKind, &str), LossRow> = BTreeMap::new();
    let mut listed = Vec::new();
    for row in rows {
        stop_if_cancelled(progress)?;
        let key = (row.kind, row.unit);
        let count = counts.entry(key).or_default();
        *count += 1;
        match rest.get_mut(&key) {
            _ if *count <= most => listed.push(row),
            Some(rest) => rest.absorb(&row),
            None => {
                rest.insert(key, LossRow { cpu: None, note: "rows that are not listed one by one", ..row });
            }
        }
    }
    let further = rest.into_iter().map(|(key, row)| {
        let evidence = format!("{} more of this kind", counts[&key].saturating_sub(most));
        LossRow { evidence, ..row }
    });
    listed.extend(further);
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use base::progress::NoProgress;

    use super::*;

    #[test]
    fn very_many_rows_of_a_kind_become_one() {
        let row = |unit, n: u32, count| {
            let (cpu, time, buffer) = (Some(1), i64::from(n), u64::from(n));
            LossRow {
                cpu,
                count,
                from_buffer: Some(buffer),
                to_buffer: Some(buffer + 1),
                ..LossRow::new(LossKind::SequenceGap, unit, "e")
            }
            .between(Some(time), Some(time + 1))
        };
        let rows = [3, 5, 4, 9].map(|n| row("events", n, Some(u64::from(n))));
        let other = row("bytes", 7, None);
        let all = rows.iter().cloned().chain([other.clone()]);
        let found = listed(all.clone(), 2, &NoProgress).unwrap();
        assert_eq!(found[..3], [rows[0].clone(), rows[1].clone(), other]);
        let expected = LossRow {
            cpu: None,
            count: Some(13),
            from_buffer: Some(4),
            to_buffer: Some(10),
            note: "rows that are not listed one by one",
            ..LossRow::new(LossKind::SequenceGap, "events", "2 more of this kind")
        };
        assert_eq!(found[3..], [expected.between(Some(4), Some(10))]);
        assert_eq!(listed(all.clone(), 4, &NoProgress).unwrap(), all.collect::<Vec<_>>());
    }
}
