//! Members of a series of files that are not there.
//!
//! A session that begins a new file whenever one is full numbers their names: `log1.etl`, `log2.etl`. Which files there
//! were before the first and behind the last of those given nobody can know; a number between them is a hole.

use std::collections::BTreeMap;

use super::row::{LossKind, LossRow};
use super::span::SessionSpan;
use crate::survey::naming::series_member;
use crate::survey::result::FileSurvey;
use crate::survey::sequence::sequence_range;
use crate::survey::streams::{first_data_ticks, last_ticks};

/// A row for every hole, with the number of the input before it.
pub(in crate::survey) fn rows(files: &[FileSurvey]) -> Vec<(usize, LossRow)> {
    let mut series: BTreeMap<(String, String), BTreeMap<u32, usize>> = BTreeMap::new();
    for (input, file) in files.iter().enumerate() {
        if let Some(member) = series_member(file) {
            let name = file.session.logger_name.to_lowercase();
            series.entry((name, member.series)).or_default().entry(member.number).or_insert(input);
        }
    }
    series.values().flat_map(|members| holes(files, members)).collect()
}

fn holes(files: &[FileSurvey], members: &BTreeMap<u32, usize>) -> Vec<(usize, LossRow)> {
    let behind = members.iter().skip(1);
    let hole = |((&before, &input), (&behind, &next)): ((&u32, &usize), (&u32, &usize))| {
        let missing = (behind - before).checked_sub(1).filter(|missing| *missing > 0)?;
        Some((input, hole(&files[input], &files[next], before + 1, missing)))
    };
    members.iter().zip(behind).filter_map(hole).collect()
}

/// Between the last event of one file and the first of the other.
fn hole(before: &FileSurvey, behind: &FileSurvey, first: u32, missing: u32) -> LossRow {
    let evidence = match missing {
        1 => format!("no input has the number {first} of the series"),
        _ => format!("no inputs have the numbers {first} to {} of the series", first + (missing - 1)),
    };
    let evidence = match (sequence_range(before), sequence_range(behind)) {
        (Some((_, last)), Some((next, _))) if next.saturating_sub(last) > 1 => {
            format!("{evidence}, and none a buffer with the numbers {} to {}", last + 1, next - 1)
        }
        _ => evidence,
    };
    let last = last_ticks(before.buffers.iter());
    let next = first_data_ticks(behind.buffers.iter());
    let (earlier, later) = (SessionSpan::of(before), SessionSpan::of(behind));
    LossRow {
        count: Some(u64::from(missing)),
        from_buffer: before.buffers.last().map(|buffer| buffer.extent.ordinal),
        note: "its events are in none of the inputs",
        ..LossRow::new(LossKind::MissingFile, "files", evidence)
    }
    .between(
        Some(last.map_or(earlier.start_ns, |ticks| earlier.ns(ticks))),
        Some(next.map_or(later.start_ns, |ticks| later.ns(ticks))),
    )
}
