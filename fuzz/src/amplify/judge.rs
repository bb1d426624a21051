//! Whether what repeated blocks take is in proportion to them.

use std::fmt;

use etl2parquet::ConvertOptions;

use super::blocks::Block;
use super::measure::Taken;

/// What a conversion may take beside its budget, in bytes: what a conversion of nothing takes, the index of buffers up to
/// where it goes to a file, what is kept of shapes, issues and losses up to their caps.
const BESIDE_BUDGET: usize = 100 << 20;
/// How many times the growth of one doubling that of the next may be. In proportion it is 2; lists that double their room
/// reach it in steps.
const MOST_STEEPER: usize = 3;
/// Growth in bytes, of memory or of what is allocated, that is in no proportion to anything.
const UNSEEN: usize = 1 << 20;
/// A step that buffers of a fixed size make where they are used for the first time.
const STEP: usize = 16 << 20;

/// How a block amplifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// More bytes at a time than the budget and what may be beside it.
    BeyondBudget(usize),
    /// So many bytes on the heap for each byte of input that came last.
    Memory(usize),
    /// So many bytes allocated for each byte of input that came last.
    Work(usize),
    /// From one doubling to the next, memory grew by these numbers of bytes.
    SteeperMemory(usize, usize),
    /// From one doubling to the next, what is allocated grew by these numbers of bytes.
    SteeperWork(usize, usize),
}

/// Holds measurements of a block, each of twice as many as the one before, against its limits.
pub fn judge(block: &Block, taken: &[Taken]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let most = taken.iter().map(|taken| taken.memory).max().unwrap_or(0);
    if most > usize::try_from(ConvertOptions::MIN_MEMORY).unwrap_or(usize::MAX) + BESIDE_BUDGET {
        faults.push(Fault::BeyondBudget(most));
    }
    let [.., before, half, all] = taken else { return faults };
    let growth =
        |part: fn(&Taken) -> usize| [part(half).saturating_sub(part(before)), part(all).saturating_sub(part(half))];
    let bytes = (all.input - half.input).max(1);
    let ([earlier, memory], [less, work]) = (growth(|taken| taken.memory), growth(|taken| taken.allocated));
    if memory.saturating_sub(UNSEEN) / bytes > block.memory {
        faults.push(Fault::Memory(memory / bytes));
    }
    if work.saturating_sub(UNSEEN) / bytes > block.work {
        faults.push(Fault::Work(work / bytes));
    }
    if memory > (earlier * MOST_STEEPER).max(STEP) {
        faults.push(Fault::SteeperMemory(earlier, memory));
    }
    if work > (less * MOST_STEEPER).max(STEP) {
        faults.push(Fault::SteeperWork(less, work));
    }
    faults
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::BeyondBudget(bytes) => write!(f, "{bytes} bytes at a time, more than the budget and 100 MiB"),
            Fault::Memory(times) => write!(f, "{times} bytes on the heap per byte of input"),
            Fault::Work(times) => write!(f, "{times} bytes allocated per byte of input"),
            Fault::SteeperMemory(one, next) => write!(f, "memory grew by {one} bytes, then by {next}"),
            Fault::SteeperWork(one, next) => write!(f, "what is allocated grew by {one} bytes, then by {next}"),
        }
    }
}
