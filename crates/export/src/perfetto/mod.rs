//! Traces of Perfetto: messages of <https://github.com/google/perfetto/tree/main/protos/perfetto/trace>, whose names and numbers of
//! fields the constants here have.

mod counters;
mod lanes;
mod packets;
mod pauses;
mod processes;
mod samples;
mod scheduling;
mod slices;
mod tracks;
mod write;

pub(crate) use write::perfetto;
