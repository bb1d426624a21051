//! Schemas that a merge wrote into the trace: `TRACE_EVENT_INFO` and `EVENT_MAP_INFO`.
//!
//! They are the payloads of classic events of class [`EVENT_METADATA_CLASS`], resolved on the machine that recorded, one
//! blob per event and one per value map. Layout: `tdh.h`, observed in merged traces from Windows 8 to 11.
//!
//! [`EVENT_METADATA_CLASS`]: etl::layout::kernel::EVENT_METADATA_CLASS

mod info;
mod map;
mod properties;
mod reader;
mod set;
mod source;

pub use self::info::{EventInfo, EventInfoKey, OPCODE_EVENT_INFO};
pub use self::map::{MapInfo, OPCODE_MAP_INFO};
pub use self::set::{AddError, EventInfoSet};
pub use self::source::DecodingSource;

#[cfg(test)]
mod tests;
