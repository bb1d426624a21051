//! Amounts by call path: from the outermost caller to the innermost function, and what of that is drawn.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Paths that are distinguished; what goes on beyond them is added up.
const MOST_NODES: usize = 1 << 18;
/// Functions of a path that are distinguished. Browsers nest no more than 512 elements.
const MOST_DEEP: usize = 200;

/// What is called along a path, and how much that is.
#[derive(Debug, Default)]
struct Node {
    /// What is called, as a number of whoever makes the tree.
    label: u32,
    /// All of it.
    weight: u64,
    /// What is called further on, and is not distinguished.
    beyond: u64,
    children: Vec<usize>,
}

/// Amounts by call path.
#[derive(Debug)]
pub(super) struct CallTree {
    /// The first one is the root.
    nodes: Vec<Node>,
    numbers: HashMap<(usize, u32), usize>,
    most: usize,
}

impl Default for CallTree {
    fn default() -> CallTree {
        CallTree::with_room_for(MOST_NODES)
    }
}

/// A bar of a chart of call paths: in the order of the chart, from the left, each before those that it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    /// How many bars are above it.
    pub depth: usize,
    /// What it stands for.
    pub label: BarLabel,
    /// What it begins behind, of the bar above it.
    pub begin: u64,
    /// How wide it is.
    pub weight: u64,
    /// How wide the bar above it is.
    pub of: u64,
}

/// What a bar stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarLabel {
    /// All that there is.
    All,
    /// The label of a path's end.
    One(u32),
    /// So many more, and others that are not distinguished.
    More {
        /// Those that are distinguished.
        count: usize,
        /// Whether there are others.
        is_open: bool,
    },
}

impl CallTree {
    fn with_room_for(most: usize) -> CallTree {
        CallTree { nodes: vec![Node::default()], numbers: HashMap::new(), most }
    }

    /// Adds an amount that is not 0 to a path, from the outside to the inside.
    pub(super) fn add(&mut self, path: impl IntoIterator<Item = u32>, weight: u64) {
        let mut at = 0;
        self.weigh(at, weight);
        for (label, depth) in path.into_iter().zip(0..) {
            let next = if depth < MOST_DEEP { self.child(at, label) } else { None };
            let Some(next) = next else { return self.add_beyond(at, weight) };
            at = next;
            self.weigh(at, weight);
        }
    }

    /// Adds an amount of a path that is not distinguished.
    pub(super) fn add_unknown(&mut self, weight: u64) {
        self.weigh(0, weight);
        self.add_beyond(0, weight);
    }

    /// The amount of all paths.
    pub(super) fn weight(&self) -> u64 {
        self.nodes.first().map_or(0, |root| root.weight)
    }

