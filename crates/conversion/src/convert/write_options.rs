//! How event files are written.

use columnar::columns::TypeOptions;
use columnar::dataset::{Compression, EncodeOptions, EncoderKind};
use serde::{Deserialize, Serialize};

use super::policies::{RawPolicy, ViewScripts};

/// What decides the bytes of files besides the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteOptions {
    /// All options that count, as the manifest has them.
    pub settings: serde_json::Value,
    /// Column types.
    pub types: TypeOptions,
    /// When raw payloads are written.
    pub raw: RawPolicy,
    /// For which engines there is a script of the views.
    pub views: ViewScripts,
    /// The codec of every page.
    pub compression: Compression,
    /// Rows at which a row group is closed.
    pub row_group_rows: u32,
    /// Bytes at which a file is closed.
    pub max_file_size: u64,
    /// Who encodes columns; no matter of the files, so that no plan states it.
    #[serde(skip)]
    pub encoder: EncoderKind,
}

impl WriteOptions {
    /// Those of them that concern files alone.
    pub fn encode_options(&self) -> EncodeOptions {
        EncodeOptions {
            compression: self.compression,
            max_file_size: self.max_file_size,
            encoder: self.encoder,
            ..EncodeOptions::default()
        }
    }
}
