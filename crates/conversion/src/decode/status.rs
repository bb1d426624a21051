//! How well a payload and its schema fit each other.

/// How well a payload and its schema fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The schema describes the payload to its last byte.
    Ok,
    /// Fewer than 8 bytes remain and all are zero: a C structure's padding.
    Padded,
    /// The payload ends where a field would begin; that field and those behind it are NULL.
    Short,
    /// The schema ends before the payload does.
    Extra,
    /// A field does not fit what is left of the payload; it and those behind it are NULL.
    Error,
}

impl Status {
    /// All values, in their order.
    pub const ALL: [Status; 5] = [Status::Ok, Status::Padded, Status::Short, Status::Extra, Status::Error];

    /// The value of the column `decode_status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Padded => "padded",
            Status::Short => "short",
            Status::Extra => "extra",
            Status::Error => "error",
        }
    }

    /// Whether the fields stand for every byte of the payload.
    pub fn is_whole(self) -> bool {
        matches!(self, Status::Ok | Status::Padded)
    }
}

/// What became of one payload. Of two bytes, it is handed back in registers; what is stored in pieces and loaded as a whole
/// waits for the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOutcome {
    /// How well payload and schema fit.
    pub status: Status,
    /// Whether the columns do not represent all of the payload, so that its bytes must be kept beside them: any status
    /// but `ok` and `padded`, text that is not valid in its encoding, a boolean that is neither 0 nor 1, bytes behind
    /// a NUL, a time that has no calendar form.
    pub keep_payload: bool,
}
