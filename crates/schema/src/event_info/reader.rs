//! Checked reads from a blob with UTF-16 names behind offsets.

use base::guid::Guid;

use crate::model::SchemaError;

/// A blob whose every read is checked and says what was read when it fails.
pub(super) struct Blob<'a> {
    bytes: &'a [u8],
    /// Where the blob starts in the event's payload; faults are placed there.
    origin: usize,
    /// How many more bytes of names may be read. Names can overlap, so that without a limit a small blob could ask
    /// for its own size many thousand times over.
    names_left: usize,
}

impl<'a> Blob<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Blob { bytes, origin: 0, names_left: bytes.len().saturating_mul(4) }
    }

    /// The same blob, with faults placed as if it began at `origin`.
    pub(super) fn placed_at(self, origin: usize) -> Self {
        Blob { origin, ..self }
    }

    /// A fault at an offset of the blob.
    pub(super) fn fault(&self, at: usize, message: impl Into<String>) -> SchemaError {
        SchemaError::at_offset(self.origin.saturating_add(at), message)
    }

    fn read<const N: usize>(&self, at: usize, what: &str) -> Result<[u8; N], SchemaError> {
        let found = at.checked_add(N).and_then(|end| self.bytes.get(at..end));
        found.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| {
            let length = self.bytes.len().saturating_add(self.origin);
            self.fault(at, format!("expected {N} bytes of {what}, but the payload ends at {length:#x}"))
        })
    }

    pub(super) fn u8(&self, at: usize, what: &str) -> Result<u8, SchemaError> {
        self.read::<1>(at, what).map(|[byte]| byte)
    }

    pub(super) fn u16(&self, at: usize, what: &str) -> Result<u16, SchemaError> {
        self.read(at, what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&self, at: usize, what: &str) -> Result<u32, SchemaError> {
        self.read(at, what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&self, at: usize, what: &str) -> Result<u64, SchemaError> {
        self.read(at, what).map(u64::from_le_bytes)
    }

    pub(super) fn guid(&self, at: usize, what: &str) -> Result<Guid, SchemaError> {
        self.read(at, what).map(Guid)
    }

    /// The `u32` count at `at` of elements that start at `start`, once it is certain that they all lie in the blob.
    pub(super) fn array(&self, at: usize, start: usize, element: usize, what: &str) -> Result<usize, SchemaError> {
        let count = self.u32(at, what)?;
        let room = self.bytes.len().saturating_sub(start) / element;
        match usize::try_from(count) {
            Ok(count) if count <= room => Ok(count),
            _ => Err(self.fault(at, format!("expected at most {room} {what} in the payload, found {count}"))),
        }
    }

    /// The name behind the offset at `at`, without trailing blanks; `None` for offset 0 and for an empty name.
    pub(super) fn name_at(&mut self, at: usize, what: &str) -> Result<Option<String>, SchemaError> {
        let Some(offset) = self.offset(at, what)? else { return Ok(None) };
        let (name, _) = self.text(offset, what)?;
        let name = name.trim_end();
        Ok((!name.is_empty()).then(|| name.to_owned()))
    }

    /// The names behind the offset at `at`, which an empty one ends.
    pub(super) fn name_list_at(&mut self, at: usize, what: &str) -> Result<Vec<String>, SchemaError> {
        let mut names = Vec::new();
        let Some(mut offset) = self.offset(at, what)? else { return Ok(names) };
        loop {
            let (name, next) = self.text(offset, what)?;
            if name.is_empty() {
                return Ok(names);
            }
            names.push(name.trim_end().to_owned());
            offset = next;
        }
    }

    fn offset(&self, at: usize, what: &str) -> Result<Option<usize>, SchemaError> {
        let offset = self.u32(at, what)?;
        if offset == 0 {
            return Ok(None);
        }
        usize::try_from(offset)
            .ok()
            .filter(|&offset| offset < self.bytes.len())
            .map(Some)
            .ok_or_else(|| self.fault(at, format!("expected the {what} inside the payload, found offset {offset:#x}")))
    }

    /// UTF-16 up to a NUL, and the offset behind it.
    fn text(&mut self, offset: usize, what: &str) -> Result<(String, usize), SchemaError> {
        let rest = self.bytes.get(offset..).unwrap_or_default();
        let (pairs, _) = rest.as_chunks::<2>();
        let length = pairs
            .iter()
            .position(|pair| *pair == [0, 0])
            .ok_or_else(|| self.fault(offset, format!("expected a NUL behind the {what}, found none")))?;
        self.names_left = self
            .names_left
            .checked_sub(2 * length)
            .ok_or_else(|| self.fault(offset, "expected names that stand side by side, found overlapping ones"))?;
        let units = pairs.iter().take(length).map(|&pair| u16::from_le_bytes(pair));
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Ok((text, offset + 2 * length + 2))
    }
}
