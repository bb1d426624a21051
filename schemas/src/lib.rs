//! The built-in schemas of `etl2parquet`, packed: texts in zstd frames, and an index by GUID. `README.md` has their format.
//!
//! Nothing here reads the texts but for their places; what does expands the frames that it needs.
//!
//! ```
//! use base::guid::Guid;
//!
//! let dns: Guid = "1c95126e-7eea-49a9-a3fe-a378b03ddb4d".parse().unwrap();
//! let at = etl2parquet_schemas::PROVIDERS.binary_search_by(|section| section.guid.cmp(&dns)).unwrap();
//! assert_eq!(etl2parquet_schemas::PROVIDERS[at].name, "Microsoft-Windows-DNS-Client");
//! ```

mod index;
mod names;
mod releases;

pub use index::{
    CLASSES, CODES_SHARD, FIELDS, HOOK_GROUPS, HOOK_NAMES, IDENTITY, KEPT, NAMES, OVERRIDES, PROVIDERS, SHARDS,
    Section, TEXTS,
};
pub use names::{NameKind, Named};
pub use releases::{RELEASES, Release, Releases};

/// The text of names that providers share which describe themselves.
pub const RECURRING: &str = include_str!("../recurring.txt");
