//! Reading what lies one behind the other; whoever reads beyond the end gets nothing.

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// As many as a 32-bit field says.
    pub(crate) fn take_u32(&mut self, len: u32) -> Option<&'a [u8]> {
        self.take(usize::try_from(len).ok()?)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn skip(&mut self, len: usize) -> Option<()> {
        self.take(len).map(|_| ())
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn guid(&mut self) -> Option<base::guid::Guid> {
        self.array().map(base::guid::Guid)
    }

    /// Up to a zero byte, which is taken, too; up to the end where there is none.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        let text = until_zero(self.0);
        self.0 = self.0.get(text.len().saturating_add(1)..).unwrap_or_default();
        text
    }
}

/// What stands before the first zero byte.
pub(crate) fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or_default()
}

/// The bytes from a 32-bit offset on.
pub(crate) fn from(bytes: &[u8], offset: u32) -> Option<Bytes<'_>> {
    bytes.get(usize::try_from(offset).ok()?..).map(Bytes)
}

/// Text that a file has: what is no UTF-8 is shown as such.
pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
