//! Fills the text columns of WPP messages whose format is known, and of events whose template is.

use etl::event::Event;
use schema::wpp::{ArgumentStatus, CompiledMessage, HeaderValues, Renderer};

use crate::decode::{DecodeOutcome, MessageProgram, MessageScratch, Status};
use crate::table::HeaderColumns;

/// What a message's text can say beside the event itself.
#[derive(Clone, Copy, Debug)]
pub struct MessageContext {
    /// Pointer size of the arguments in bytes.
    pub pointer_size: u8,
    /// The processor.
    pub cpu: Option<u16>,
    /// Unix time in nanoseconds.
    pub ns: i64,
}

/// What an argument counts beside its text.
const ARGUMENT_WEIGHT: u64 = 8;

/// Renders messages one after the other.
#[derive(Debug, Default)]
pub struct MessageRenderer {
    renderer: Renderer,
    text: String,
    scratch: MessageScratch,
}

impl MessageRenderer {
    /// Adds what an event says in words to the row that is about to be pushed to `header`, and to `weight` that of the text.
    pub fn put_in_words(
        &mut self,
        program: &MessageProgram,
        payload: &[u8],
        header: &mut HeaderColumns,
        weight: &mut u64,
    ) {
        let text = program.render(payload, &mut self.scratch);
        *weight += text.len() as u64;
        header.push_rendered(text);
    }

    /// Adds the text of the message that was rendered last as what the event says in words.
    pub fn repeat(&self, header: &mut HeaderColumns, weight: &mut u64) {
        *weight += self.text.len() as u64;
        header.push_rendered(self.text.as_bytes());
    }

    /// Adds text and arguments of an event to the row that is about to be pushed to `header`, and to `weight` that of the
    /// text and its arguments, and of what separates the arguments.
    pub fn render(
        &mut self,
        message: &CompiledMessage,
        event: &Event<'_>,
        context: &MessageContext,
        header: &mut HeaderColumns,
        weight: &mut u64,
    ) -> DecodeOutcome {
        let values = HeaderValues {
            thread_id: event.thread_id,
            process_id: event.process_id,
            sequence: event.message.and_then(|message| message.sequence),
            cpu: context.cpu,
            timestamp_ns: Some(context.ns),
        };
        self.text.clear();
        let push = |argument: &str| {
            *weight += argument.len() as u64 + ARGUMENT_WEIGHT;
            header.push_argument(argument);
        };
        let rendered =
            self.renderer.render(message, event.payload, context.pointer_size, &values, &mut self.text, push);
        header.push_message(&self.text);
        let status = match rendered.status {
            ArgumentStatus::Exact => Status::Ok,
            ArgumentStatus::Extra => Status::Extra,
            ArgumentStatus::Short => Status::Short,
            ArgumentStatus::Error | ArgumentStatus::UnknownType => Status::Error,
        };
        *weight += self.text.len() as u64;
        DecodeOutcome { status, keep_payload: !status.is_whole() || !rendered.faithful }
    }
}
