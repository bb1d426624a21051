//! What every crate of `etl2parquet` uses, whatever it does: [errors](error), [GUIDs](guid), [SIDs](sid), [clocks](clock) and
//! calendar times, [names of folders](names), [`progress`], and how numbers and hostile text [are shown](readable).
//!
//! Nothing here knows of buffers, events or Parquet.
//!
//! ```
//! use etl2parquet_base::error::{Error, ErrorKind};
//! use etl2parquet_base::guid::Guid;
//! use etl2parquet_base::names::safe_name;
//!
//! // A GUID in any of its spellings, and in the one that is written.
//! let guid: Guid = "{01E9B841-7D67-315A-7B92-23B2033356DE}".parse().unwrap();
//! assert_eq!(guid.to_string(), "01e9b841-7d67-315a-7b92-23b2033356de");
//!
//! // A folder that every system can have.
//! assert_eq!(safe_name("a/b?"), "a_x2F_b_x3F_");
//!
//! // What was found, where, and what to do.
//! let error = Error::new(ErrorKind::Input, "expected a trace, found nothing").in_file("a.etl").with_hint("copy it again");
//! assert_eq!(error.to_string(), "a.etl: expected a trace, found nothing (copy it again)");
//! ```

pub mod address;
pub mod calendar;
pub mod clock;
pub mod disk;
pub mod error;
pub mod guid;
pub mod listing;
pub mod names;
pub mod progress;
pub mod readable;
pub mod remote;
pub mod resources;
pub mod settings;
pub mod sid;
pub mod sizes;
pub mod suggest;
pub mod words;
