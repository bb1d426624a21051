//! Values of a record of [`Sorted`](crate::sorted::Sorted), one behind the other.

/// Values that are written.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<u8>);

impl Fields {
    /// Adds a number that may be absent.
    pub(super) fn number(&mut self, value: Option<i64>) {
        self.0.push(u8::from(value.is_some()));
        self.0.extend(value.iter().flat_map(|value| value.to_le_bytes()));
    }

    /// Adds bytes that may be absent.
    pub(super) fn bytes(&mut self, value: Option<&[u8]>) {
        let value = value.map(|bytes| bytes.get(..super::blocks::MOST_PACKET).unwrap_or(bytes));
        self.number(value.map(|bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX)));
        self.0.extend_from_slice(value.unwrap_or_default());
    }

    /// Adds a text that may be absent.
    pub(super) fn text(&mut self, value: Option<&str>) {
        self.bytes(value.map(str::as_bytes));
    }
}

/// Values that are read, in the order in which they were written.
#[derive(Debug)]
pub(super) struct Reading<'a>(pub(super) &'a [u8]);

impl<'a> Reading<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at_checked(count).unwrap_or_default();
        self.0 = rest;
        taken
    }

    /// A number.
    pub(super) fn number(&mut self) -> Option<i64> {
        let is_there = self.take(1).first() == Some(&1);
        is_there.then(|| self.take(8).first_chunk().copied().map(i64::from_le_bytes)).flatten()
    }

    /// Bytes.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        Some(self.take(usize::try_from(length).unwrap_or(0)))
    }

    /// A text.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_in_their_order() {
        let mut fields = Fields::default();
        fields.number(Some(-5));
        fields.number(None);
        fields.text(Some("ä"));
        fields.bytes(None);
        fields.bytes(Some(b""));
        fields.number(Some(i64::MAX));
        let mut reading = Reading(&fields.0);
        assert_eq!((reading.number(), reading.number(), reading.text()), (Some(-5), None, Some("ä")));
        assert_eq!((reading.bytes(), reading.bytes(), reading.number()), (None, Some(&b""[..]), Some(i64::MAX)));
        assert_eq!((reading.number(), reading.text()), (None, None));
    }
}
