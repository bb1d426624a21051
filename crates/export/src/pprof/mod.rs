//! Profiles of pprof: `profile.proto` of <https://github.com/google/pprof>, compressed with gzip.

mod message;
mod tables;
mod write;

pub(crate) use write::pprof;
