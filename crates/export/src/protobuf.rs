//! Messages of protocol buffers: fields by their numbers, as <https://protobuf.dev/programming-guides/encoding> has them.

/// A message that is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message(Vec<u8>);

/// Wire types: a number of variable length, bytes behind their length.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

impl Message {
    /// Adds a number; 0 is what a field has that is not there.
    pub(crate) fn number(mut self, field: u64, value: u64) -> Message {
        if value != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(value);
        }
        self
    }

    /// Adds a number, also one that is 0: of a field that may be absent.
    pub(crate) fn value(mut self, field: u64, value: u64) -> Message {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Adds a number, where there is one.
    pub(crate) fn maybe(self, field: u64, value: Option<u64>) -> Message {
        match value {
            Some(value) => self.value(field, value),
            None => self,
        }
    }

    /// Adds a number of a signed field (`sint32`, `sint64`).
    pub(crate) fn signed(self, field: u64, value: i64) -> Message {
        self.value(field, ((value << 1) ^ (value >> 63)).cast_unsigned())
    }

    /// Adds a list of numbers, packed.
    pub(crate) fn numbers(self, field: u64, values: impl IntoIterator<Item = u64>) -> Message {
        let mut packed = Message::default();
        values.into_iter().for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0)
    }

    /// Adds a message.
    pub(crate) fn message(self, field: u64, message: &Message) -> Message {
        self.bytes(field, &message.0)
    }

    /// Adds bytes, or the bytes of a text.
    pub(crate) fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | BYTES);
        self.varint(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.0.extend_from_slice(bytes);
        self
    }

    /// Its bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(0x80 | value.to_le_bytes()[0]);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's documentation.
    #[test]
    fn messages_are_encoded_as_documented() {
        let t = |message: Message, expected: &[u8]| assert_eq!(message.as_bytes(), expected);
        t(Message::default().number(1, 150), &[0x08, 0x96, 0x01]);
        t(Message::default().number(1, 0), &[]);
        t(Message::default().value(1, 0), &[0x08, 0x00]);
        t(Message::default().signed(1, -1).signed(1, 1).signed(1, -2), &[0x08, 0x01, 0x08, 0x02, 0x08, 0x03]);
        t(Message::default().bytes(2, b"testing"), &[0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        t(Message::default().message(3, &Message::default().number(1, 150)), &[0x1a, 0x03, 0x08, 0x96, 0x01]);
        t(Message::default().numbers(6, [3, 270, 86942]), &[0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
        let most = Message::default().number(1, u64::MAX);
        assert_eq!(most.as_bytes(), [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }
}
