//! No block of a trace takes more than its share, and one that does is found.

use etl2parquet_fuzz::amplify::{BLOCKS, Block, Fault, Plant, Taken, judge, measure};

/// What 1, 2, 4, 8 and 16 times a block take.
fn taken(block: &Block, plant: Option<Plant>) -> Vec<Taken> {
    [1, 2, 4, 8, 16].map(|times| measure(block, times * block.unit, plant)).to_vec()
}

#[test]
fn what_is_repeated_takes_its_share() {
    let of_block = |block: &Block| {
        let taken = taken(block, None);
        let faults = judge(block, &taken);
        (!faults.is_empty()).then(|| format!("{}: {faults:?} of {taken:#?}", block.name))
    };
    let amplifiers: Vec<String> = BLOCKS.iter().filter_map(of_block).collect();
    assert!(amplifiers.is_empty(), "{}", amplifiers.join("\n"));
}

/// Whether a fault is the one that was planted.
type IsExpected = fn(&Fault) -> bool;

#[test]
fn an_amplifier_is_found() {
    let block = BLOCKS.iter().find(|block| block.name == "a buffer").expect("it is there");
    // 512 KiB at most, so that what is kept is not more than a machine has.
    let block = &Block { unit: 64, ..*block };
    let cases: [(Plant, IsExpected); 4] = [
        (Plant::Kept(100), |fault| matches!(fault, Fault::Memory(90..=110))),
        (Plant::Kept(1000), |fault| matches!(fault, Fault::BeyondBudget(524_288_000..))),
        (Plant::KeptMore(1), |fault| matches!(fault, Fault::SteeperMemory(..))),
        (Plant::Work(1), |fault| matches!(fault, Fault::SteeperWork(..))),
    ];
    for (plant, is_expected) in cases {
        let faults = judge(block, &taken(block, Some(plant)));
        assert!(faults.iter().any(is_expected), "{plant:?}: {faults:?}");
    }
}
