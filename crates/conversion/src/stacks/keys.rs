//! What the keys of walks stand for.
//!
//! Mostly events define a key behind the walks that name it: when it ceases to stand for its stack, or by a rundown at the end.
//! Keys are reused.

use base::error::Result;
use base::progress::{Progress, stop_if_cancelled};
use spill::{SpillSpace, Spilled};

use crate::survey::FileKey;
use crate::survey::walks::{Definition, Walk, WalkPart};

/// Walks that are looked at without a look at whether to stop.
const AT_ONCE: usize = 1 << 16;

/// The walks, with what their keys stand for; `definitions` are sorted.
///
/// # Errors
/// When there is no space, or when the caller asked to stop.
pub(super) fn resolve(
    walks: Spilled<Walk>,
    definitions: &[Definition],
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<Walk>> {
    if !walks.iter().any(|walk| matches!(walk.part(), WalkPart::Key(_))) {
        return Ok(walks);
    }
    let mut resolved = space.records();
    for some in walks.chunks(AT_ONCE) {
        stop_if_cancelled(progress)?;
        for walk in some {
            resolved.push(match walk.part() {
                WalkPart::Key(key) => walk.with(meaning(definitions, key, walk.at.key())),
                _ => *walk,
            })?;
        }
    }
    resolved.finish()
}

/// What a key stood for at a place of the file: what the next event of the key says of the time before it, or else what the
/// last one says of the time behind it.
fn meaning(definitions: &[Definition], key: u64, at: FileKey) -> WalkPart {
    let behind = definitions.partition_point(|definition| definition.order() < (key, at));
    let of_key = |definition: &&Definition| definition.key == key;
    let next = definitions.get(behind).filter(of_key).filter(|next| next.describes_before());
    let last = || definitions[..behind].last().filter(of_key).filter(|last| last.describes_behind());
    next.or_else(last).map_or(WalkPart::UnknownKey, Definition::part)
}

#[cfg(test)]
mod tests {
    use etl::event::stack::StackEvent::{KeyCreated, KeyDeleted, KeyHolds};

    use super::*;

    fn at(ticks: i64) -> FileKey {
        FileKey { ticks, stream: 0, sequence: 0, ordinal: 0, offset: 0 }
    }

    #[test]
    fn a_key_that_is_used_again_stands_for_what_is_recorded_next_of_its_time() {
        let described = |key, ticks, when, list| Definition::new(at(ticks), key, when, WalkPart::List(list));
        let definitions = [
            described(7, 10, KeyDeleted, 1),
            described(7, 20, KeyCreated, 2),
            described(7, 30, KeyDeleted, 2),
            described(7, 40, KeyCreated, 3),
            described(7, 90, KeyHolds, 4),
            described(8, 50, KeyHolds, 5),
            described(9, 50, KeyCreated, 6),
        ];
        let t = |key, ticks, part| assert_eq!(meaning(&definitions, key, at(ticks)), part, "{key} at {ticks}");
        t(7, 9, WalkPart::List(1));
        t(7, 15, WalkPart::UnknownKey);
        t(7, 25, WalkPart::List(2));
        t(7, 35, WalkPart::UnknownKey);
        // It holds from its creation on; the rundown behind it is nearer to what the walk has seen.
        t(7, 45, WalkPart::List(4));
        t(7, 95, WalkPart::List(4));
        t(8, 1, WalkPart::List(5));
        t(9, 49, WalkPart::UnknownKey);
        t(9, 51, WalkPart::List(6));
        t(10, 51, WalkPart::UnknownKey);
    }
}
