//! Reads Windows ETW traces (`.etl`) on any operating system: buffers, events of all header families, compressed buffers, and
//! traces within archives. It decodes no payloads; `etl2parquet`, which does, is built on it.
//!
//! # What an ETL file is
//!
//! A file is a chain of *buffers*, each filled by one processor and flushed as a whole. A buffer is a header of 72 bytes and events
//! one behind the other, at multiples of 8 bytes; the first event of the first buffer describes the session. Events ascend in time
//! within a processor, not within the file.
//!
//! ```text
//! | header event | … | buffer, CPU 0 | buffer, CPU 1 | buffer, CPU 0 | …
//! ```
//!
//! # The parts
//!
//! | module | |
//! |---|---|
//! | [`layout`] | structures as they lie in the file, with the vendor's names |
//! | [`input`] | bytes at an offset: of a file, of memory, of a member of an archive |
//! | [`session`] | what the header event says of the session, its clock and its losses |
//! | [`buffer`] | where the buffers of a file lie ([`scan`](buffer::scan)), and their event bytes ([`content`](buffer::content)) |
//! | [`reader`] | both together: what it takes to read any buffer of a file by itself |
//! | [`event`] | the walk through a buffer, one view of all header families, and what identifies an event |
//!
//! Every input is hostile: nothing here panics, allocates by a size that it has not checked, or reads a part of the file more than
//! a few times. Damage is no error: a [`Region`](buffer::scan::Region) or a [step of the walk](event::WalkStep) names the bytes, and
//! what follows is read.
//!
//! # Events, from the file to their headers
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::path::Path;
//!
//! use etl2parquet_etl::buffer::content::Scratch;
//! use etl2parquet_etl::buffer::scan::{BufferScan, Region};
//! use etl2parquet_etl::event::{Event, EventIdentity, Gap, TimedStep};
//! use etl2parquet_etl::input::LocalFile;
//! use etl2parquet_etl::reader::{BufferReader, ReadRules};
//! use etl2parquet_etl::session;
//!
//! # fn main() -> etl2parquet_etl::error::Result<()> {
//! let file = LocalFile::open(Path::new("../../examples/example.etl"))?;
//! let (session, scan_rules) = session::read(&file)?;
//! assert_eq!((session.cpu_count, session.pointer_size, session.events_lost), (4, 8, 3));
//!
//! let rules = ReadRules::of(&session);
//! let reader = BufferReader { rules, input: &file };
//! let mut scratch = Scratch::default();
//! let (mut buffers, mut events, mut of_provider) = (0, 0, BTreeMap::new());
//! let mut scan = BufferScan::new(&file, scan_rules, &[]);
//! while let Some(region) = scan.next_region()? {
//!     let Region::Buffer(extent, _) = region else { continue };
//!     buffers += 1;
//!     let content = reader.content(&extent, &mut scratch)?;
//!     for step in rules.walk(content.bytes(), 0, Gap::NONE) {
//!         let TimedStep::Event(timed) = step else { continue };
//!         let event = Event::of(&timed.raw, &rules.context);
//!         assert!(event.payload.len() < timed.raw.bytes.len());
//!         events += 1;
//!         if let Some(provider) = EventIdentity::of(&timed.raw, &rules.context).provider_id() {
//!             *of_provider.entry(provider.to_string()).or_insert(0) += 1;
//!         }
//!     }
//! }
//! assert_eq!((buffers, events), (17, 1219));
//! // Microsoft-Windows-DNS-Client.
//! assert_eq!(of_provider["1c95126e-7eea-49a9-a3fe-a378b03ddb4d"], 73);
//! # Ok(())
//! # }
//! ```
//!
//! Times are ticks of the session's clock; [`Session::clock`](session::Session::clock) turns them into nanoseconds since 1970.
//!
//! # A trace within an archive
//!
//! ```
//! use etl2parquet_etl::error::ErrorCode;
//! use etl2parquet_etl::input::{Address, MemoryInput};
//! use etl2parquet_etl::session;
//!
//! // An address names the archive, and the member in it.
//! let address = Address::from("lab.zip").member("x/boot.etl");
//! assert_eq!(address, Some(Address::from("lab.zip!/x/boot.etl")));
//!
//! // What is no trace says what it looks like.
//! let error = session::read(&MemoryInput::new("a.etl", b"PK\x03\x04".to_vec())).unwrap_err();
//! assert_eq!(error.code(), ErrorCode::NotATrace);
//! assert!(error.to_string().contains("this is a zip archive: unpack it first"));
//! ```

pub mod buffer;
pub mod event;
pub mod input;
pub mod layout;
pub mod reader;
pub mod session;

#[doc(no_inline)]
pub use base::{clock, error, guid};
