//! Reads back the events that candidates are held against.

use crate::error::Result;
use crate::event::RawEvent;
use crate::event::items::Items;
use crate::event::view::Event;
use crate::layout::extended::item_type;
use crate::schema::tracelogging::{self, ProviderTraits};
use crate::survey::{FileSurvey, OrderKey, Progress, recall_all};

/// An event of a shape, kept to hold candidates against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The payload.
    pub payload: Vec<u8>,
    /// The writing process.
    pub process_id: Option<u32>,
    /// Whether the event says that its payload is one string.
    pub string_only: bool,
    /// The provider's traits.
    pub traits: Option<ProviderTraits>,
}

impl Sample {
    fn of(event: &Event<'_>) -> Sample {
        Sample {
            payload: event.payload.to_vec(),
            process_id: event.process_id,
            string_only: event.string_only,
            traits: traits(&event.items),
        }
    }
}

/// Bytes of samples that are kept; beyond that, shapes get fewer.
const MAX_SAMPLE_BYTES: usize = 64 << 20;

/// Reads sample events of every shape of a file, in file order; the index is that of [`FileSurvey::shapes`].
///
/// # Errors
/// When the file cannot be read.
pub fn samples(file: &FileSurvey, progress: &dyn Progress) -> Result<Vec<Vec<Sample>>> {
    let wanted = file.shapes.iter().enumerate();
    let wanted = wanted.flat_map(|(shape, (_, tally))| tally.samples.iter().map(move |&at| (shape, at)));
    let (shapes, keys): (Vec<usize>, Vec<OrderKey>) = wanted.unzip();
    let mut samples: Vec<Vec<Sample>> =
        file.shapes.iter().map(|(_, tally)| Vec::with_capacity(tally.samples.len())).collect();
    let context = file.ground().context;
    let mut bytes = 0;
    let read = |raw: &RawEvent<'_>| Sample::of(&Event::of(raw, &context));
    recall_all(file, &keys, progress, read, |index, sample| {
        let kept = &mut samples[shapes[index]];
        // Every shape keeps one.
        if bytes < MAX_SAMPLE_BYTES || kept.is_empty() {
            bytes += sample.payload.len();
            kept.push(sample);
        }
    })?;
    Ok(samples)
}

fn traits(items: &Items<'_>) -> Option<ProviderTraits> {
    let item = items.clone().find(|item| item.kind == item_type::PROVIDER_TRAITS)?;
    tracelogging::parse_traits(item.data).ok()
}
