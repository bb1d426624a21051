//! Why walks are not joined to an event.

use crate::survey::walks::WalkPart;
use crate::survey::{Issue, IssueCode, Severity};

/// Declares the reasons, each with its words.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $text:literal,)*) => {
        /// Why a walk is not joined.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Reason {
            $($(#[$doc])* $reason,)*
        }

        const TEXTS: &[&str] = &[$($text),*];

        const REASONS: usize = TEXTS.len();
    };
}

reasons! {
    /// The recording has no event of the kernel before it at its event's time.
    NoEvent = "have no event before them at the time that they name",
    /// It has one, but not of the thread.
    OtherThread = "find only events of other threads, or of none that is known, at the time that they name",
    /// The walk comes long behind its event.
    TooLate = "come more than 16 s behind their event",
    /// The recording does not define the key.
    UnknownKey = "use a stack key that the recording does not define",
    /// The event would have more addresses than are joined.
    TooLong = "would give an event more than 1024 addresses",
    /// There are more walks, events or addresses than are kept.
    NoRoom = "are beyond what is kept of a recording",
}

/// Walks of one input that are not joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unjoined {
    /// All walks, the joined ones too.
    pub walks: u64,
    counts: [u64; REASONS],
}

impl Unjoined {
    /// Of so many walks those for which there was no room.
    pub(super) fn of(walks: u64, no_room: u64) -> Self {
        let mut unjoined = Unjoined { walks, ..Unjoined::default() };
        unjoined.counts[Reason::NoRoom as usize] = no_room;
        unjoined
    }

    /// Counts a walk.
    pub(super) fn count(&mut self, reason: Reason) {
        self.counts[reason as usize] += 1;
    }

    /// What is to be said of them.
    pub(super) fn issue(&self) -> Option<Issue> {
        let sum: u64 = self.counts.iter().sum();
        let counted = self.counts.iter().zip(TEXTS).filter(|(count, _)| **count > 0);
        let reasons: Vec<_> = counted.map(|(count, text)| format!("{count} {text}")).collect();
        let message = format!(
            "{sum} of {} stack walks are not joined to an event, and are rows alone: {}",
            self.walks,
            reasons.join(", ")
        );
        let severity = if self.counts[Reason::NoRoom as usize] > 0 { Severity::Warning } else { Severity::Info };
        (sum > 0).then(|| Issue::new(severity, IssueCode::StacksNotJoined, message))
    }
}

impl Reason {
    /// Why the part of a walk that is known cannot be joined; `None` where it can.
    pub(super) fn of(part: WalkPart) -> Option<Reason> {
        match part {
            WalkPart::List(_) => None,
            WalkPart::Key(_) | WalkPart::UnknownKey => Some(Reason::UnknownKey),
            WalkPart::TooLong => Some(Reason::TooLong),
            WalkPart::NoRoom => Some(Reason::NoRoom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_reported_with_their_counts() {
        let mut unjoined = Unjoined { walks: 9, ..Unjoined::default() };
        assert_eq!(unjoined.issue(), None);
        [Reason::TooLate, Reason::NoEvent, Reason::TooLate].into_iter().for_each(|reason| unjoined.count(reason));
        let issue = unjoined.issue().unwrap();
        assert_eq!((issue.severity, issue.code), (Severity::Info, IssueCode::StacksNotJoined));
        assert_eq!(
            issue.message,
            "3 of 9 stack walks are not joined to an event, and are rows alone: 1 have no event before them at the time \
             that they name, 2 come more than 16 s behind their event"
        );
        unjoined.count(Reason::NoRoom);
        assert_eq!(unjoined.issue().unwrap().severity, Severity::Warning);
    }
}
