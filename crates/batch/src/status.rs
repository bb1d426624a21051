//! Exit codes: few, documented, and of several the gravest.

use base::error::ErrorKind;
use columnar::output::refusal::RefusalKind;
use conversion::convert::{Outcome, Report};

/// Done.
pub const SUCCESS: u8 = 0;
/// A bug, or an input that changed while it was read.
pub const INTERNAL: u8 = 1;
/// The command line makes no sense.
pub const USAGE: u8 = 2;
/// No input could be read.
pub const NO_INPUT: u8 = 3;
/// Done, with damage, or with inputs in quarantine.
pub const DAMAGED: u8 = 4;
/// A condition of publishing was not met.
pub const REFUSED: u8 = 5;
/// The output could not be written.
pub const OUTPUT: u8 = 6;
/// What is published is not what was published.
pub const MISMATCH: u8 = 7;
/// Another run still had a trace in work at the end.
pub const BUSY: u8 = 8;

/// What became of the inputs of a run.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that can go wrong, in any combination")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStatus {
    /// Recordings that could be read.
    pub readable: u64,
    /// Inputs that could not.
    unreadable: u64,
    /// Whether anything of the readable ones is damaged.
    pub damaged: bool,
    /// Whether a condition of publishing was not met.
    refused: bool,
    /// Recordings of which the filters pass no event.
    empty: u64,
    /// Whether the command line makes no sense for a trace, such as one whose name another recording has; others are converted.
    pub usage: bool,
    /// Whether another run still has a trace in work.
    busy: bool,
    /// Whether the output failed somewhere.
    output: bool,
    /// Whether something failed that should not.
    internal: bool,
    /// The code of a run that was stopped.
    stopped: Option<u8>,
}

impl RunStatus {
    /// Of a run with so many traces that can be read.
    pub fn with_readable(readable: u64) -> Self {
        RunStatus { readable, ..RunStatus::default() }
    }

    /// Counts what became of a recording, now or in an earlier run.
    pub fn count(&mut self, outcome: &Outcome) {
        let known = match outcome {
            Outcome::KnownRefusal(known) => Some(known.kind),
            _ => None,
        };
        if known == Some(RefusalKind::Unreadable) {
            self.unreadable += 1;
            return;
        }
        self.readable += 1;
        self.busy |= matches!(outcome, Outcome::Busy);
        self.refused |= matches!(outcome, Outcome::Refused(..)) || known == Some(RefusalKind::Gated);
        self.empty += u64::from(matches!(outcome, Outcome::Empty(_)) || known == Some(RefusalKind::Empty));
        self.damaged |= outcome.report().is_some_and(Report::is_damaged);
    }

    /// Counts a failure. `interrupted` is the code for an interrupted run.
    pub fn fail(&mut self, kind: ErrorKind, interrupted: u8) {
        match kind {
            ErrorKind::Input => self.unreadable += 1,
            ErrorKind::Output => self.output = true,
            ErrorKind::Usage => self.stopped = Some(USAGE),
            ErrorKind::Interrupted => self.stopped = Some(interrupted),
            // Internal errors, and kinds that this function does not know.
            _ => self.internal = true,
        }
    }

    /// Counts that what was asked for is not there.
    pub fn refuse(&mut self) {
        self.refused = true;
    }

    /// Whether the run ends before its last input.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            RunStatus { stopped: Some(code), .. } => *code,
            RunStatus { internal: true, .. } => INTERNAL,
            RunStatus { output: true, .. } => OUTPUT,
            RunStatus { refused: true, .. } => REFUSED,
            RunStatus { empty: 1.., .. } if self.empty == self.readable => REFUSED,
            RunStatus { usage: true, .. } => USAGE,
            RunStatus { busy: true, .. } => BUSY,
            RunStatus { readable: 0, unreadable: 1.., .. } => NO_INPUT,
            RunStatus { damaged: true, .. } | RunStatus { unreadable: 1.., .. } => DAMAGED,
            _ => SUCCESS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_applies() {
        let good = RunStatus { readable: 2, ..RunStatus::default() };
        let damaged = RunStatus { damaged: true, ..good };
        let busy = RunStatus { busy: true, ..damaged };
        let usage = RunStatus { usage: true, ..busy };
        let refused = RunStatus { refused: true, ..usage };
        let output = RunStatus { output: true, ..refused };
        let internal = RunStatus { internal: true, ..output };
        let all = [good, damaged, busy, usage, refused, output, internal].map(|status| status.code());
        assert_eq!(all, [SUCCESS, DAMAGED, BUSY, USAGE, REFUSED, OUTPUT, INTERNAL]);
    }

    #[test]
    fn filters_that_pass_nothing_at_all_are_refused() {
        let code = |empty, readable| RunStatus { readable, empty, ..RunStatus::default() }.code();
        assert_eq!([code(0, 0), code(0, 2), code(1, 2), code(2, 2)], [SUCCESS, SUCCESS, SUCCESS, REFUSED]);
    }

    #[test]
    fn unreadable_inputs_count_as_damage_while_others_are_readable() {
        let code = |readable, kinds: &[ErrorKind]| {
            let mut status = RunStatus { readable, ..RunStatus::default() };
            for &kind in kinds {
                status.fail(kind, 143);
            }
            status.code()
        };
        assert_eq!(code(0, &[ErrorKind::Input]), NO_INPUT);
        assert_eq!(code(1, &[ErrorKind::Input]), DAMAGED);
        assert_eq!(code(0, &[ErrorKind::Input, ErrorKind::Output]), OUTPUT);
        assert_eq!(code(1, &[ErrorKind::Output, ErrorKind::Internal]), INTERNAL);
        assert_eq!(code(1, &[ErrorKind::Internal, ErrorKind::Interrupted]), 143);
        assert_eq!(code(1, &[ErrorKind::Usage]), USAGE);
    }
}
