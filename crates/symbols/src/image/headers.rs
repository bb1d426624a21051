//! The headers of a program.

use etl::input::Input;

use crate::bytes::{Bytes, from};
use crate::found::{Readable, Reason};

/// Bytes of the headers that are read.
const HEADERS: usize = 4096;
/// The headers begin no later.
const MOST_BEFORE: u32 = 1 << 20;
/// Sections that a program may have.
const MOST_SECTIONS: u16 = 96;
/// Directories that a program may have.
const MOST_DIRECTORIES: u32 = 16;

/// What the headers of a program say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// `TimeDateStamp` of the file header.
    pub time_stamp: u32,
    /// `SizeOfImage` of the optional header, in bytes.
    pub size: u32,
    /// Where each directory lies in memory, and its bytes.
    directories: Vec<(u32, u32)>,
    sections: Vec<Section>,
}

/// Where a section lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Section {
    /// In memory.
    address: u32,
    /// Bytes of it in the file.
    len: u32,
    /// In the file.
    offset: u32,
}

fn cut() -> Reason {
    Reason::damaged("the headers of the binary are cut off")
}

impl Image {
    /// The first bytes of every program.
    pub const SIGN: &'static [u8] = b"MZ";

    /// Reads the headers, in one read where they lie in the first 4 KiB, as they do in all but a few files; else in two.
    ///
    /// # Errors
    /// When it is no program, or its headers are cut off.
    pub fn read(input: &dyn Input) -> Readable<Image> {
        let mut scratch = Vec::new();
        let head = input.bytes(0, HEADERS, &mut scratch)?;
        if !head.starts_with(Image::SIGN) {
            return Err(Reason::damaged("no program of Windows"));
        }
        let at = from(head, 60).and_then(|mut bytes| bytes.u32()).ok_or_else(cut)?;
        if at > MOST_BEFORE {
            return Err(cut());
        }
        if let Some(image) = from(head, at).and_then(headers) {
            return Ok(image);
        }
        let mut scratch = Vec::new();
        headers(Bytes(input.bytes(at.into(), HEADERS, &mut scratch)?)).ok_or_else(cut)
    }

    /// Where a directory lies in memory, and its bytes; zeros where the program has none of this number.
    pub(crate) fn directory(&self, index: usize) -> (u32, u32) {
        self.directories.get(index).copied().unwrap_or_default()
    }

    /// Where in the file an address of memory lies.
    pub(crate) fn offset_of(&self, address: u32) -> Option<u32> {
        let within = |section: &Section| {
            let offset = address.checked_sub(section.address).filter(|&offset| offset < section.len)?;
            section.offset.checked_add(offset)
        };
        self.sections.iter().find_map(within)
    }
}

fn headers(bytes: Bytes<'_>) -> Option<Image> {
    let mut coff = bytes;
    if coff.take(4)? != b"PE\0\0" {
        return None;
    }
    coff.skip(2)?;
    let (count, time_stamp) = (coff.u16()?.min(MOST_SECTIONS), coff.u32()?);
    coff.skip(8)?;
    let (len, _characteristics) = (coff.u16()?, coff.u16()?);
    let mut sections = coff;
    sections.skip(len.into())?;
    let mut optional = Bytes(coff.take(len.into())?);
    let is_wide = optional.u16()? == 0x20B;
    optional.skip(54)?;
    let size = optional.u32()?;
    // Behind the sizes of stacks and heaps, which take eight bytes each in 64 bits, comes the number of directories.
    optional.skip(if is_wide { 48 } else { 32 })?;
    let count_of_directories = optional.u32()?.min(MOST_DIRECTORIES);
    let directories = (0..count_of_directories).map_while(|_| optional.u32().zip(optional.u32())).collect();
    let sections = (0..count).map(|_| section(&mut sections)).collect::<Option<Vec<_>>>()?;
    Some(Image { time_stamp, size, directories, sections })
}

fn section(bytes: &mut Bytes<'_>) -> Option<Section> {
    bytes.skip(8)?;
    let (_size, address, len, offset) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
    bytes.skip(16)?;
    Some(Section { address, len, offset })
}
