//! A writer of ETL traces for tests, benches and the committed example.
//!
//! It shares nothing with the reader: every offset below is written down a second time, from the format description,
//! so that a wrong layout in the library cannot agree with itself. Nothing here computes an expectation; tests state
//! theirs by hand.
//!
//! A trace is a [`Header`] (the header event) and [`Buffer`]s in file order; a buffer holds events in the order in which
//! they were added. Every value that is not set has the default documented at its field. Times are raw clock ticks; with
//! the default header, tick [`T0`] is midnight of 2025-01-01 UTC and one tick is 100 ns.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each crate that includes this module uses a part of it")]
#![allow(clippy::doc_markdown, reason = "the names of the format stand in nearly every sentence")]
#![allow(clippy::must_use_candidate, reason = "nobody outside of tests can call these functions")]

/// Generates chained setters of the same name as their fields.
macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = $name;
                self
            }
        )*
    };
}

pub mod binary;
pub mod buffer;
pub mod bulk;
pub mod classic;
pub mod damage;
pub mod event;
pub mod header;
pub mod items;
pub mod kernel;
pub mod kinds;
pub mod message;
pub mod payload;
pub mod session;
pub mod trace;
pub mod tracelogging;
pub mod wide;
pub mod xpress;

pub use buffer::{Buffer, buffer};
pub use bulk::{Bulk, bulk};
pub use classic::{Classic, full32, full64, instance32, instance64};
pub use event::{Event, event32, event64, eventsource_manifest};
pub use header::{Header, TimeZone, header};
pub use items::Item;
pub use kernel::{Kernel, compact32, compact64, perfinfo32, perfinfo64, system32, system64};
pub use kinds::{kind, kinds};
pub use message::{Message, message};
pub use payload::{Guid, OnDisk, Payload, guid, payload};
pub use session::{Random, Session};
pub use trace::{Trace, circular, trace};
pub use wide::{Wide, wide};

/// Raw time of the header event unless set: the base of the trace's clock.
pub const T0: i64 = 1_000_000;
/// `StartTime` of the header event unless set: 2025-01-01T00:00:00Z as FILETIME (Unix time 1 735 689 600 s).
pub const START: i64 = 133_801_632_000_000_000;
/// `PerfFreq` of the header event unless set: 10 MHz, one tick is 100 ns.
pub const FREQUENCY: i64 = 10_000_000;
