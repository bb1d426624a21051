//! Amounts by the functions of their stacks: whole paths from the outermost function on, and each function by itself.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::iter;

use base::error::Result;

use super::call_tree::CallTree;
use super::labels::{LabelKind, Labels};
use super::profile::{Part, Profile, Walk};
use super::tally::Most;
use crate::frames::{Frame, ModuleId, Modules, Place, frames, names_of};
use crate::source::Source;
use crate::symbols::StoredNames;

/// Amounts by the functions of their stacks.
#[derive(Debug)]
pub(super) struct Flame {
    /// By call path: the process, then its functions.
    pub tree: CallTree,
    /// What stands in the tree.
    pub labels: Labels,
    /// What has a stack.
    pub walked: u64,
    /// The functions with most of their own.
    pub by_own: Vec<FunctionSums>,
    /// The functions with most, what they call included.
    pub by_all: Vec<FunctionSums>,
    /// How many functions there are.
    pub functions: usize,
    /// What has a stack that there was no room for.
    pub left_out: u64,
}

/// What a function has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionSums {
    /// Its label.
    pub label: u32,
    /// What is its own: it is the innermost of a stack.
    pub own: u64,
    /// That and what it calls; once where it calls itself.
    pub all: u64,
}

/// Resolves the stacks of a profile; `None` where nothing has one.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the names of methods cannot be read.
pub(super) fn flame(
    source: &Source<'_>,
    modules: &Modules,
    names: &StoredNames,
    profile: &Profile<'_>,
    most: Most,
) -> Result<Option<Flame>> {
    if !profile.has_stacks() {
        return Ok(None);
    }
    let resolved = Resolved::of(modules, profile);
    let mut labels = Labels::default();
    let of_frames = resolved.labels(source, modules, names, &mut labels)?;
    let mut sums = Sums::new(labels);
    for Part { process, stack, weight } in profile.parts() {
        let frames: Vec<u32> = match stack {
            Walk::Stack(number) => {
                let frames = resolved.stacks.get(number).map_or(&[][..], |frames| frames);
                frames.iter().filter_map(|frame| of_frames.get(*frame as usize).copied()).collect()
            }
            Walk::Missing => vec![sums.labels.number("(no stack recorded)", LabelKind::Unknown)],
            Walk::LeftOut => vec![sums.labels.number("(no room for its stack)", LabelKind::Unknown)],
        };
        let sum = match stack {
            Walk::Stack(_) => Some(&mut sums.walked),
            Walk::Missing => None,
            Walk::LeftOut => Some(&mut sums.left_out),
        };
        sum.into_iter().for_each(|sum| *sum = sum.saturating_add(weight));
        sums.add(&process, &frames, weight);
    }
    sums.tree.add_unknown(profile.unwalked_beyond);
    Ok((sums.tree.weight() > 0).then(|| sums.ranked(most)))
}

/// The frames of stacks, each different one once.
struct Resolved {
    frames: Vec<Frame>,
    /// By the number of the stack the numbers of its frames, innermost first.
    stacks: Vec<Box<[u32]>>,
}

impl Resolved {
    fn of(modules: &Modules, profile: &Profile<'_>) -> Resolved {
        let (mut all, mut numbers) = (Vec::new(), HashMap::<Frame, u32>::new());
        let mut number = |frame| {
            *numbers.entry(frame).or_insert_with(|| {
                all.push(frame);
                u32::try_from(all.len() - 1).unwrap_or(u32::MAX)
            })
        };
        let stacks = profile.stacks.iter().map(|stack| frames(modules, stack).map(&mut number).collect()).collect();
        Resolved { stacks, frames: all }
    }

    /// The label of each frame.
    fn labels(
        &self,
        source: &Source<'_>,
        modules: &Modules,
        names: &StoredNames,
        labels: &mut Labels,
    ) -> Result<Vec<u32>> {
        let asked: HashSet<u32> = self.frames.iter().filter_map(|frame| frame.method).collect();
        let mut methods = HashMap::<u32, String>::new();
        names_of(source, &asked, |number, name| drop(methods.insert(number, name.to_owned())))?;
        let label = |frame: &Frame| {
            let method = frame.method.and_then(|method| methods.get(&method)).map(String::as_str);
            let (text, kind) = labelled(*frame, modules, method, |id, offset| names.function(id, offset));
            labels.number(&text, kind)
        };
        Ok(self.frames.iter().map(label).collect())
    }
}

/// What a frame is called, and what kind of function it is; `named` names functions of modules.
pub(super) fn labelled<'n>(
    frame: Frame,
    modules: &Modules,
    method: Option<&'n str>,
    named: impl FnOnce(&ModuleId, u32) -> Option<&'n str>,
) -> (String, LabelKind) {
    let kind = match (frame.is_of_kernel, method) {
        (_, Some(_)) => LabelKind::Managed,
        (true, None) => LabelKind::Kernel,
        (false, None) => LabelKind::Program,
    };
    match frame.place {
        Place::Module { module, offset } => {
            let Some(id) = modules.id(module) else { return ("(in no module)".to_owned(), LabelKind::Unknown) };
            let file = id.file_name.as_deref().unwrap_or("module without a name");
            let known = || named(id, u32::try_from(offset).ok()?);
            match method.or_else(known) {
                Some(function) => (format!("{file}!{function}"), kind),
                None => (format!("{file}!?"), kind.nameless()),
            }
        }
        Place::Method => (method.unwrap_or("method of .NET without a name").to_owned(), LabelKind::Managed),
        Place::Unknown(unknown) => (unknown.text().to_owned(), LabelKind::Unknown),
    }
}

