//! The numbers of events' tasks and opcodes.

/// The task and the opcode of an event by number; `None` where a description, or an event's header, has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventNumbers {
    /// The task.
    pub task: Option<u16>,
    /// The opcode.
    pub opcode: Option<u8>,
}

impl EventNumbers {
    /// Whether the two agree where both are known.
    pub fn agree(self, other: EventNumbers) -> bool {
        let tasks = self.task.zip(other.task).is_none_or(|(own, other)| own == other);
        tasks && self.opcode.zip(other.opcode).is_none_or(|(own, other)| own == other)
    }
}

/// The opcodes that mean the same for every provider, but for `Info`, which is no name.
const STANDARD_OPCODES: [(&str, u8); 10] = [
    ("Start", 1),
    ("Stop", 2),
    ("DC_Start", 3),
    ("DC_Stop", 4),
    ("Extension", 5),
    ("Reply", 6),
    ("Resume", 7),
    ("Suspend", 8),
    ("Send", 9),
    ("Receive", 240),
];

/// The number of a standard opcode.
pub fn standard_opcode(name: &str) -> Option<u8> {
    STANDARD_OPCODES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_have_can_differ() {
        let of = |task, opcode| EventNumbers { task, opcode };
        for (own, other, expected) in [
            (of(Some(1), Some(2)), of(Some(1), Some(2)), true),
            (of(Some(1), Some(2)), of(Some(1), Some(3)), false),
            (of(Some(1), Some(2)), of(Some(4), Some(2)), false),
            (of(None, Some(2)), of(Some(4), None), true),
            (of(None, None), of(Some(4), Some(0)), true),
        ] {
            assert_eq!((own.agree(other), other.agree(own)), (expected, expected), "{own:?} {other:?}");
        }
        assert_eq!([standard_opcode("Stop"), standard_opcode("Info"), standard_opcode("stop")], [Some(2), None, None]);
    }
}
