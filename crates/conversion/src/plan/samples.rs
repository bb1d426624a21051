//! Reads back the events that candidates are held against.

use base::error::Result;
use base::progress::Progress;
use etl::event::RawEvent;
use etl::event::items::Items;
use etl::event::view::Event;
use etl::input::Input;
use etl::layout::extended::item_type;
use schema::tracelogging::{self, ProviderTraits};

use crate::survey::{FileKey, FileSurvey, read_back_parallel};

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
    /// The task.
    pub task: Option<u16>,
}

impl Sample {
    fn of(event: &Event<'_>) -> Sample {
        Sample {
            payload: event.payload.to_vec(),
            process_id: event.process_id,
            string_only: event.string_only,
            traits: traits(&event.items),
            task: event.task,
        }
    }

    /// Bytes of memory that it takes.
    fn size(&self) -> usize {
        size_of::<(u16, Sample)>() + self.payload.len() + self.traits.as_ref().map_or(0, |traits| traits.name.len())
    }
}

/// Bytes of samples that are kept; beyond that, shapes get no more than one.
const MAX_SAMPLE_BYTES: usize = 64 << 20;

/// Bytes of samples beyond which there are no more of them.
pub(super) const MAX_FIRST_SAMPLE_BYTES: usize = 96 << 20;

/// The samples of all shapes of a recording, read within bounds.
#[derive(Debug)]
pub struct Samples {
    /// By number of the shape, each with its rank among those that are wanted of it.
    of_shapes: Vec<Vec<(u16, Sample)>>,
    bytes: usize,
}

/// A sample that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The number of the shape.
    pub shape: usize,
    /// The place among the wanted samples of the shape, in order of time.
    pub rank: u16,
    /// Where it lies in its file.
    pub at: FileKey,
}

impl Samples {
    /// No samples of so many shapes.
    pub fn new(shapes: usize) -> Self {
        Samples { of_shapes: vec![Vec::new(); shapes], bytes: 0 }
    }

    /// Reads samples of a file, as far as there is room for them.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(
        &mut self,
        file: &FileSurvey,
        input: &dyn Input,
        wanted: &[Wanted],
        progress: &dyn Progress,
    ) -> Result<()> {
        let keys: Vec<FileKey> = wanted.iter().map(|wanted| wanted.at).collect();
        let context = file.rules().context;
        let read = |raw: &RawEvent<'_>| Sample::of(&Event::of(raw, &context));
        read_back_parallel(file, input, &keys, progress, read, |index, sample| self.take(&wanted[index], sample))
    }

    fn take(&mut self, wanted: &Wanted, sample: Sample) {
        let kept = &mut self.of_shapes[wanted.shape];
        let limit = if kept.is_empty() { MAX_FIRST_SAMPLE_BYTES } else { MAX_SAMPLE_BYTES };
        if self.bytes < limit {
            self.bytes += sample.size();
            kept.push((wanted.rank, sample));
        }
    }

    /// The samples of every shape, in order of time.
    pub fn finish(self) -> Vec<Vec<Sample>> {
        let in_order = |mut samples: Vec<(u16, Sample)>| {
            samples.sort_unstable_by_key(|(rank, _)| *rank);
            samples.into_iter().map(|(_, sample)| sample).collect()
        };
        self.of_shapes.into_iter().map(in_order).collect()
    }
}

fn traits(items: &Items<'_>) -> Option<ProviderTraits> {
    let item = items.clone().find(|item| item.item_type == item_type::PROVIDER_TRAITS)?;
    tracelogging::parse_traits(item.data).ok()
}
