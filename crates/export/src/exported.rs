//! What became of an export.

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Events that are in what was written: samples, waits, packets, rows. Of 0 nothing was written that a viewer could show.
    pub events: u64,
    /// What is not in it, or not as one may expect: a sentence each.
    pub warnings: Vec<String>,
}

impl Exported {
    /// Warns of a number of things that are missing, where there are any: `what` follows the number.
    pub fn warn_of(&mut self, count: u64, what: &str) {
        if count > 0 {
            self.warnings.push(format!("{} {what}", base::readable::count::Count(count)));
        }
    }
}
