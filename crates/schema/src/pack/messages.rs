//! What events say in words, as far as it may be handed on (format of the text: `schemas/README.md`).

use super::layouts::PackLayout;
use crate::model::SchemaError;

/// The texts of the events of one provider.
#[derive(Debug)]
pub(super) struct Messages(Vec<Message>);

/// The text of one event.
#[derive(Debug)]
struct Message {
    /// The event id and its version.
    event: (u16, u16),
    /// Which of the pack's origins has the text; its layout of the event is the one that has the fields that are inserted.
    origin: &'static str,
    /// A template.
    text: &'static str,
}

impl Messages {
    /// Reads a section.
    ///
    /// # Errors
    /// What is no line of the format, with its number.
    pub(super) fn parse(text: &'static str) -> Result<Messages, SchemaError> {
        let mut messages = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let other = || SchemaError::at_line(number + 1, format!("not a line of the format: `{line}`"));
            let cells: Vec<&'static str> = line.split('\t').collect();
            match cells[..] {
                ["X", id, version, origin, text] => {
                    let event = id.parse().ok().zip(version.parse().ok()).ok_or_else(other)?;
                    messages.push(Message { event, origin, text });
                }
                ["P", ..] => {}
                _ => return Err(other()),
            }
        }
        messages.sort_by_key(|message| message.event);
        Ok(Messages(messages))
    }

    /// Gives each layout the text of its event, where both are of one origin: others may have other fields at the places that it inserts.
    pub(super) fn add_to(&self, layouts: &mut [PackLayout]) {
        for layout in layouts {
            let Ok(at) = self.0.binary_search_by_key(&(layout.id, layout.version), |message| message.event) else {
                continue;
            };
            let Message { origin, text, .. } = self.0[at];
            layout.message = layout.origins.split(',').any(|own| own == origin).then_some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{self, Part};
    use crate::pack::Pack;

    #[test]
    fn a_section_is_read_or_refused_by_line() {
        let messages = Messages::parse("P\tx\ty\nX\t2\t1\tmsquic\tb %1\nX\t2\t0\tmsquic\ta").unwrap();
        let read: Vec<_> = messages.0.iter().map(|m| (m.event, m.origin, m.text)).collect();
        assert_eq!(read, [((2, 0), "msquic", "a"), ((2, 1), "msquic", "b %1")]);
        for line in ["X\t2\t1\tmsquic", "X\t65536\t1\tmsquic\ta", "X\t1\tv\tmsquic\ta", "Y"] {
            let text: &'static str = format!("P\tx\ty\n{line}").leak();
            assert!(Messages::parse(text).unwrap_err().to_string().starts_with("line 2"), "{line}");
        }
    }

    /// Every text is that of a layout, and inserts no field that the layout lacks.
    #[test]
    fn every_text_has_its_layout() {
        let pack = Pack::builtin();
        let mut texts = 0;
        for guid in pack.providers() {
            let Some(messages) = pack.messages(&guid) else { continue };
            let layouts = pack.provider(&guid).unwrap().all();
            for Message { event, text, .. } in messages.0 {
                let own =
                    layouts.iter().find(|layout| (layout.id, layout.version) == event && layout.message == Some(text));
                let fields = own.unwrap_or_else(|| panic!("{guid} {event:?}: no layout")).schema.fields.len();
                let last = message::parts(text).into_iter().map(|part| match part {
                    Part::Insertion { index, .. } => index + 1,
                    Part::Literal(_) => 0,
                });
                let last = last.max().unwrap_or(0);
                assert!(last <= fields, "{guid} {event:?}: {fields} fields: {text}");
                texts += 1;
            }
        }
        assert_eq!(texts, 563);
    }
}
