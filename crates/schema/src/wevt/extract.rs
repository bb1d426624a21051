//! What is kept of a binary: the resources that declare its events, in one file.
//!
//! | bytes | |
//! |---|---|
//! | 8 | `ETLWEVT1` |
//! | 4 | the number of parts, little-endian as all numbers here |
//! | 4 + 4 + 4 | of each part: its type (1 `WEVT_TEMPLATE`, 2 message table), its language (`LANGID`), its length in bytes |
//! | … | the bytes of the parts, one behind the other |
//!
//! Templates come first, then message tables in the order in which texts are looked for. Nothing depends on the place or time of
//! the binary, so that the same resources are the same file.

use crate::model::SchemaError;

/// The first bytes of the file.
const SIGN: &[u8; 8] = b"ETLWEVT1";
/// Bytes before the first part, and of the head of each.
const HEAD: usize = 12;
const PART_HEAD: usize = 12;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartType {
    /// The resource `WEVT_TEMPLATE`.
    Template,
    /// A message table (`RT_MESSAGETABLE`).
    Messages,
}

/// A resource of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// What it is.
    pub kind: PartType,
    /// Its language (`LANGID`).
    pub language: u16,
    /// The resource as it is.
    pub bytes: &'a [u8],
}

/// The resources of a binary that declare its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extract<'a> {
    /// The parts in order.
    pub parts: Vec<Part<'a>>,
}

impl<'a> Extract<'a> {
    /// The longest file, in bytes; programs of Windows have no more than some millions.
    pub const MAX_BYTES: usize = 64 << 20;
    /// More parts than any binary has.
    pub const MAX_PARTS: usize = 256;

    /// Whether a file is one by its first bytes.
    pub fn is_start_of(head: &[u8]) -> bool {
        head.starts_with(SIGN)
    }

    /// Takes the file apart.
    ///
    /// # Errors
    /// When it is none, is longer than [`Extract::MAX_BYTES`], or its parts are not as long as it says.
    pub fn parse(file: &'a [u8]) -> Result<Extract<'a>, SchemaError> {
        let fault = |at: usize, what: &str| SchemaError::at_offset(at, what);
        if file.len() > Self::MAX_BYTES {
            return Err(fault(Self::MAX_BYTES, &format!("expected an extract of at most {} bytes", Self::MAX_BYTES)));
        }
        if !Extract::is_start_of(file) {
            return Err(fault(0, "expected the resources of a binary (ETLWEVT1), found something else"));
        }
        let cut = |at: usize| fault(at, "expected the heads of all parts, found the end of the file");
        let count = word(file, SIGN.len()).ok_or_else(|| cut(SIGN.len()))?;
        if count > Self::MAX_PARTS {
            return Err(fault(SIGN.len(), &format!("expected at most {} parts, found {count}", Self::MAX_PARTS)));
        }
        let mut parts = Vec::with_capacity(count);
        let mut at = HEAD.saturating_add(count.saturating_mul(PART_HEAD));
        for place in 0..count {
            let head = HEAD.saturating_add(place.saturating_mul(PART_HEAD));
            let (kind, language, bytes) = part(file, head, at).map_err(|what| fault(head, what))?;
            at = at.saturating_add(bytes.len());
            parts.push(Part { kind, language, bytes });
        }
        if at != file.len() {
            return Err(fault(at, "expected the end of the file behind its last part"));
        }
        Ok(Extract { parts })
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = SIGN.to_vec();
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        file.extend(number(self.parts.len()));
        for part in &self.parts {
            let kind: u32 = match part.kind {
                PartType::Template => 1,
                PartType::Messages => 2,
            };
            file.extend(kind.to_le_bytes());
            file.extend(u32::from(part.language).to_le_bytes());
            file.extend(number(part.bytes.len()));
        }
        self.parts.iter().for_each(|part| file.extend(part.bytes));
        file
    }

    /// The parts of a type.
    pub fn of_type(&self, kind: PartType) -> impl Iterator<Item = Part<'a>> {
        self.parts.iter().copied().filter(move |part| part.kind == kind)
    }
}

fn word(file: &[u8], at: usize) -> Option<usize> {
    let bytes = file.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

/// The part whose head and bytes lie at these places.
fn part(file: &[u8], head: usize, at: usize) -> Result<(PartType, u16, &[u8]), &'static str> {
    let number = |place: usize| word(file, head.saturating_add(place)).ok_or("expected the head of a part");
    let kind = match number(0)? {
        1 => PartType::Template,
        2 => PartType::Messages,
        _ => return Err("expected a part of type 1 or 2, found another"),
    };
    let language = u16::try_from(number(4)?).map_err(|_| "expected a language of 16 bits")?;
    let end = at.checked_add(number(8)?).ok_or("expected a length")?;
    let bytes = file.get(at..end).ok_or("expected all bytes of the part, found the end of the file")?;
    Ok((kind, language, bytes))
}
