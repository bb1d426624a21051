//! Amounts by process and stack, as they are read.

use std::collections::HashMap;
use std::sync::Arc;

use crate::frames::{EventStack, Owner, Stacks};
use crate::who::Name;

/// Amounts of samples or of waits by process and stack.
#[derive(Debug, Default)]
pub(super) struct Profile<'a> {
    /// The different stacks.
    pub stacks: Stacks,
    /// By the number of the stack; `None` where there was no room for it.
    weights: HashMap<(Name<'a>, Option<usize>), u64>,
    /// What has no stack, by process.
    unwalked: Vec<(String, u64)>,
    /// What has no stack, of processes that are not distinguished.
    pub unwalked_beyond: u64,
}

/// An amount of a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    /// The process.
    pub process: Arc<str>,
    /// Its stack.
    pub stack: Walk,
    /// How much.
    pub weight: u64,
}

/// The stack of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Walk {
    /// That of a number.
    Stack(usize),
    /// There is none.
    Missing,
    /// There was no room for it.
    LeftOut,
}

impl<'a> Profile<'a> {
    /// Adds what has a stack.
    pub(super) fn add(&mut self, name: Name<'a>, owner: Owner, time: i64, stack: EventStack<'_>, weight: u64) {
        let number = self.stacks.add(owner, time, stack.id, stack.addresses);
        let sum = self.weights.entry((name, number)).or_default();
        *sum = sum.saturating_add(weight);
    }

    /// Whether anything has a stack.
    pub(super) fn has_stacks(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Takes what has no stack, by process, and of processes beyond those.
    pub(super) fn unwalked(&mut self, (by_process, beyond): (Vec<(String, u64)>, u64)) {
        (self.unwalked, self.unwalked_beyond) = (by_process, beyond);
    }

    /// All amounts that are not 0, in an order that is always the same.
    pub(super) fn parts(&self) -> Vec<Part> {
        // Each name is held once, however many stacks there are.
        let mut names = HashMap::<Name<'a>, Arc<str>>::new();
        let walked = self.weights.iter().map(|((name, stack), weight)| {
            let process = names.entry(*name).or_insert_with(|| name.to_string().into());
            Part { process: Arc::clone(process), stack: stack.map_or(Walk::LeftOut, Walk::Stack), weight: *weight }
        });
        let unwalked = self.unwalked.iter().map(|(process, weight)| Part {
            process: process.as_str().into(),
            stack: Walk::Missing,
            weight: *weight,
        });
        let mut parts: Vec<Part> = walked.chain(unwalked).filter(|one| one.weight > 0).collect();
        parts.sort();
        parts
    }
}