    fn weigh(&mut self, node: usize, weight: u64) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.weight = node.weight.saturating_add(weight);
        }
    }

    fn add_beyond(&mut self, node: usize, weight: u64) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.beyond = node.beyond.saturating_add(weight);
        }
    }

    /// What a node calls under a label; `None` where there is no room for it.
    fn child(&mut self, parent: usize, label: u32) -> Option<usize> {
        if let Some(child) = self.numbers.get(&(parent, label)) {
            return Some(*child);
        }
        let child = self.nodes.len();
        let parent_node = self.nodes.get_mut(parent).filter(|_| child < self.most)?;
        parent_node.children.push(child);
        self.nodes.push(Node { label, ..Node::default() });
        self.numbers.insert((parent, label), child);
        Some(child)
    }

    /// Puts what is called from one place in the order of amounts, of equal ones of texts.
    pub(super) fn settle<'t>(&mut self, text: impl Fn(u32) -> &'t str) {
        let keys: Vec<(u64, u32)> = self.nodes.iter().map(|node| (node.weight, node.label)).collect();
        for node in &mut self.nodes {
            node.children.sort_by_key(|child| keys.get(*child).map(|(weight, label)| (Reverse(*weight), text(*label))));
        }
    }

    /// The bars of the widest paths, so many at most, each with another one for what it calls besides.
    pub(super) fn bars(&self, most: usize) -> Vec<Bar> {
        let is_drawn = self.widest(most);
        let mut bars = Vec::new();
        let all = Bar { depth: 0, label: BarLabel::All, begin: 0, weight: self.weight(), of: self.weight() };
        let mut waiting = vec![(all, self.nodes.first())];
        while let Some((bar, node)) = waiting.pop() {
            bars.push(bar);
            let first = waiting.len();
            waiting.extend(node.into_iter().flat_map(|node| self.below(bar.depth, node, &is_drawn)));
            waiting.get_mut(first..).into_iter().for_each(<[_]>::reverse);
        }
        bars
    }

    /// The bars right below that of a node.
    fn below<'t>(&'t self, depth: usize, node: &'t Node, is_drawn: &[bool]) -> Vec<(Bar, Option<&'t Node>)> {
        let (mut begin, mut found, mut count, mut more) = (0_u64, Vec::new(), 0_usize, node.beyond);
        let bar = |label, begin, weight| Bar { depth: depth.saturating_add(1), label, begin, weight, of: node.weight };
        for number in &node.children {
            let Some(child) = self.nodes.get(*number) else { continue };
            if is_drawn.get(*number) == Some(&true) {
                found.push((bar(BarLabel::One(child.label), begin, child.weight), Some(child)));
                begin = begin.saturating_add(child.weight);
            } else {
                count += 1;
                more = more.saturating_add(child.weight);
            }
        }
        if more > 0 {
            let label = BarLabel::More { count, is_open: node.beyond > 0 };
            found.push((bar(label, begin, more), None));
        }
        found
    }

    /// For each node whether it is one of the widest: never without that which calls it, which is as wide.
    fn widest(&self, most: usize) -> Vec<bool> {
        let mut is_drawn = vec![false; self.nodes.len()];
        let (mut waiting, mut order) = (vec![0], Vec::new());
        while let Some(number) = waiting.pop() {
            let Some(node) = self.nodes.get(number) else { continue };
            order.push((Reverse(node.weight), order.len(), number));
            waiting.extend(node.children.iter().rev());
        }
        order.sort_unstable();
        for (.., number) in order.into_iter().take(most) {
            is_drawn.get_mut(number).into_iter().for_each(|is_drawn| *is_drawn = true);
        }
        is_drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 5] = ["a", "b", "c", "d", "e"];

    fn tree(most: usize, paths: &[(&[u32], u64)]) -> CallTree {
        let mut tree = CallTree::with_room_for(most);
        paths.iter().for_each(|(path, weight)| tree.add(path.iter().copied(), *weight));
        tree.settle(|label| TEXTS[label as usize]);
        tree
    }

    /// A line for each bar: what it stands for below how many others, where it begins, and how wide it is.
    #[track_caller]
    fn t(tree: &CallTree, most: usize, expected: &[&str]) {
        let shown = tree.bars(most).into_iter().map(|bar| {
            let label = match bar.label {
                BarLabel::All => "all".to_owned(),
                BarLabel::One(label) => TEXTS[label as usize].to_owned(),
                BarLabel::More { count, is_open } => {
                    format!("{count} more{}", if is_open { " and others" } else { "" })
                }
            };
            format!("{}{label} {}+{} of {}", " ".repeat(bar.depth), bar.begin, bar.weight, bar.of)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn bars_are_as_wide_as_what_is_called() {
        let tree = tree(99, &[(&[0, 1], 3), (&[0], 2), (&[0, 2], 4), (&[1, 1, 1], 9), (&[0, 2, 3], 1)]);
        let all = [
            "all 0+19 of 19",
            " a 0+10 of 19",
            "  c 0+5 of 10",
            "   d 0+1 of 5",
            "  b 5+3 of 10",
            " b 10+9 of 19",
            "  b 0+9 of 9",
            "   b 0+9 of 9",
        ];
        t(&tree, 8, &all);
        t(&tree, 99, &all);
    }

    #[test]
    fn what_is_not_drawn_is_added_up() {
        let tree = tree(99, &[(&[0, 1], 3), (&[0], 2), (&[0, 2], 4), (&[1, 1, 1], 9), (&[0, 2, 3], 1), (&[2], 1)]);
        t(
            &tree,
            4,
            &[
                "all 0+20 of 20",
                " a 0+10 of 20",
                "  2 more 0+8 of 10",
                " b 10+9 of 20",
                "  b 0+9 of 9",
                "   1 more 0+9 of 9",
                " 1 more 19+1 of 20",
            ],
        );
        t(&tree, 1, &["all 0+20 of 20", " 3 more 0+20 of 20"]);
    }

    #[test]
    fn what_has_no_room_is_added_up_with_its_caller() {
        let mut few = tree(3, &[(&[0, 1, 2], 3), (&[0, 2], 4), (&[3, 1], 5)]);
        few.add_unknown(7);
        t(
            &few,
            99,
            &[
                "all 0+19 of 19",
                " a 0+7 of 19",
                "  b 0+3 of 7",
                "   0 more and others 0+3 of 3",
                "  0 more and others 3+4 of 7",
                " 0 more and others 7+12 of 19",
            ],
        );
        let deep = tree(9999, &[(&[4; MOST_DEEP + 1], 1)]);
        let bars = deep.bars(9999);
        assert_eq!(bars.len(), MOST_DEEP + 2);
        assert_eq!(bars.last().unwrap().label, BarLabel::More { count: 0, is_open: true });
    }

    #[test]
    fn of_equal_amounts_the_text_decides() {
        let one = tree(99, &[(&[2], 1), (&[1], 1), (&[0], 1)]);
        t(&one, 3, &["all 0+3 of 3", " a 0+1 of 3", " b 1+1 of 3", " 1 more 2+1 of 3"]);
    }
}
