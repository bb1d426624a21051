//! Every seed holds, and so do inputs made from them; what the project's own writer makes is what lies there.

use std::collections::BTreeSet;

use etl2parquet_fuzz::made;
use etl2parquet_fuzz::run::Share;
use etl2parquet_fuzz::seeds;
use etl2parquet_fuzz::target::{ALL, Form, Limits};

/// Inputs of each target made from its seeds, in a build without optimisation; a hundredth of the loop's, at most so many.
const MADE: u64 = 500;
/// A build without optimisation is slower, and tests run side by side.
const SLOWER: u32 = 20;

#[test]
fn seeds_and_what_is_made_of_them_hold() {
    for target in ALL {
        let seeds = seeds::of(target);
        assert!(!seeds.is_empty() || matches!(target.form, Form::Numbered(_)), "{} has seeds", target.name);
        let numbers = 0..seeds.len() as u64 + (target.count / 100).min(MADE);
        let limits = Limits { time: target.limits.time * SLOWER, ..target.limits };
        let share = Share { limits, ..Share::new(target, &seeds, numbers) };
        let (one, other) = (share.run(|_| ()), share.run(|_| ()));
        assert_eq!(one.failures.first(), None, "{}, and {} inputs more", target.name, one.failures.len());
        assert_eq!(one.hash, other.hash, "{}: two runs have one outcome", target.name);
    }
}

#[test]
fn targets_have_names_of_their_own() {
    let names: BTreeSet<_> = ALL.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), ALL.len());
}

#[test]
fn made_seeds_are_those_that_are_committed() {
    for seed in made::all() {
        let target = ALL.iter().find(|target| target.seeds == seed.folder);
        let folder = seeds::folder(target.unwrap_or_else(|| panic!("no target reads {}", seed.folder)));
        let committed = std::fs::read(folder.join(seed.name));
        let is_same = committed.is_ok_and(|bytes| bytes == seed.bytes);
        assert!(
            is_same,
            "{}/{}: run `cargo run --locked -p etl2parquet-fuzz --bin make-seeds`",
            seed.folder, seed.name
        );
    }
}
