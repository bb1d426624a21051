//! The directory of a 7z archive, as bytes. Whatever contradicts itself is `None`; no list is longer than the bytes that
//! describe it, and none has more than a million entries, since an entry takes more than the byte or two that describe it.

/// What a header contains.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// Files, and the streams that they are packed in.
    Plain(Vec<Folder>, Vec<File>),
    /// Streams, the first of which is the header itself.
    Packed(Vec<Folder>),
}

/// A stream that files lie in, one behind another.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folder {
    /// How it is packed: one coder, or several in the order in which they unpack.
    pub(super) coders: Vec<Coder>,
    /// Whether each of several coders unpacks what the one before it has, and no other.
    pub(super) is_chain: bool,
    /// Where its packed bytes begin behind the signature header, and how many there are.
    pub(super) offset: u64,
    pub(super) packed: u64,
    /// Its size when it is unpacked.
    pub(super) size: u64,
    pub(super) crc32: Option<u32>,
    /// What files it consists of.
    pub(super) parts: Vec<Part>,
    packed_streams: u64,
    unpacked_streams: u64,
    /// Which of these is the result.
    result: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) size: u64,
    pub(super) crc32: Option<u32>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Coder {
    pub(super) method: Vec<u8>,
    pub(super) properties: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// UTF-16 as text.
    pub(super) name: String,
    /// Whether it has bytes of its own; a folder of the file system, or an empty file, has none.
    pub(super) has_stream: bool,
    /// Whether it is an empty file.
    pub(super) is_empty: bool,
}

/// Numbers of the parts of a header.
mod id {
    pub(super) const END: u8 = 0x00;
    pub(super) const HEADER: u8 = 0x01;
    pub(super) const ARCHIVE_PROPERTIES: u8 = 0x02;
    pub(super) const STREAMS: u8 = 0x04;
    pub(super) const FILES: u8 = 0x05;
    pub(super) const PACKED_STREAMS: u8 = 0x06;
    pub(super) const FOLDERS: u8 = 0x07;
    pub(super) const PARTS: u8 = 0x08;
    pub(super) const SIZES: u8 = 0x09;
    pub(super) const CHECK_SUMS: u8 = 0x0A;
    pub(super) const FOLDER_LIST: u8 = 0x0B;
    pub(super) const FOLDER_SIZES: u8 = 0x0C;
    pub(super) const PART_COUNTS: u8 = 0x0D;
    pub(super) const WITHOUT_STREAM: u8 = 0x0E;
    pub(super) const EMPTY_FILES: u8 = 0x0F;
    pub(super) const NAMES: u8 = 0x11;
    pub(super) const PACKED_HEADER: u8 = 0x17;
}

/// Understands a header.
pub(super) fn parse(bytes: &[u8]) -> Option<Header> {
    let mut from = Bytes(bytes);
    match from.byte()? {
        id::PACKED_HEADER => Some(Header::Packed(streams(&mut from)?)),
        id::HEADER => {
            let mut next = from.byte()?;
            if next == id::ARCHIVE_PROPERTIES {
                while from.byte()? != id::END {
                    let len = from.length()?;
                    from.take(len)?;
                }
                next = from.byte()?;
            }
            let mut folders = Vec::new();
            if next == id::STREAMS {
                folders = streams(&mut from)?;
                next = from.byte()?;
            }
            let files = if next == id::FILES { files(&mut from)? } else { Vec::new() };
            Some(Header::Plain(folders, files))
        }
        _ => None,
    }
}

/// Streams and what they consist of.
fn streams(from: &mut Bytes<'_>) -> Option<Vec<Folder>> {
    let (mut packed, mut folders) = ((0, Vec::new()), Vec::new());
    let mut next = from.byte()?;
    if next == id::PACKED_STREAMS {
        packed = packed_streams(from)?;
        next = from.byte()?;
    }
    if next == id::FOLDERS {
        folders = folder_list(from)?;
        next = from.byte()?;
    }
    place(&mut folders, &packed)?;
    if next == id::PARTS {
        next = parts(from, &mut folders)?;
    } else {
        folders.iter_mut().for_each(Folder::of_one_part);
    }
    (next == id::END).then_some(folders)
}

/// Where the packed streams begin, and the size of each.
fn packed_streams(from: &mut Bytes<'_>) -> Option<(u64, Vec<u64>)> {
    let (start, count) = (from.number()?, from.count()?);
    let mut sizes = Vec::new();
    let mut next = from.byte()?;
    if next == id::SIZES {
        for _ in 0..count {
            sizes.push(from.number()?);
        }
        next = from.byte()?;
    }
    if next == id::CHECK_SUMS {
        check_sums(from, count)?;
        next = from.byte()?;
    }
    (next == id::END).then_some((start, sizes))
}

