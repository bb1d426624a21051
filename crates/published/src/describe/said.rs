//! What several traces say of one thing.

/// What is said of a thing, as long as nothing contradicts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing.
    #[default]
    Nothing,
    /// One thing.
    One(String),
    /// Different things: nobody knows which is meant.
    Different,
}

impl Said {
    /// Adds what one says; `None` is nothing.
    pub(super) fn add(&mut self, said: Option<&str>) {
        match (&*self, said) {
            (_, None) | (Said::Different, _) => {}
            (Said::Nothing, Some(said)) => *self = Said::One(said.to_owned()),
            (Said::One(before), Some(said)) if before == said => {}
            (Said::One(_), Some(_)) => *self = Said::Different,
        }
    }

    /// Adds what others say.
    pub(super) fn merge(&mut self, other: Said) {
        match other {
            Said::Nothing => {}
            Said::One(said) => self.add(Some(&said)),
            Said::Different => *self = Said::Different,
        }
    }

    /// The one thing that is said.
    pub(super) fn one(self) -> Option<String> {
        if let Said::One(said) = self { Some(said) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_contradicted_is_unknown_in_whatever_order() {
        let said = |texts: &[Option<&str>]| {
            let mut all = Said::default();
            texts.iter().for_each(|text| all.add(*text));
            all
        };
        assert_eq!(said(&[None, Some("ns"), None, Some("ns")]).one().as_deref(), Some("ns"));
        assert_eq!(said(&[None]).one(), None);
        assert_eq!(said(&[Some("ns"), Some("ms"), Some("ns")]), Said::Different);
        let mut merged = said(&[Some("ns")]);
        merged.merge(Said::Nothing);
        assert_eq!(merged, said(&[Some("ns")]));
        merged.merge(said(&[Some("ms")]));
        merged.merge(said(&[Some("ns")]));
        assert_eq!(merged.one(), None);
    }
}
