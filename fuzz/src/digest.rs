//! A hash over outcomes.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Sums up what a target said of its inputs. Equal outcomes in equal order give equal hashes.
#[derive(Debug, Default)]
pub struct Digest {
    hasher: DefaultHasher,
    classes: BTreeMap<(&'static str, &'static str), u64>,
}

impl Digest {
    /// Adds a value.
    pub fn add(&mut self, value: impl Hash) {
        value.hash(&mut self.hasher);
    }

    /// Adds all of a value that its `Debug` form shows.
    pub fn add_shown(&mut self, value: &impl fmt::Debug) {
        // Nothing refuses to be hashed.
        let _ = fmt::write(self, format_args!("{value:?}"));
    }

    /// Counts an input that is of some class and whose outcome is of another.
    pub fn count(&mut self, class: &'static str, outcome: &'static str) {
        *self.classes.entry((class, outcome)).or_default() += 1;
    }

    /// How many inputs there were of each class and outcome.
    pub fn classes(&self) -> &BTreeMap<(&'static str, &'static str), u64> {
        &self.classes
    }

    /// The hash of all that was added.
    pub fn value(&self) -> u64 {
        self.hasher.finish()
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.hasher.write(text.as_bytes());
        Ok(())
    }
}
