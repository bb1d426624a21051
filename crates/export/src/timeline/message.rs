//! What a line says in words: the message of the event, or else its name and its fields.

use std::fmt::{self, Write as _};

use arrow_array::{Array as _, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};

use crate::cut::cut;

/// Bytes of a message.
const MOST: usize = 4096;
/// The end of a message that is longer.
const MARK: &str = "…";
/// The last of the columns that all events have: behind it are those of the payload.
const LAST_COMMON: &str = "recovered";
/// How values are written; one that cannot be is left out.
const OPTIONS: FormatOptions<'static> = FormatOptions::new();

/// What a row says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Has<'a> {
    /// Its message: that which is rendered, or that of WPP.
    pub(super) message: Option<&'a str>,
    /// The name of its event.
    pub(super) name: Option<&'a str>,
    /// The number of its event.
    pub(super) id: Option<i64>,
}

/// The columns of the payloads of a batch.
pub(super) struct Payloads<'a> {
    columns: Vec<(&'a str, ArrayFormatter<'a>, usize)>,
    batch: &'a RecordBatch,
}

impl<'a> Payloads<'a> {
    /// Those of a batch.
    pub(super) fn of(batch: &'a RecordBatch) -> Payloads<'a> {
        let schema = batch.schema_ref();
        let first = schema.index_of(LAST_COMMON).map_or(0, |last| last.saturating_add(1));
        let columns = schema.fields().iter().zip(batch.columns()).enumerate().skip(first);
        let columns = columns.filter_map(|(at, (field, column))| {
            Some((field.name().as_str(), ArrayFormatter::try_new(column, &OPTIONS).ok()?, at))
        });
        Payloads { columns: columns.collect(), batch }
    }

    /// The message of a row: that which it has already, or `event_name: field=value …`, in the order of the columns.
    pub(super) fn message(&self, has: Has<'_>, number: usize) -> String {
        let mut text = Short(String::new());
        if let Some(message) = has.message.filter(|message| !message.is_empty()) {
            // Where it is too long, its mark is the error.
            let _ = text.write_str(message);
            return text.0;
        }
        let name = has.name.map(str::to_owned).or(has.id.map(|id| format!("event {id}")));
        let mut is_full = text.write_str(name.as_deref().unwrap_or("event")).is_err();
        let mut between = ": ";
        for (name, column, at) in &self.columns {
            if is_full || self.batch.column(*at).is_null(number) {
                continue;
            }
            is_full = write!(text, "{between}{name}={}", column.value(number)).is_err();
            between = " ";
        }
        text.0
    }
}

/// A text that ends where it is full, and says so once.
struct Short(String);

impl fmt::Write for Short {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let part = cut(more, MOST.saturating_sub(self.0.len()));
        self.0.push_str(part);
        if part.len() == more.len() {
            return Ok(());
        }
        // The mark is among the bytes.
        let end = cut(&self.0, MOST.saturating_sub(MARK.len())).len();
        self.0.truncate(end);
        self.0.push_str(MARK);
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BinaryArray, Int64Array, StringArray};
    use conversion::sidecar::read::ReadRow as _;

    use super::*;
    use crate::timeline::entry::EventRow;

    fn messages(columns: Vec<(&str, ArrayRef)>) -> Vec<String> {
        let columns = columns.into_iter().map(|(name, column)| (name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let payloads = Payloads::of(&batch);
        let mut found = Vec::new();
        EventRow::read(&batch, |row| found.push(payloads.message(row.has(), found.len()))).unwrap();
        found
    }

    #[test]
    fn fields_follow_the_name_and_messages_stand_alone() {
        let text = |values: Vec<Option<&str>>| Arc::new(StringArray::from(values)) as ArrayRef;
        let found = messages(vec![
            ("event_name", text(vec![Some("Task/Start"), None, Some("c"), None])),
            ("event_id", Arc::new(Int64Array::from(vec![Some(1), Some(7), None, None]))),
            ("recovered", text(vec![None, None, None, None])),
            ("Path", text(vec![Some("C:\\a b"), None, Some("x"), None])),
            ("Size", Arc::new(Int64Array::from(vec![Some(-3), Some(4), None, None]))),
            ("Data", Arc::new(BinaryArray::from(vec![Some(&b"\x01\xff"[..]), None, None, None]))),
            ("rendered_message", text(vec![None, None, Some("It began."), None])),
        ]);
        assert_eq!(found, ["Task/Start: Path=C:\\a b Size=-3 Data=01ff", "event 7: Size=4", "It began.", "event"]);
    }

    #[test]
    fn a_message_is_bounded() {
        let long = "ä".repeat(MOST);
        let found = messages(vec![
            ("recovered", Arc::new(StringArray::from(vec![None::<&str>]))),
            ("Text", Arc::new(StringArray::from(vec![Some(long.as_str())]))),
            ("More", Arc::new(StringArray::from(vec![Some("no room")]))),
        ]);
        assert!(found[0].starts_with("event: Text=ää") && found[0].ends_with("ä…"), "{}", found[0]);
        // One byte is left, into which no whole letter goes.
        assert_eq!(found[0].len(), MOST - 1);
    }

    #[test]
    fn a_message_that_is_there_already_is_bounded_as_well() {
        let (most, more) = ("a".repeat(MOST), "a".repeat(MOST + 1));
        let found = messages(vec![
            ("recovered", Arc::new(StringArray::from(vec![None::<&str>; 2]))),
            ("rendered_message", Arc::new(StringArray::from(vec![Some(most.as_str()), Some(more.as_str())]))),
        ]);
        assert_eq!(found, [most.clone(), format!("{}…", &most[3..])]);
    }
}
