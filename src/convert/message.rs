//! Fills the text columns of WPP messages whose format is known.

use crate::decode::Status;
use crate::event::Event;
use crate::schema::wpp::{ArgumentStatus, CompiledMessage, HeaderValues, Renderer};
use crate::table::rows::{RowStatus, Rows};
use crate::table::sparse::Span;

/// What a message's text can say beside the event itself.
#[derive(Clone, Copy, Debug)]
pub struct MessagePlace {
    /// Pointer size of the arguments in bytes.
    pub pointer_size: u8,
    /// The processor.
    pub cpu: Option<u16>,
    /// Unix time in nanoseconds.
    pub ns: i64,
}

/// Renders messages one after the other.
#[derive(Debug, Default)]
pub struct MessageText {
    renderer: Renderer,
    text: String,
}

impl MessageText {
    /// Adds text and arguments of an event to the row that is about to be added to `rows`. Says how well the arguments
    /// fit the format, and whether the payload must be kept.
    pub fn render(
        &mut self,
        plan: &CompiledMessage,
        event: &Event<'_>,
        place: &MessagePlace,
        rows: &mut Rows,
    ) -> (RowStatus, bool) {
        let header = HeaderValues {
            thread_id: event.thread_id,
            process_id: event.process_id,
            sequence: event.message.and_then(|message| message.sequence),
            cpu: place.cpu,
            timestamp_ns: Some(place.ns),
        };
        self.text.clear();
        let row = rows.count();
        let first = rows.arguments.items.len();
        let (spans, texts) = (&mut rows.arguments.items, &mut rows.argument_text);
        let rendered =
            self.renderer.render(plan, event.payload, place.pointer_size, &header, &mut self.text, |argument| {
                let at = |len: usize| u32::try_from(len).expect("a part of a slice holds far less than 4 GiB");
                spans.push(Span { start: at(texts.len()), len: at(argument.len()) });
                texts.extend_from_slice(argument.as_bytes());
            });
        rows.arguments.end_row(row, first);
        rows.message.push(row, self.text.as_bytes());
        let status = match rendered.status {
            ArgumentStatus::Exact => Status::Ok,
            ArgumentStatus::Extra => Status::Extra,
            ArgumentStatus::Short => Status::Short,
            ArgumentStatus::Error | ArgumentStatus::UnknownType => Status::Error,
        };
        (RowStatus::Decoded(status), !status.is_whole() || !rendered.faithful)
    }
}
