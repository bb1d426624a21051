//! Profiles of pprof: `profile.proto` of <https://github.com/google/pprof>, compressed with gzip.

mod tables;
mod write;

pub(crate) use write::pprof;