/// Amounts that are added up.
struct Sums {
    labels: Labels,
    tree: CallTree,
    functions: HashMap<u32, FunctionSums>,
    walked: u64,
    left_out: u64,
}

impl Sums {
    fn new(labels: Labels) -> Sums {
        Sums { labels, tree: CallTree::default(), functions: HashMap::new(), walked: 0, left_out: 0 }
    }

    /// Adds what a process has in a stack, given by its labels, innermost first.
    fn add(&mut self, process: &str, frames: &[u32], weight: u64) {
        let process = self.labels.number(process, LabelKind::Process);
        let Sums { labels, tree, functions, .. } = self;
        let mut last = None;
        let path = frames
            .iter()
            .rev()
            .copied()
            .filter(|label| last.replace(*label) != Some(*label) || labels.is_named(*label));
        tree.add(iter::once(process).chain(path), weight);
        let mut seen = HashSet::new();
        for label in frames.iter().filter(|label| seen.insert(**label)) {
            let sums = functions.entry(*label).or_insert(FunctionSums { label: *label, ..FunctionSums::default() });
            sums.all = sums.all.saturating_add(weight);
        }
        if let Some(sums) = frames.first().and_then(|innermost| functions.get_mut(innermost)) {
            sums.own = sums.own.saturating_add(weight);
        }
    }

    fn ranked(self, most: Most) -> Flame {
        let Sums { labels, mut tree, functions, walked, left_out } = self;
        tree.settle(|label| labels.text(label));
        let mut all: Vec<FunctionSums> = functions.into_values().collect();
        let mut first = |amount: fn(&FunctionSums) -> u64| -> Vec<FunctionSums> {
            all.sort_by_key(|sums| (Reverse(amount(sums)), labels.text(sums.label)));
            all.iter().filter(|sums| amount(sums) > 0).take(most.functions).copied().collect()
        };
        let (by_own, by_all) = (first(|sums| sums.own), first(|sums| sums.all));
        Flame { functions: all.len(), by_own, by_all, tree, walked, left_out, labels }
    }
}

#[cfg(test)]
mod tests {
    use super::super::call_tree::BarLabel;
    use super::*;

    /// Sums of stacks that are written from the outside to the inside; a name without `!?` is one of a function.
    fn sums(stacks: &[(&str, &str, u64)]) -> Flame {
        let mut sums = Sums::new(Labels::default());
        for (process, stack, weight) in stacks {
            let label = |name: &str| {
                let kind = if name.ends_with("!?") { LabelKind::Program.nameless() } else { LabelKind::Program };
                sums.labels.number(name, kind)
            };
            let frames: Vec<u32> = stack.split(' ').rev().map(label).collect();
            sums.add(process, &frames, *weight);
        }
        sums.ranked(Most::OF_A_PAGE)
    }

    fn bars(flame: &Flame) -> Vec<String> {
        let shown = flame.tree.bars(99).into_iter().filter_map(|bar| {
            let BarLabel::One(label) = bar.label else { return None };
            Some(format!("{}{} {}", " ".repeat(bar.depth), flame.labels.text(label), bar.weight))
        });
        shown.collect()
    }

    fn shown(flame: &Flame, sums: &[FunctionSums]) -> Vec<String> {
        sums.iter().map(|one| format!("{} {} {}", flame.labels.text(one.label), one.own, one.all)).collect()
    }

    #[test]
    fn a_recursive_function_counts_once() {
        let flame = sums(&[("a.exe", "f g f f", 4), ("b.exe", "g f", 2), ("a.exe", "f g", 1)]);
        assert_eq!(bars(&flame), [" a.exe 5", "  f 5", "   g 5", "    f 4", "     f 4", " b.exe 2", "  g 2", "   f 2"]);
        assert_eq!(shown(&flame, &flame.by_own), ["f 6 7", "g 1 7"]);
        assert_eq!(shown(&flame, &flame.by_all), ["f 6 7", "g 1 7"]);
        assert_eq!((flame.functions, flame.tree.weight()), (2, 7));
    }

    #[test]
    fn functions_without_a_name_are_one_where_they_follow_each_other() {
        let flame = sums(&[("a", "x!? x!? f f x!? y!? y!?", 3), ("a", "x!? f f x!? y!? x!? x!?", 1)]);
        let expected = [" a 4", "  x!? 4", "   f 4", "    f 4", "     x!? 4", "      y!? 4", "       x!? 1"];
        assert_eq!(bars(&flame), expected);
        assert_eq!(shown(&flame, &flame.by_own), ["y!? 3 4", "x!? 1 4"]);
        assert_eq!(shown(&flame, &flame.by_all), ["f 0 4", "x!? 1 4", "y!? 3 4"]);
    }
}
