//! How much memory descriptions may take.

/// Bytes of descriptions that may still be kept. A small file can ask for gigabytes: names can overlap, and layouts are
/// copied into each event that uses them.
#[derive(Clone, Debug)]
pub struct Budget {
    left: usize,
    is_spent: bool,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes: usize) -> Budget {
        Budget { left: bytes, is_spent: false }
    }

    /// Takes bytes away; `false`, and nothing is taken, when there are not so many left.
    pub fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.is_spent = true,
        }
        !self.is_spent
    }

    /// Whether more was wanted than there was.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_once_is_spent() {
        let mut budget = Budget::new(10);
        assert!(budget.take(6) && budget.take(4) && !budget.is_spent());
        assert!(!budget.take(1) && budget.is_spent());
        assert!(!budget.take(0));
    }
}
