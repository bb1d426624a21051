//! What `--version` says: which program this is, exactly.

include!(concat!(env!("OUT_DIR"), "/version.rs"));
