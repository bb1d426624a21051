//! A message made ready for rendering.

use std::sync::Arc;

use super::format::{Piece, pieces};
use super::message::MessageFormat;

/// How one message is read and shown: made once, for messages that a trace holds.
#[derive(Debug)]
pub struct CompiledMessage {
    pub(super) format: Arc<MessageFormat>,
    /// How the text first inserts each argument: a conversion of `printf`.
    pub(super) conversions: Vec<u8>,
    pub(super) pieces: Vec<Piece>,
}

impl CompiledMessage {
    /// Cuts the text of a message into pieces.
    pub fn new(format: Arc<MessageFormat>) -> CompiledMessage {
        let mut pieces = pieces(&format.format, &format.arguments);
        let conversions = conversions(&pieces, format.arguments.len());
        for piece in &mut pieces {
            if let Piece::Argument { index, spec, is_whole, .. } = piece
                && let (Some(argument), Some(&conversion)) = (format.arguments.get(*index), conversions.get(*index))
            {
                *is_whole = argument.encoding.shows_whole(spec, conversion);
            }
        }
        CompiledMessage { format, conversions, pieces }
    }
}

/// The conversion of each argument's first insertion; `s` for those that the text does not insert.
fn conversions(pieces: &[Piece], arguments: usize) -> Vec<u8> {
    let mut conversions = vec![None; arguments];
    for piece in pieces {
        if let Piece::Argument { index, spec, .. } = piece
            && let Some(conversion) = conversions.get_mut(*index)
        {
            conversion.get_or_insert(spec.conversion);
        }
    }
    conversions.into_iter().map(|conversion| conversion.unwrap_or(b's')).collect()
}
