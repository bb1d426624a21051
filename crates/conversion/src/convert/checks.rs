//! Conditions of publishing a trace.

use std::fmt;
use std::str::FromStr;

use base::words;
use base::words::Words;
use serde::{Deserialize, Serialize};

/// What may not be the case for a trace to be published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each condition stands for itself")]
pub struct Checks {
    /// More lost events than this, or a number of them that nobody knows.
    pub max_loss: Option<MaxLoss>,
    /// Any loss, and whatever keeps everybody from knowing that there was none.
    pub loss: bool,
    /// Any loss that is known.
    pub known_loss: bool,
    /// Any disorder.
    pub disorder: bool,
    /// Any event that is not decoded whole.
    pub undecoded: bool,
    /// Any damage.
    pub damage: bool,
    /// Any name that the schema lock does not have.
    pub new_names: bool,
}

/// How many events may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxLoss {
    /// So many.
    Events(u64),
    /// So many of a hundred that were written or lost.
    Percent(f64),
}

/// A number of events, or `0%` to `100%`.
impl FromStr for MaxLoss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let limit = match text.strip_suffix('%') {
            Some(percent) => {
                percent.trim_end().parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(MaxLoss::Percent)
            }
            None => text.parse().ok().map(MaxLoss::Events),
        };
        limit.ok_or_else(|| "expected a number of events, or 0% to 100%".to_owned())
    }
}

impl fmt::Display for MaxLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxLoss::Events(most) => write!(f, "{most}"),
            MaxLoss::Percent(most) => write!(f, "{most}%"),
        }
    }
}

/// What keeps a trace from being published (`--fail-on`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    /// Any loss, known or not.
    Loss,
    /// Any loss that is known.
    KnownLoss,
    /// Any disorder.
    Disorder,
    /// Any event that is not decoded whole.
    Undecoded,
    /// Any damage.
    Damage,
}

words! { FailOn {
    Loss = "loss": "Something was lost, or nobody can know: a session never closed, a merged file",
    KnownLoss = "known-loss": "Something is known to be lost",
    Disorder = "disorder": "Events are out of order",
    Undecoded = "undecoded": "Events are not decoded whole",
    Damage = "damage": "Parts of the file cannot be read",
} }

/// What becomes of names that the schema lock does not have (`--schema-lock-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// They are named by the rules, and listed as issues.
    #[default]
    Extend,
    /// A trace that has any is not published.
    Strict,
}

words! { LockMode {
    Extend = "extend": "Name them by the rules, and list them as issues",
    Strict = "strict": "Publish no trace that has any",
} }

impl Checks {
    /// The condition of a word.
    pub fn of(&mut self, what: FailOn) -> &mut bool {
        match what {
            FailOn::Loss => &mut self.loss,
            FailOn::KnownLoss => &mut self.known_loss,
            FailOn::Disorder => &mut self.disorder,
            FailOn::Undecoded => &mut self.undecoded,
            FailOn::Damage => &mut self.damage,
        }
    }

    /// The words of the conditions that hold.
    pub fn fail_on(&self) -> impl Iterator<Item = FailOn> {
        let mut checks = *self;
        FailOn::WORDS.iter().map(|(what, ..)| *what).filter(move |what| *checks.of(*what))
    }

    /// What becomes of names that the schema lock does not have.
    pub fn lock_mode(&self) -> LockMode {
        if self.new_names { LockMode::Strict } else { LockMode::Extend }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_limit_is_a_number_or_a_percentage() {
        let t = |text: &str, limit: Option<MaxLoss>| assert_eq!(text.parse().ok(), limit, "{text:?}");
        t("0", Some(MaxLoss::Events(0)));
        t("100", Some(MaxLoss::Events(100)));
        t("0.1%", Some(MaxLoss::Percent(0.1)));
        t("100 %", Some(MaxLoss::Percent(100.0)));
        for wrong in ["", "%", "-1", "-1%", "101%", "NaN%", "inf%", "1.5"] {
            t(wrong, None);
        }
    }

    #[test]
    fn each_word_is_one_condition() {
        for (what, word, _) in FailOn::WORDS {
            let mut checks = Checks::default();
            *checks.of(*what) = true;
            assert_eq!(checks.fail_on().collect::<Vec<_>>(), [*what], "{word}");
        }
    }
}
