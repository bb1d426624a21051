//! Advice: why a recording likely lost something, and which settings of the session would likely have prevented it.
//!
//! Advice is no finding. It rests on what the file records and on the documented rules of `EVENT_TRACE_PROPERTIES`, and
//! may be wrong: the pool of buffers, the flush timer and the disk are in no file. So it decides nothing, no exit code and
//! no check.

mod recorded;
mod rules;
mod words;

pub(super) use rules::advice;
