//! Writes small portable PDBs, and assemblies. It shares no code with the reader, so that a layout that is wrong in one of them cannot
//! agree with itself.

#![allow(dead_code, unreachable_pub, reason = "not each test needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

/// A portable PDB.
#[derive(Clone, Debug, Default)]
pub struct SmallPortable {
    pub guid: [u8; 16],
    pub has_wide_indexes: bool,
    /// Separators and parts.
    pub documents: Vec<(u8, Vec<&'static str>)>,
    /// The row of the document, and the blob of the points.
    pub methods: Vec<(u32, Vec<u8>)>,
}

/// A record of the sequence points of a method.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// Offset and line.
    Line(u32, u32),
    /// Offset.
    Hidden(u32),
    /// Row.
    Document(u32),
}

/// The stream of blobs.
#[derive(Clone, Debug)]
pub struct Heap(pub Vec<u8>);

impl Heap {
    pub fn new() -> Heap {
        Heap(vec![0])
    }

    /// The index of a blob, which is there once.
    pub fn add(&mut self, blob: &[u8]) -> u32 {
        let bytes = [unsigned(u32::try_from(blob.len()).unwrap()), blob.to_vec()].concat();
        if blob.is_empty() {
            return 0;
        }
        let at = self.0.len();
        self.0.extend(bytes);
        u32::try_from(at).unwrap()
    }
}

/// A compressed number.
pub fn unsigned(value: u32) -> Vec<u8> {
    match value {
        0..=0x7F => vec![u8::try_from(value).unwrap()],
        0x80..=0x3FFF => (0x8000 | u16::try_from(value).unwrap()).to_be_bytes().to_vec(),
        _ => (0xC000_0000 | value).to_be_bytes().to_vec(),
    }
}

/// A compressed number with a sign.
pub fn signed(value: i32) -> Vec<u8> {
    let (bits, mark, bytes) = match value {
        -0x40..=0x3F => (7, 0, 1),
        -0x2000..=0x1FFF => (14, 0x8000, 2),
        _ => (29, 0xC000_0000, 4),
    };
    let all = (1_u32 << bits) - 1;
    let two = value.cast_unsigned() & all;
    let rotated = (two << 1 | two >> (bits - 1)) & all;
    (rotated | mark).to_be_bytes()[4 - bytes..].to_vec()
}

/// The blob of sequence points; with the document that they begin in, where the method has none.
pub fn points(document: Option<u32>, records: &[Record]) -> Vec<u8> {
    let mut blob = unsigned(0x1234);
    blob.extend(document.into_iter().flat_map(unsigned));
    let (mut offset, mut line) = (None, None);
    let mut begin = |blob: &mut Vec<u8>, il_offset: u32| {
        blob.extend(unsigned(il_offset - offset.unwrap_or(0)));
        offset = Some(il_offset);
    };
    for record in records {
        match *record {
            Record::Document(row) => blob.extend([unsigned(0), unsigned(row)].concat()),
            Record::Hidden(il_offset) => {
                begin(&mut blob, il_offset);
                blob.extend([0, 0]);
            }
            Record::Line(il_offset, next) => {
                begin(&mut blob, il_offset);
                // From one column to the next line, or five columns further on.
                blob.extend(if next % 2 == 0 { vec![0, 5] } else { [unsigned(1), signed(-300)].concat() });
                match line {
                    None => blob.extend([unsigned(next), unsigned(9)].concat()),
                    Some(line) => {
                        let more = i64::from(next) - i64::from(line);
                        blob.extend([signed(i32::try_from(more).unwrap()), signed(-2)].concat());
                    }
                }
                line = Some(next);
            }
        }
    }
    blob
}

fn index(value: u32, is_wide: bool) -> Vec<u8> {
    if is_wide { value.to_le_bytes().to_vec() } else { u16::try_from(value).unwrap().to_le_bytes().to_vec() }
}

impl SmallPortable {
    pub fn bytes(&self) -> Vec<u8> {
        root(&self.streams())
    }

    /// `#Pdb`, `#~`, `#GUID`, and `#Blob` last.
    pub fn streams(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut heap = Heap::new();
        let names: Vec<u32> =
            self.documents.iter().map(|(separator, parts)| name(&mut heap, *separator, parts)).collect();
        let methods: Vec<(u32, u32)> =
            self.methods.iter().map(|(document, points)| (*document, heap.add(points))).collect();
        let pdb = [&self.guid[..], &[0x11; 4], &[0; 12]].concat();
        let tables = tables(self.has_wide_indexes, &names, &methods);
        vec![("#Pdb", pdb), ("#~", tables), ("#GUID", vec![7; 16]), ("#Blob", heap.0)]
    }
}

/// The blob of the name of a document.
pub fn name(heap: &mut Heap, separator: u8, parts: &[&str]) -> u32 {
    let parts: Vec<u8> = parts.iter().flat_map(|part| unsigned(heap.add(part.as_bytes()))).collect();
    heap.add(&[&[separator], &parts[..]].concat())
}

