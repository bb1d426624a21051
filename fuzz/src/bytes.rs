//! Bytes read as numbers and choices, so that any bytes make an input of any structure.

/// What is left of an input. Behind its end are zeros.
#[derive(Clone, Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// All of an input.
    pub fn new(input: &'a [u8]) -> Bytes<'a> {
        Bytes(input)
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next so many bytes, or fewer where fewer are left.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The next bytes as an array.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.take(N);
        let mut array = [0; N];
        array[..taken.len()].copy_from_slice(taken);
        array
    }

    /// A byte.
    pub fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// Two bytes.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// Four bytes.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Eight bytes with a sign.
    pub fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    /// A byte as a number below a limit of at most 256.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::from(self.u8()) % limit
    }

    /// One of a list that is not empty.
    pub fn pick<'b, T>(&mut self, list: &'b [T]) -> &'b T {
        &list[usize::from(self.u16()) % list.len()]
    }

    /// A length in a byte, then so many bytes.
    pub fn short(&mut self) -> &'a [u8] {
        let count = self.u8().into();
        self.take(count)
    }

    /// A text of up to 255 bytes; what is no UTF-8 is replaced.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.short()).into_owned()
    }
}
