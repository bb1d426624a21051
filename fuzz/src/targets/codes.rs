//! The exit codes that the command line gives for a trace.

use batch::RunStatus;
use conversion::commit::checks::check_survey;
use conversion::convert::Checks;
use conversion::survey::{FileFacts, FileSurvey};
use etl2parquet::{ConvertOptions, Error};

use super::traces::converted;

/// Done.
const DONE: u8 = 0;
/// Done, with damage.
const DAMAGED: u8 = 4;
/// A check kept the trace from being published.
const REFUSED: u8 = 5;

/// All that is asked of the recording by `--fail-on`.
const CHECKS: Checks = Checks {
    max_loss: None,
    loss: true,
    known_loss: true,
    disorder: true,
    undecoded: false,
    new_names: false,
    damage: true,
};

/// The exit codes for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes {
    /// Without checks.
    pub plain: u8,
    /// With `--fail-on loss,known-loss,disorder,damage`.
    pub checked: u8,
}

impl Codes {
    /// Those that follow from the survey of the only input.
    pub fn of_survey(file: &FileSurvey, facts: &[FileFacts]) -> Codes {
        let plain = if file.is_damaged() { DAMAGED } else { DONE };
        let refused = check_survey(std::slice::from_ref(file), facts, &CHECKS);
        Codes { plain, checked: if refused.is_some() { REFUSED } else { plain } }
    }

    /// Those of whole conversions.
    ///
    /// # Errors
    /// Those of a conversion.
    pub fn of_conversions(trace: &[u8]) -> Result<Codes, Error> {
        let code = |checks| {
            let mut options = ConvertOptions::new("out").threads(1);
            (options.memory, options.checks) = (ConvertOptions::MIN_MEMORY, checks);
            let mut status = RunStatus::default();
            status.count(&converted(trace, &options)?.0);
            Ok(status.code())
        };
        Ok(Codes { plain: code(Checks::default())?, checked: code(CHECKS)? })
    }

    /// Whether the exit code shows somebody who asks for it that events are gone.
    pub fn shows_loss(self) -> bool {
        self.checked != DONE
    }
}