/// Streams without the places of their packed bytes.
fn folder_list(from: &mut Bytes<'_>) -> Option<Vec<Folder>> {
    if from.byte()? != id::FOLDER_LIST {
        return None;
    }
    let count = from.count()?;
    let is_elsewhere = from.byte()? != 0;
    if is_elsewhere {
        return None;
    }
    let mut folders = Vec::new();
    let mut coders = 0;
    for _ in 0..count {
        let folder = folder(from)?;
        coders += folder.coders.len() as u64;
        if coders > MOST_ENTRIES {
            return None;
        }
        folders.push(folder);
    }
    if from.byte()? != id::FOLDER_SIZES {
        return None;
    }
    for folder in &mut folders {
        for number in 0..folder.unpacked_streams {
            let size = from.number()?;
            if number == folder.result {
                folder.size = size;
            }
        }
    }
    let mut next = from.byte()?;
    if next == id::CHECK_SUMS {
        let sums = check_sums(from, folders.len() as u64)?;
        folders.iter_mut().zip(sums).for_each(|(folder, sum)| folder.crc32 = sum);
        next = from.byte()?;
    }
    (next == id::END).then_some(folders)
}

fn folder(from: &mut Bytes<'_>) -> Option<Folder> {
    const HAS_COUNTS: u8 = 0x10;
    const HAS_PROPERTIES: u8 = 0x20;
    let (mut coders, mut ins, mut outs) = (Vec::new(), 0_u64, 0_u64);
    for _ in 0..from.number().filter(|coders| *coders <= MOST_CODERS)? {
        let flags = from.byte()?;
        let method = from.take(usize::from(flags & 0x0F))?.to_vec();
        let (more_ins, more_outs) = if flags & HAS_COUNTS != 0 { (from.number()?, from.number()?) } else { (1, 1) };
        let properties = if flags & HAS_PROPERTIES != 0 {
            let len = from.length()?;
            from.take(len)?.to_vec()
        } else {
            Vec::new()
        };
        (ins, outs) = (ins.checked_add(more_ins)?, outs.checked_add(more_outs)?);
        coders.push(Coder { method, properties });
    }
    let are_simple = ins == outs && outs == coders.len() as u64;
    let count = outs.checked_sub(1)?;
    let mut bonds = Vec::new();
    for _ in 0..count {
        let bond = (from.number()?, from.number()?);
        // Others may have as many as the header has bytes.
        bonds.extend(are_simple.then_some(bond));
    }
    let packed_streams = ins.checked_sub(count)?;
    if packed_streams > 1 {
        for _ in 0..packed_streams {
            from.number()?;
        }
    }
    let packed = Folder { packed_streams, unpacked_streams: outs, result: count, ..Folder::default() };
    let order = are_simple.then(|| chain(&bonds)).flatten();
    let Some(order) = order else { return Some(Folder { coders, ..packed }) };
    let mut coders: Vec<_> = coders.into_iter().map(Some).collect();
    let in_order = order.iter().filter_map(|&number| coders.get_mut(usize::try_from(number).ok()?)?.take());
    Some(Folder { coders: in_order.collect(), is_chain: true, result: *order.last()?, ..packed })
}

/// The numbers of coders of one input and one output each, in the order in which they unpack, where each output is bound to an
/// input but for one; each bond is an input and an output, and there are fewer than [`MOST_CODERS`].
fn chain(bonds: &[(u64, u64)]) -> Option<Vec<u64>> {
    let mut order = vec![(0..=bonds.len() as u64).find(|number| bonds.iter().all(|(input, _)| input != number))?];
    while let Some((input, _)) = bonds.iter().find(|(_, output)| Some(output) == order.last()) {
        if order.contains(input) || *input > bonds.len() as u64 {
            return None;
        }
        order.push(*input);
    }
    (order.len() == bonds.len() + 1).then_some(order)
}

/// Gives every folder its packed bytes.
fn place(folders: &mut [Folder], (start, sizes): &(u64, Vec<u64>)) -> Option<()> {
    let (mut offset, mut sizes) = (*start, sizes.iter());
    for folder in folders {
        folder.offset = offset;
        for _ in 0..folder.packed_streams {
            let size = *sizes.next()?;
            folder.packed = folder.packed.checked_add(size)?;
            offset = offset.checked_add(size)?;
        }
    }
    Some(())
}

