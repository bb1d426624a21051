//! A hash over outcomes.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Sums up what a target said of its inputs. Equal outcomes in equal order give equal hashes.
#[derive(Debug, Default)]
pub struct Digest(DefaultHasher);

impl Digest {
    /// Adds a value.
    pub fn add(&mut self, value: impl Hash) {
        value.hash(&mut self.0);
    }

    /// Adds all of a value that its `Debug` form shows.
    pub fn add_shown(&mut self, value: &impl fmt::Debug) {
        // Nothing refuses to be hashed.
        let _ = fmt::write(self, format_args!("{value:?}"));
    }

    /// The hash of all that was added.
    pub fn value(&self) -> u64 {
        self.0.finish()
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
