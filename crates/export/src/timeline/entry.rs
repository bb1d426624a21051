//! What a line says of an event.

use std::borrow::Cow;

use base::calendar::rfc3339;
use conversion::read_columns;

use super::message::Has;

/// What the time of a line is, in the words of Plaso, whose timelines Timesketch shows beside these.
pub(super) const TIME_DESCRIPTION: &str = "Event Time";

/// The fields of a line: first those that Timesketch demands, with its names.
pub(super) const FIELDS: [&str; 17] = [
    "message",
    "datetime",
    "timestamp_desc",
    "trace",
    "dataset",
    "provider",
    "event_name",
    "event_id",
    "level",
    "process_name",
    "process_id",
    "thread_id",
    "cpu",
    "user_sid",
    "activity_id",
    "decode_status",
    "seq",
];

read_columns! {
    /// A row of an event.
    pub(super) struct EventRow<'b> {
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        name: Option<&'b str> = "event_name",
        id: Option<i64> = "event_id",
        level: Option<i64> = "level",
        process_name: Option<&'b str> = "process_name",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        cpu: Option<i64> = "cpu",
        user: Option<&'b str> = "user_sid",
        activity: Option<&'b str> = "activity_id",
        status: Option<&'b str> = "decode_status",
        rendered: Option<&'b str> = "rendered_message",
        wpp: Option<&'b str> = "message",
    }
}

impl<'b> EventRow<'b> {
    /// What its message is made of.
    pub(super) fn has(&self) -> Has<'b> {
        Has { message: self.rendered.or(self.wpp), name: self.name, id: self.id }
    }
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A number.
    Number(i64),
    /// The trace does not say it.
    Unknown,
}

/// What events of one dataset have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'a> {
    /// The trace.
    pub(super) trace: &'a str,
    /// The dataset.
    pub(super) dataset: &'a str,
    /// The name of the provider.
    pub(super) provider: Option<&'a str>,
}

impl<'a> Of<'a> {
    /// The folder of the dataset, without that of an event in it.
    pub(super) fn folder(self) -> &'a str {
        self.dataset.split('/').next().unwrap_or(self.dataset)
    }
}

/// The values of all fields of an event, in their order.
pub(super) fn values<'a>(of: Of<'a>, row: &EventRow<'a>, time: i64, message: &'a str) -> [Value<'a>; FIELDS.len()] {
    let text = |text: Option<&'a str>| text.map_or(Value::Unknown, |text| Value::Text(Cow::Borrowed(text)));
    let number = |number: Option<i64>| number.map_or(Value::Unknown, Value::Number);
    [
        text(Some(message)),
        Value::Text(Cow::Owned(rfc3339(time))),
        text(Some(TIME_DESCRIPTION)),
        text(Some(of.trace)),
        text(Some(of.dataset)),
        text(of.provider),
        text(row.name),
        number(row.id),
        number(row.level),
        text(row.process_name),
        number(row.process),
        number(row.thread),
        number(row.cpu),
        text(row.user),
        text(row.activity),
        text(row.status),
        number(row.seq),
    ]
}