/// The files that every folder consists of; returns what comes behind.
fn parts(from: &mut Bytes<'_>, folders: &mut [Folder]) -> Option<u8> {
    let mut next = from.byte()?;
    let mut counts = vec![1; folders.len()];
    if next == id::PART_COUNTS {
        for count in &mut counts {
            *count = from.number()?;
        }
        next = from.byte()?;
    }
    let has_sizes = next == id::SIZES;
    let all = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count))?;
    if all > MOST_ENTRIES {
        return None;
    }
    for (folder, count) in folders.iter_mut().zip(counts) {
        let mut rest = folder.size;
        for _ in 1..count {
            let size = if has_sizes { from.number()? } else { return None };
            rest = rest.checked_sub(size)?;
            folder.parts.push(Part { size, crc32: None });
        }
        if count > 0 {
            let crc32 = if count == 1 { folder.crc32 } else { None };
            folder.parts.push(Part { size: rest, crc32 });
        }
    }
    if has_sizes {
        next = from.byte()?;
    }
    if next == id::CHECK_SUMS {
        let mut without: Vec<&mut Part> = folders.iter_mut().flat_map(|folder| &mut folder.parts).collect();
        without.retain(|part| part.crc32.is_none());
        let sums = check_sums(from, without.len() as u64)?;
        without.into_iter().zip(sums).for_each(|(part, sum)| part.crc32 = sum);
        next = from.byte()?;
    }
    (next == id::END).then(|| from.byte())?
}

impl Folder {
    fn of_one_part(&mut self) {
        self.parts = vec![Part { size: self.size, crc32: self.crc32 }];
    }
}

/// A check sum for each of so many, where it has one.
fn check_sums(from: &mut Bytes<'_>, count: u64) -> Option<Vec<Option<u32>>> {
    let has_all = from.byte()? != 0;
    let (mut bits, mut sums) = (if has_all { Bits::default() } else { from.bits(count)? }, Vec::new());
    for _ in 0..count {
        let has_sum = has_all || bits.next()?;
        sums.push(if has_sum { Some(u32::from_le_bytes(from.take(4)?.try_into().ok()?)) } else { None });
    }
    Some(sums)
}

fn files(from: &mut Bytes<'_>) -> Option<Vec<File>> {
    let count = from.count()?;
    let (mut names, mut without_stream, mut empty) = (Vec::new(), Bits::default(), Bits::default());
    loop {
        let property = from.byte()?;
        if property == id::END {
            break;
        }
        let len = from.length()?;
        let mut content = Bytes(from.take(len)?);
        match property {
            id::WITHOUT_STREAM => without_stream = content.bits(count)?,
            id::EMPTY_FILES => empty = Bits::of(content.0),
            id::NAMES => names = content.names(count)?,
            // Times, attributes, room for growth.
            _ => {}
        }
    }
    if names.len() as u64 != count {
        return None;
    }
    let file = |name| {
        let has_stream = !without_stream.next().unwrap_or(false);
        File { name, has_stream, is_empty: !has_stream && empty.next().unwrap_or(false) }
    };
    Some(names.into_iter().map(file).collect())
}

/// Coders of a folder; no packer makes chains of more than a few.
const MOST_CODERS: u64 = 32;

/// Entries of a list.
const MOST_ENTRIES: u64 = 1 << 20;

/// Flags, the highest bit of a byte first.
#[derive(Debug, Default)]
struct Bits<'a> {
    bytes: &'a [u8],
    read: usize,
}

impl<'a> Bits<'a> {
    fn of(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, read: 0 }
    }

    fn next(&mut self) -> Option<bool> {
        let byte = *self.bytes.get(self.read / 8)?;
        let bit = byte & (0x80 >> (self.read % 8));
        self.read += 1;
        Some(bit != 0)
    }
}

