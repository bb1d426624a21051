//! What follows from the columns of a table alone: made once, however many tables of however many traces have them.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arrow_schema::{Schema, SchemaRef};
use hashbrown::{DefaultHashBuilder, HashTable};

use super::encode::Encoder;
use super::file_schema::file_schema;
use super::properties::{Compression, EncodeOptions, EncoderKind, writer_properties};
use crate::error::{Error, Result};

/// Leaf columns of all encoders that are kept; one takes about a kilobyte.
const MAX_LEAVES: usize = 4096;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Known {
    encoders: HashTable<(Compression, Arc<Encoder>)>,
    hasher: DefaultHashBuilder,
    /// Of all of them.
    leaves: usize,
}

/// The encoder of tables with these columns. One that was made before is as good as a new one: nothing changes in it.
///
/// # Errors
/// [`Usage`](crate::ErrorKind::Usage) for a compression level that does not exist,
/// [`Internal`](crate::ErrorKind::Internal) for a schema that Parquet cannot express.
pub(super) fn encoder_of(schema: &SchemaRef, options: &EncodeOptions) -> Result<Arc<Encoder>> {
    let (compression, kind) = (options.compression, options.encoder);
    if let Some(encoder) = with_known(|known| known.find(schema, compression, kind)) {
        return Ok(encoder);
    }
    let inexpressible = |cause| {
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        Error::bug(format!("no Parquet schema for the columns {}", names.join(", "))).caused_by(cause)
    };
    let file_schema = file_schema(schema).map_err(inexpressible)?;
    let properties = writer_properties(&file_schema, compression)?;
    let encoder = Encoder::new(SchemaRef::clone(schema), file_schema, properties, kind).map_err(inexpressible)?;
    let encoder = Arc::new(encoder);
    with_known(|known| known.keep(compression, &encoder));
    Ok(encoder)
}

fn with_known<T>(use_it: impl FnOnce(&mut Known) -> T) -> T {
    // Nothing that can panic leaves it half done.
    use_it(&mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Known {
    fn find(&self, schema: &Schema, compression: Compression, kind: EncoderKind) -> Option<Arc<Encoder>> {
        let is_it = |(of, encoder): &(Compression, Arc<Encoder>)| {
            *of == compression && encoder.kind() == kind && **encoder.schema() == *schema
        };
        self.encoders.find(self.hash(schema, compression, kind), is_it).map(|(_, encoder)| Arc::clone(encoder))
    }

    fn keep(&mut self, compression: Compression, encoder: &Arc<Encoder>) {
        let leaves = encoder.descriptor().num_columns();
        let (schema, kind) = (encoder.schema(), encoder.kind());
        if leaves > MAX_LEAVES || self.find(schema, compression, kind).is_some() {
            return;
        }
        if self.leaves + leaves > MAX_LEAVES {
            (self.encoders, self.leaves) = (HashTable::new(), 0);
        }
        self.leaves += leaves;
        let (hash, Known { encoders, hasher, .. }) = (self.hash(schema, compression, kind), self);
        let rehash = |(compression, encoder): &(Compression, Arc<Encoder>)| {
            hash_of(hasher, encoder.schema(), *compression, encoder.kind())
        };
        encoders.insert_unique(hash, (compression, Arc::clone(encoder)), rehash);
    }

    fn hash(&self, schema: &Schema, compression: Compression, kind: EncoderKind) -> u64 {
        hash_of(&self.hasher, schema, compression, kind)
    }
}

/// Columns that are called the same are compared: there are few of them.
fn hash_of(hasher: &DefaultHashBuilder, schema: &Schema, compression: Compression, kind: EncoderKind) -> u64 {
    let mut state = hasher.build_hasher();
    (compression, kind).hash(&mut state);
    schema.fields().iter().for_each(|field| field.name().hash(&mut state));
    state.finish()
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    fn schema(names: &[&str], data_type: &DataType) -> SchemaRef {
        let fields: Vec<_> = names.iter().map(|name| Field::new(*name, data_type.clone(), true)).collect();
        Arc::new(Schema::new(fields))
    }

    fn encoder(schema: &SchemaRef, compression: Compression, kind: EncoderKind) -> Arc<Encoder> {
        let file_schema = file_schema(schema).unwrap();
        let properties = writer_properties(&file_schema, compression).unwrap();
        Arc::new(Encoder::new(Arc::clone(schema), file_schema, properties, kind).unwrap())
    }

    #[test]
    fn an_encoder_is_found_for_what_it_was_made_for_alone() {
        let (zstd, none) = (Compression::Zstd(3), Compression::None);
        let made_for = schema(&["a", "b"], &DataType::Int64);
        let mut known = Known::default();
        let kept = encoder(&made_for, zstd, EncoderKind::Own);
        known.keep(zstd, &kept);
        let is_found = |schema: &SchemaRef, compression, kind| {
            known.find(schema, compression, kind).is_some_and(|found| Arc::ptr_eq(&found, &kept))
        };
        assert!(is_found(&schema(&["a", "b"], &DataType::Int64), zstd, EncoderKind::Own));
        assert!(!is_found(&made_for, none, EncoderKind::Own));
        assert!(!is_found(&made_for, zstd, EncoderKind::Arrow));
        assert!(!is_found(&schema(&["a", "b"], &DataType::UInt64), zstd, EncoderKind::Own));
        assert!(!is_found(&schema(&["a", "c"], &DataType::Int64), zstd, EncoderKind::Own));
        assert!(!is_found(&schema(&["a"], &DataType::Int64), zstd, EncoderKind::Own));
    }

    #[test]
    fn few_columns_are_kept() {
        let (zstd, own) = (Compression::Zstd(3), EncoderKind::Own);
        let names: Vec<_> = (0..MAX_LEAVES).map(|number| number.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let of = |count: usize| schema(&names[names.len() - count..], &DataType::Int32);
        let mut known = Known::default();
        for count in [MAX_LEAVES - 3, 2, 2, 1] {
            known.keep(zstd, &encoder(&of(count), zstd, own));
        }
        assert_eq!((known.leaves, known.encoders.len()), (MAX_LEAVES, 3));
        known.keep(zstd, &encoder(&of(4), zstd, own));
        assert_eq!((known.leaves, known.encoders.len()), (4, 1));
        assert!(known.find(&of(1), zstd, own).is_none() && known.find(&of(4), zstd, own).is_some());
    }
}
