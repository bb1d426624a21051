//! Manifests that .NET `EventSource` providers write into the trace, in chunks.
//!
//! Each provider repeats its manifest when it is enabled and when the session ends, and several processes (or two
//! copies of a library in one) write at the same time. A chunk is the payload of an event of id [`EVENT_ID`]: an
//! eight-byte envelope (`ManifestEnvelope` of the .NET runtime) and a fragment of UTF-8 text.

mod chunks;
mod manifests;
mod payloads;

pub use self::chunks::{ChunkLocation, Delivery};
pub use self::manifests::{ChunkResult, EVENT_ID, EventSourceManifests, Flaw, ManifestIssue, Standing};
pub use self::payloads::{ChunkPayload, ChunkPayloads};