/// What is left to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number: the ones that the first byte begins with say how many bytes follow, lowest first; its other bits are
    /// the highest.
    fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let more = first.leading_ones();
        let mut bytes = [0; 8];
        let len = usize::try_from(more).ok()?;
        bytes[..len].copy_from_slice(self.take(len)?);
        let high = if more < 7 { u64::from(first) & ((1 << (7 - more)) - 1) } else { 0 };
        Some(u64::from_le_bytes(bytes) | if high > 0 { high << (8 * more) } else { 0 })
    }

    /// A number of entries.
    fn count(&mut self) -> Option<u64> {
        self.number().filter(|count| *count <= MOST_ENTRIES)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn bits(&mut self, count: u64) -> Option<Bits<'a>> {
        let len = usize::try_from(count.div_ceil(8)).ok()?;
        Some(Bits::of(self.take(len)?))
    }

    /// So many names of 16-bit units, each up to its zero.
    fn names(&mut self, count: u64) -> Option<Vec<String>> {
        let is_elsewhere = self.byte()? != 0;
        let (units, rest) = self.0.as_chunks::<2>();
        if is_elsewhere || !rest.is_empty() {
            return None;
        }
        let units = match units.split_last() {
            Some(([0, 0], units)) => units,
            Some(_) => return None,
            None => return Some(Vec::new()),
        };
        let names = units.split(|unit| *unit == [0, 0]);
        let name = |units: &[[u8; 2]]| {
            let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        };
        (names.clone().count() as u64 == count).then(|| names.map(name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_their_length() {
        let t = |bytes: &[u8], expected| assert_eq!(Bytes(bytes).number(), expected, "{bytes:x?}");
        t(&[0x7F], Some(127));
        t(&[0x80, 0x80], Some(128));
        t(&[0xBF, 0xFF], Some(0x3FFF));
        t(&[0xC1, 0x34, 0x12], Some(0x1_1234));
        t(&[0xFE, 1, 2, 3, 4, 5, 6, 7], Some(0x07_0605_0403_0201));
        t(&[0xFF, 1, 2, 3, 4, 5, 6, 7, 8], Some(0x0807_0605_0403_0201));
        t(&[0xFF, 1, 2, 3, 4, 5, 6, 7], None);
        t(&[], None);
    }

    #[test]
    fn coders_unpack_in_the_order_of_their_bonds() {
        let t = |bonds: &[(u64, u64)], expected: Option<&[u64]>| assert_eq!(chain(bonds).as_deref(), expected);
        t(&[], Some(&[0]));
        t(&[(0, 1)], Some(&[1, 0]));
        t(&[(1, 0)], Some(&[0, 1]));
        t(&[(0, 2), (1, 0)], Some(&[2, 0, 1]));
        // Each leads to itself or to the other; there is no such coder; two go into one.
        t(&[(1, 1)], None);
        t(&[(0, 1), (1, 0)], None);
        t(&[(7, 0)], None);
        t(&[(1, 0), (1, 2)], None);
    }

    #[test]
    fn names_are_as_many_as_the_header_says() {
        let list = [&[0][..], &[0x61, 0, 0, 0, 0x3D, 0xD8, 0, 0]].concat();
        let t = |count, expected: Option<&[&str]>| {
            let names = Bytes(&list).names(count);
            let names = names.as_ref().map(|names| names.iter().map(|name| &**name).collect::<Vec<_>>());
            assert_eq!(names.as_deref(), expected);
        };
        t(2, Some(&["a", "\u{FFFD}"]));
        t(1, None);
        t(3, None);
    }

    #[test]
    fn lists_of_more_than_a_million_entries_are_refused() {
        const MILLION: usize = 1 << 20;
        let number = |count: usize| [vec![0xF0], u32::try_from(count).unwrap().to_le_bytes().to_vec()].concat();
        let of_names = |count: usize| {
            let (names, len) = (vec![0; 2 * count + 1], number(2 * count + 1));
            parse(&[&[0x01, 0x05][..], &number(count), &[0x11], &len, &names, &[0, 0]].concat()).is_some()
        };
        // Streams that are stored as they are, each of no bytes.
        let of_folders = |count: usize| {
            let sizes = vec![0; count];
            let folders = [1, 1, 0].repeat(count);
            let packed = [&[0x17, 0x06, 0][..], &number(count), &[0x09], &sizes, &[0]].concat();
            let unpacked = [&[0x07, 0x0B][..], &number(count), &[0], &folders, &[0x0C], &sizes, &[0, 0]].concat();
            parse(&[packed, unpacked].concat()).is_some()
        };
        assert!(of_names(MILLION) && of_folders(MILLION));
        assert!(!of_names(MILLION + 1) && !of_folders(MILLION + 1));
    }

    #[test]
    fn counts_that_no_bytes_stand_for_are_refused() {
        // A million million folders, files, check sums.
        let many = [0xF0, 0, 0, 0, 0x10];
        for head in [&[0x17, 0x07, 0x0B][..], &[0x01, 0x05], &[0x17, 0x06, 0x00]] {
            assert_eq!(parse(&[head, &many[..], &[0x0A, 0x01, 0, 0]].concat()), None);
        }
    }
}
