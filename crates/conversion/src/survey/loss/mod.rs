//! The loss ledger: every sign in a file that something is missing from the recording, with where and when.
//!
//! | evidence | kind | file |
//! |---|---|---|
//! | counters of the header event | `events_lost`, `buffers_lost`, `real_time_buffers_lost` | `counters` |
//! | a series of files with a hole | `missing_file` | `series` |
//! | numbers that no buffer has | `sequence_gap` | `counters` |
//! | a ring: file or memory | `circular_overwrite` | `history` |
//! | the file ends early | `truncated_tail` | `history`, `buffers` |
//! | flags of buffers | `buffer_flag_events_lost`, `buffer_flag_buffer_lost` | `buffers` |
//! | bytes that cannot be read | `damaged_buffer`, `damaged_event` | `buffers` |
//! | records of the loss itself | `lost_event_record`, `last_dropped_time` | `notices` |
//!
//! Several rows may describe one loss: they are evidence and do not add up. Within the rows counted in bytes each byte
//! is counted once. What damage may have caused is never certain.

mod buffers;
mod counters;
mod history;
mod ledger;
mod listed;
mod notices;
mod row;
mod series;
mod span;

pub use history::{Overwritten, overwritten};
pub use ledger::Ledger;
pub use row::{LossKind, LossRow};
pub(super) use series::rows as missing_files;
