//! What follows from the columns of a table alone: made once, however many tables of however many traces have them.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arrow_schema::{Schema, SchemaRef};
use base::error::{Error, Result};
use hashbrown::{DefaultHashBuilder, HashTable};

use super::encode::Encoder;
use super::file_schema::file_schema;
use super::properties::{Compression, EncodeOptions, EncoderKind, writer_properties};

/// Leaf columns of all encoders that are kept; one takes about a kilobyte.
const MAX_LEAVES: usize = 4096;

static KNOWN: LazyLock<Mutex<KnownEncoders>> = LazyLock::new(Mutex::default);

/// What beside the columns decides an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Settings {
    compression: Compression,
    kind: EncoderKind,
    rising: &'static [&'static str],
}

impl Settings {
    fn of(options: &EncodeOptions) -> Self {
        let EncodeOptions { compression, encoder: kind, rising, .. } = *options;
        Settings { compression, kind, rising }
    }
}

#[derive(Default)]
struct KnownEncoders {
    encoders: HashTable<(Settings, Arc<Encoder>)>,
    hasher: DefaultHashBuilder,
    /// Of all of them.
    leaves: usize,
}

/// The encoder of tables with these columns. One that was made before is as good as a new one: nothing changes in it.
///
/// # Errors
/// [`Usage`](base::error::ErrorKind::Usage) for a compression level that does not exist,
/// [`Internal`](base::error::ErrorKind::Internal) for a schema that Parquet cannot express.
pub(super) fn encoder_of(schema: &SchemaRef, options: &EncodeOptions) -> Result<Arc<Encoder>> {
    let settings = Settings::of(options);
    if let Some(encoder) = with_known(|known| known.find(schema, settings)) {
        return Ok(encoder);
    }
    let inexpressible = |cause| {
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        Error::bug(format!("no Parquet schema for the columns {}", names.join(", "))).caused_by(cause)
    };
    let file_schema = file_schema(schema).map_err(inexpressible)?;
    let properties = writer_properties(&file_schema, settings.compression, settings.rising)?;
    let encoder = Encoder::new(SchemaRef::clone(schema), file_schema, properties, settings.kind);
    let encoder = Arc::new(encoder.map_err(inexpressible)?);
    with_known(|known| known.keep(settings, &encoder));
    Ok(encoder)
}

fn with_known<T>(use_it: impl FnOnce(&mut KnownEncoders) -> T) -> T {
    // Nothing that can panic leaves it half done.
    use_it(&mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl KnownEncoders {
    fn find(&self, schema: &Schema, settings: Settings) -> Option<Arc<Encoder>> {
        let is_it = |(of, encoder): &(Settings, Arc<Encoder>)| *of == settings && **encoder.schema() == *schema;
        self.encoders.find(hash_of(&self.hasher, schema, settings), is_it).map(|(_, encoder)| Arc::clone(encoder))
    }

    fn keep(&mut self, settings: Settings, encoder: &Arc<Encoder>) {
        let (leaves, schema) = (encoder.descriptor().num_columns(), encoder.schema());
        if leaves > MAX_LEAVES || self.find(schema, settings).is_some() {
            return;
        }
        if self.leaves + leaves > MAX_LEAVES {
            (self.encoders, self.leaves) = (HashTable::new(), 0);
        }
        self.leaves += leaves;
        let KnownEncoders { encoders, hasher, .. } = self;
        let hash = hash_of(hasher, schema, settings);
        let rehash = |(settings, encoder): &(Settings, Arc<Encoder>)| hash_of(hasher, encoder.schema(), *settings);
        encoders.insert_unique(hash, (settings, Arc::clone(encoder)), rehash);
    }
}

/// Columns that are called the same are compared: there are few of them.
fn hash_of(hasher: &DefaultHashBuilder, schema: &Schema, settings: Settings) -> u64 {
    let mut state = hasher.build_hasher();
    settings.hash(&mut state);
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

    fn encoder(schema: &SchemaRef, settings: Settings) -> Arc<Encoder> {
        let file_schema = file_schema(schema).unwrap();
        let properties = writer_properties(&file_schema, settings.compression, settings.rising).unwrap();
        Arc::new(Encoder::new(Arc::clone(schema), file_schema, properties, settings.kind).unwrap())
    }

    #[test]
    fn an_encoder_is_found_for_what_it_was_made_for_alone() {
        let settings = Settings::of(&EncodeOptions::default());
        let made_for = schema(&["a", "b"], &DataType::Int64);
        let mut known = KnownEncoders::default();
        let kept = encoder(&made_for, settings);
        known.keep(settings, &kept);
        let is_found =
            |schema: &SchemaRef, settings| known.find(schema, settings).is_some_and(|found| Arc::ptr_eq(&found, &kept));
        assert!(is_found(&schema(&["a", "b"], &DataType::Int64), settings));
        assert!(!is_found(&made_for, Settings { compression: Compression::None, ..settings }));
        assert!(!is_found(&made_for, Settings { kind: EncoderKind::Arrow, ..settings }));
        assert!(!is_found(&made_for, Settings { rising: &["a"], ..settings }));
        assert!(!is_found(&schema(&["a", "b"], &DataType::UInt64), settings));
        assert!(!is_found(&schema(&["a", "c"], &DataType::Int64), settings));
        assert!(!is_found(&schema(&["a"], &DataType::Int64), settings));
    }

    #[test]
    fn few_columns_are_kept() {
        let settings = Settings::of(&EncodeOptions::default());
        let names: Vec<_> = (0..MAX_LEAVES).map(|number| number.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let of = |count: usize| schema(&names[names.len() - count..], &DataType::Int32);
        let mut known = KnownEncoders::default();
        for count in [MAX_LEAVES - 3, 2, 2, 1] {
            known.keep(settings, &encoder(&of(count), settings));
        }
        assert_eq!((known.leaves, known.encoders.len()), (MAX_LEAVES, 3));
        known.keep(settings, &encoder(&of(4), settings));
        assert_eq!((known.leaves, known.encoders.len()), (4, 1));
        assert!(known.find(&of(1), settings).is_none() && known.find(&of(4), settings).is_some());
    }
}
