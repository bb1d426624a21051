//! Finished Parquet column chunks, made here where more is known of a column than an Arrow array says.
//!
//! For the columns that it covers (numbers and timestamps, booleans, texts, binary values and GUIDs, lists of numbers or
//! texts, anything that is NULL throughout) a [`ChunkEncoder`] gives, byte for byte and in all its metadata, the column chunk that the column
//! writers of the parquet crate give for the same batches of rows under the same properties. Where it does not cover a
//! column it says so before the first batch or at any later one, and arrow-rs writes the column from its start: no setting
//! of this room changes an output file. Page headers, statistics, histograms and indexes are made by the crate's public
//! parts; levels, dictionaries, packing and differences are its own. `tests/encoders.rs` holds both encoders against one
//! another and names the facts of the crate that this relies on.

mod bits;
mod byte_dictionary;
mod byte_list;
mod byte_values;
mod bytes_interner;
mod compact;
mod compress;
mod delta;
mod encoder;
mod flag_values;
mod indices;
mod leaf;
mod levels;
mod number;
mod number_values;
mod pages;
mod truncation;
mod values;

pub(crate) use compact::CompactStruct;
pub use encoder::{ChunkEncoder, Push};
pub use leaf::Leaf;
pub use pages::EncodedChunk;
