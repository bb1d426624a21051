//! Little-endian bytes: payloads, and everything else that is written field by field.

/// A GUID as it lies on disk: the first three groups little-endian.
pub type Guid = [u8; 16];

/// The on-disk bytes of a GUID in the usual text form, with hyphens, without braces.
pub const fn guid(text: &str) -> Guid {
    let text = text.as_bytes();
    assert!(text.len() == 36, "a GUID has 36 characters");
    // Where the digits of each byte on disk stand in the text.
    let places = [6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34];
    let mut bytes = [0; 16];
    let mut n = 0;
    while n < 16 {
        bytes[n] = digit(text[places[n]]) << 4 | digit(text[places[n] + 1]);
        n += 1;
    }
    bytes
}

const fn digit(character: u8) -> u8 {
    match character {
        b'0'..=b'9' => character - b'0',
        b'a'..=b'f' => character - b'a' + 10,
        b'A'..=b'F' => character - b'A' + 10,
        _ => panic!("not a hexadecimal digit"),
    }
}

/// A length that the format stores in 16 bits.
pub fn len16(length: usize) -> u16 {
    u16::try_from(length).expect("the format has 16 bits for this length")
}

/// A length that the format stores in 32 bits.
pub fn len32(length: usize) -> u32 {
    u32::try_from(length).expect("the format has 32 bits for this length")
}

/// The low and the high half.
pub fn halves(value: u64) -> (u32, u32) {
    let half = |value| u32::try_from(value).expect("half of 64 bits");
    (half(value & 0xFFFF_FFFF), half(value >> 32))
}

/// Something with bytes of its own in a trace: an event, without the alignment padding behind it.
pub trait OnDisk {
    fn on_disk(&self) -> Vec<u8>;
}

impl OnDisk for Vec<u8> {
    fn on_disk(&self) -> Vec<u8> {
        self.clone()
    }
}

impl OnDisk for Payload {
    fn on_disk(&self) -> Vec<u8> {
        self.0.clone()
    }
}

impl<T: OnDisk + ?Sized> OnDisk for &T {
    fn on_disk(&self) -> Vec<u8> {
        (**self).on_disk()
    }
}

/// Bytes under construction, packed, little-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload(pub Vec<u8>);

/// An empty payload.
pub fn payload() -> Payload {
    Payload::default()
}

macro_rules! integers {
    ($($name:ident)*) => {
        $(
            #[must_use]
            pub fn $name(self, value: $name) -> Self {
                self.bytes(&value.to_le_bytes())
            }
        )*
    };
}

impl Payload {
    integers! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }

    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    #[must_use]
    pub fn zeros(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    #[must_use]
    pub fn guid(self, value: Guid) -> Self {
        self.bytes(&value)
    }

    /// Big-endian, as ports are.
    #[must_use]
    pub fn be16(self, value: u16) -> Self {
        self.bytes(&value.to_be_bytes())
    }

    /// UTF-16 with its terminating zero.
    #[must_use]
    pub fn wstr(self, text: &str) -> Self {
        self.utf16(text).u16(0)
    }

    /// UTF-16 without terminator.
    #[must_use]
    pub fn utf16(self, text: &str) -> Self {
        text.encode_utf16().fold(self, Self::u16)
    }

    /// UTF-16 behind its u16 length in bytes.
    #[must_use]
    pub fn counted_wstr(self, text: &str) -> Self {
        self.u16(len16(text.encode_utf16().count() * 2)).utf16(text)
    }

    /// 8-bit text with its terminating zero.
    #[must_use]
    pub fn astr(self, text: &str) -> Self {
        self.bytes(text.as_bytes()).u8(0)
    }

    /// 8-bit text or binary behind its u16 length in bytes.
    #[must_use]
    pub fn counted(self, bytes: &[u8]) -> Self {
        self.u16(len16(bytes.len())).bytes(bytes)
    }

    /// A SID: revision 1, authority big-endian, sub-authorities.
    #[must_use]
    pub fn sid(self, authority: u64, sub_authorities: &[u32]) -> Self {
        let count = u8::try_from(sub_authorities.len()).expect("a SID holds few sub-authorities");
        let head = self.u8(1).u8(count).bytes(&authority.to_be_bytes()[2..]);
        sub_authorities.iter().fold(head, |sid, &part| sid.u32(part))
    }

    /// A SID in the kernel's WBEM form for 64-bit events: TOKEN_USER (two pointers, the first not zero), then the SID.
    #[must_use]
    pub fn wbem_sid64(self, authority: u64, sub_authorities: &[u32]) -> Self {
        self.u64(0xFFFF_E001_0000_0010).u64(0).sid(authority, sub_authorities)
    }

    /// The bytes so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Payload> for Vec<u8> {
    fn from(payload: Payload) -> Self {
        payload.0
    }
}
