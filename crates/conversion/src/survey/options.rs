//! Choices of the user that the survey depends on.

use base::clock::ClockAnchor;

/// Choices that the survey depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SurveyOptions {
    /// Which pair of tick and time the clock hangs on.
    pub anchor: ClockAnchor,
    /// Whether the files are hashed.
    pub hash: bool,
    /// Nanoseconds that are added to all times of a file.
    pub offset_ns: i64,
}