/// The tables: names of documents; documents and points of methods.
pub fn tables(is_wide: bool, names: &[u32], methods: &[(u32, u32)]) -> Vec<u8> {
    let sizes = if is_wide { 7 } else { 0 };
    let mut bytes = vec![0, 0, 0, 0, 2, 0, sizes, 1];
    // Documents, methods, and a table that is not read.
    bytes.extend((7_u64 << 0x30).to_le_bytes());
    bytes.extend([0; 8]);
    for count in [names.len(), methods.len(), 1] {
        bytes.extend(u32::try_from(count).unwrap().to_le_bytes());
    }
    for &name in names {
        bytes.extend([index(name, is_wide), index(1, is_wide), index(0, is_wide), index(1, is_wide)].concat());
    }
    let has_wide_documents = names.len() >= 1 << 16;
    for &(document, points) in methods {
        bytes.extend([index(document, has_wide_documents), index(points, is_wide)].concat());
    }
    bytes.extend([0xFF; 20]);
    bytes
}

/// A file of streams.
pub fn root(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let padded = |name: &str| {
        let mut name = name.as_bytes().to_vec();
        name.resize((name.len() + 1).next_multiple_of(4), 0);
        name
    };
    let version = padded("PDB v1.0");
    let headers: usize = streams.iter().map(|(name, _)| 8 + padded(name).len()).sum();
    let mut at = 16 + version.len() + 4 + headers;
    let mut bytes = b"BSJB\x01\0\x01\0\0\0\0\0".to_vec();
    bytes.extend(u32::try_from(version.len()).unwrap().to_le_bytes());
    bytes.extend(version);
    bytes.extend([0, 0]);
    bytes.extend(u16::try_from(streams.len()).unwrap().to_le_bytes());
    for (name, stream) in streams {
        bytes.extend([at, stream.len()].map(|value| u32::try_from(value).unwrap().to_le_bytes()).concat());
        bytes.extend(padded(name));
        at += stream.len();
    }
    streams.iter().for_each(|(_, stream)| bytes.extend(stream));
    bytes
}

/// One of a few methods in two files.
pub fn sample() -> SmallPortable {
    use Record::{Document, Hidden, Line};
    let same = points(None, &[Line(0, 5), Line(3, 6)]);
    SmallPortable {
        guid: [3; 16],
        has_wide_indexes: false,
        documents: vec![(b'/', vec!["", "src", "a.cs"]), (b'\\', vec!["C:", "src", "b.cs"]), (0, vec!["c.", "cs"])],
        methods: vec![
            (1, points(None, &[Line(0, 10), Line(4, 12), Hidden(9), Line(20, 11)])),
            (0, vec![]),
            (0, points(Some(2), &[Line(2, 100_000), Document(1), Line(7, 7), Document(3), Document(2), Line(300, 8)])),
            (1, same.clone()),
            (2, same),
            (3, points(None, &[Hidden(0), Line(1, 0x0FFF_FFFF), Line(0x1FFF_FFFF, 1)])),
        ],
    }
}

/// An assembly with entries in its debug directory: kinds and what they describe.
pub fn assembly(entries: &[(u32, Vec<u8>)]) -> Vec<u8> {
    const HEADERS: usize = 0x200;
    let mut bytes = vec![0; HEADERS];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, b"MZ");
    put(0x3C, &0x40_u32.to_le_bytes());
    put(0x40, b"PE\0\0\x64\x86\x01\0");
    put(0x54, &0xF0_u16.to_le_bytes());
    put(0x58, &0x20B_u16.to_le_bytes());
    put(0x58 + 56, &0x4000_u32.to_le_bytes());
    put(0x58 + 108, &16_u32.to_le_bytes());
    let directory = u32::try_from(28 * entries.len()).unwrap();
    put(0x58 + 112 + 6 * 8, &0x2000_u32.to_le_bytes());
    put(0x58 + 112 + 6 * 8 + 4, &directory.to_le_bytes());
    let len = directory + entries.iter().map(|(_, data)| u32::try_from(data.len()).unwrap()).sum::<u32>();
    put(0x148, b".text\0\0\0");
    let section = [len, 0x2000, len, 0x200].map(u32::to_le_bytes).concat();
    put(0x150, &section);
    let mut at = 0x200 + directory;
    for (kind, data) in entries {
        let len = u32::try_from(data.len()).unwrap();
        bytes.extend([0, 0, 0x100, *kind, len, at - 0x200 + 0x2000, at].map(u32::to_le_bytes).concat());
        at += len;
    }
    entries.iter().for_each(|(_, data)| bytes.extend(data));
    bytes
}

/// What an entry of kind 17 describes: a portable PDB, packed as blocks of Deflate that are stored as they are.
pub fn embedded(pdb: &[u8]) -> Vec<u8> {
    let mut bytes = b"MPDB".to_vec();
    bytes.extend(u32::try_from(pdb.len()).unwrap().to_le_bytes());
    let blocks: Vec<&[u8]> = pdb.chunks(0xFFFF).collect();
    for (index, block) in blocks.iter().enumerate() {
        bytes.push(u8::from(index + 1 == blocks.len()));
        let len = u16::try_from(block.len()).unwrap();
        bytes.extend([len.to_le_bytes(), (!len).to_le_bytes()].concat());
        bytes.extend(*block);
    }
    bytes
}
