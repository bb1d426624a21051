//! How far a payload layout can be believed.

/// How far a payload layout can be believed before it is held against payloads, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// It describes exactly this event.
    Declared,
    /// Its source lost lengths, counts, maps or out types; they were put back from other descriptions of the same
    /// field or from field names.
    Inferred,
    /// It is of an older version of the event, to which newer ones append fields: it describes a beginning.
    Older,
    /// It is of another version of the event, or its source lost a structure or the length of a value inside: the
    /// layout ends before that or is a guess there. Only payloads can decide.
    Doubtful,
}

impl Trust {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Trust::Declared => "declared",
            Trust::Inferred => "inferred",
            Trust::Older => "older",
            Trust::Doubtful => "doubtful",
        }
    }

    /// Whether only payloads can show that the layout is right.
    pub fn is_doubtful(self) -> bool {
        self == Trust::Doubtful
    }
}
