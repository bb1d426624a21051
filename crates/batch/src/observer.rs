//! Who hears of a run while it goes on, and converts its recordings.

use std::fmt::Debug;

use base::error::Result;
use conversion::convert::ConvertOptions;
use conversion::convert::{Outcome, Recording};

use super::notice::Notice;

/// Who hears of a run. The command line writes notices to standard error; other programs hand them to a log.
pub trait Observer: Debug {
    /// Something to say.
    fn say(&self, notice: &Notice);

    /// Whether somebody wants to hear of what is as it should be.
    fn is_verbose(&self) -> bool {
        false
    }

    /// Whether somebody wants to hear of each trace, of one alone, too.
    fn hears_each(&self) -> bool {
        true
    }

    /// Whether the run has been asked to stop.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// The exit code of a run that has been asked to stop.
    fn interrupted_code(&self) -> u8 {
        130
    }
}

/// Converts recordings, several at a time where that is faster: see [`lanes`](super::lanes).
pub trait Converter {
    /// Converts the recordings at some positions, and shows what became of each, in that order. When `report` says that it is
    /// enough, no further one begins.
    fn convert(
        &self,
        recordings: &[Recording],
        positions: &[usize],
        options: &ConvertOptions,
        report: &mut dyn FnMut(usize, Result<Outcome>) -> bool,
    );
}
