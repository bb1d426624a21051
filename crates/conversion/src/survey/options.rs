//! Choices of the user that the survey depends on.

use base::clock::ClockAnchor;
use etl::event::subject::Subject;

/// Choices that the survey depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SurveyOptions {
    /// Which pair of tick and time the clock hangs on.
    pub anchor: ClockAnchor,
    /// Whether the files are hashed.
    pub hash: bool,
    /// Nanoseconds that are added to all times of a file.
    pub offset_ns: i64,
    /// What is kept of the events.
    pub keeps: Keeps,
}

/// What the survey keeps of events, as far as there is room, so that nobody reads their buffers again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keeps {
    /// The subjects whose ids are asked for: the events that describe them.
    pub subjects: &'static [Subject],
    /// Whether the stacks of all events are asked for: what events record of them.
    pub stacks: bool,
}
