//! Writes small PDBs. It shares no code with the reader, so that a layout that is wrong in one of them cannot agree with itself.

#![allow(dead_code, unreachable_pub, reason = "not each test needs all of it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

/// A PDB of one section of code at 0x1000 and one of data at 0x3000.
#[derive(Clone, Debug, Default)]
pub struct SmallPdb {
    pub is_x86: bool,
    pub dbi_age: u32,
    /// Section, offset, name.
    pub publics: Vec<(u16, u32, String)>,
    pub modules: Vec<SmallModule>,
    /// Pairs of addresses, to those of before the code was rearranged, and from them.
    pub omap: Option<[Vec<(u32, u32)>; 2]>,
    /// Names of the namespace, and of the function, by numbers from 0x1000 on, two each.
    pub functions: Vec<(String, String)>,
    /// Records of types, by numbers from 0x1000 on.
    pub types: Vec<u8>,
    /// Records among the globals, besides publics.
    pub globals: Vec<u8>,
}

/// Lines, by offsets.
pub type Rows = Vec<(u32, u32)>;

/// An object file.
#[derive(Clone, Debug, Default)]
pub struct SmallModule {
    /// Offset and size in the section of code.
    pub contributions: Vec<(u32, u32)>,
    pub symbols: Vec<u8>,
    /// Offset, size, and the lines by offsets from there.
    pub lines: Vec<(u32, u32, Rows)>,
    /// Number of the identity and the line where its source begins.
    pub inlinees: Vec<(u32, u32)>,
}

pub const PAGE: usize = 512;

fn u16s(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub fn u32s(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn len(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// A record of a symbol or of a type.
pub fn record(kind: u16, body: &[u8]) -> Vec<u8> {
    let body = padded([&u16s(&[0, kind]), body].concat());
    let size = u16::try_from(body.len() - 2).unwrap();
    [&size.to_le_bytes(), &body[2..]].concat()
}

impl SmallModule {
    /// Adds a procedure, with the annotations of functions inlined in it, in one another.
    pub fn procedure(&mut self, offset: u32, size: u32, name: &str, inlined: &[(u32, &[u8])]) -> &mut Self {
        let at = self.at();
        let mut inner = Vec::new();
        for (id, annotations) in inlined {
            inner.extend(record(0x114D, &[&u32s(&[at, 0, *id]), *annotations].concat()));
        }
        inlined.iter().for_each(|_| inner.extend(record(0x114E, &[])));
        let body = |end: u32| [u32s(&[0, end, 0, size, 0, size, 0, offset]), u16s(&[1]), vec![0], text(name)].concat();
        let own = record(0x1110, &body(0));
        self.symbols.extend(record(0x1110, &body(at + len(&own) + len(&inner))));
        self.symbols.extend(inner);
        self.symbols.extend(record(0x0006, &[]));
        self
    }

    /// Adds a part of the procedure at `parent` that lies elsewhere.
    pub fn part(&mut self, offset: u32, size: u32, parent: u32) -> &mut Self {
        let body = [u32s(&[0, 0, size, 0, offset, parent]), u16s(&[1, 1])].concat();
        self.symbols.extend(record(0x1132, &body));
        self
    }

    fn at(&self) -> u32 {
        4 + len(&self.symbols)
    }

    fn stream(&self) -> (Vec<u8>, u32, u32) {
        let symbols = [&u32s(&[4]), &*self.symbols].concat();
        let mut lines = Vec::new();
        let mut part = |kind: u32, data: Vec<u8>| {
            lines.extend(u32s(&[kind, len(&data)]));
            lines.extend(padded(data));
        };
        part(0xF4, [u32s(&[1]), vec![0, 0]].concat());
        for (offset, size, rows) in &self.lines {
            let rows: Vec<u8> = rows.iter().flat_map(|&(at, line)| u32s(&[at, line | 1 << 31])).collect();
            let count = len(&rows) / 8;
            let head = [u32s(&[*offset]), u16s(&[1, 0]), u32s(&[*size, 0, count, 12 + len(&rows)])].concat();
            part(0xF2, [head, rows].concat());
        }
        let inlinees = self.inlinees.iter().flat_map(|&(id, line)| u32s(&[id, 0, line])).collect();
        part(0xF6, [u32s(&[0]), inlinees].concat());
        let sizes = (len(&symbols), len(&lines));
        ([symbols, lines].concat(), sizes.0, sizes.1)
    }
}

impl SmallPdb {
    /// The streams, by number.
    pub fn streams(&self) -> Vec<Vec<u8>> {
        let names = [u32s(&[0xEFFE_EFFE, 1, 8]), b"\0a.cpp\0\0".to_vec()].concat();
        let first = 10;
        let modules: Vec<_> = self.modules.iter().map(SmallModule::stream).collect();
        let mut streams =
            vec![vec![], info(5), types(&self.types), vec![], self.ids(), names, self.globals(), sections()];
        let omap = self.omap.as_ref();
        let map =
            |which: usize| omap.map_or(vec![], |maps| maps[which].iter().flat_map(|&(a, b)| u32s(&[a, b])).collect());
        streams.extend([map(0), map(1)]);
        streams[3] = self.dbi(first, &modules);
        streams.extend(modules.into_iter().map(|(stream, ..)| stream));
        streams
    }

    /// The file, as MSF.
    pub fn msf(&self) -> Vec<u8> {
        msf(&self.streams())
    }

    fn ids(&self) -> Vec<u8> {
        let pair = |(number, (scope, name)): (usize, &(String, String))| {
            let scope_id = 0x1000 + 2 * u32::try_from(number).unwrap();
            let scope = record(0x1605, &[u32s(&[0]), text(scope)].concat());
            [scope, record(0x1601, &[u32s(&[scope_id, 0]), text(name)].concat())].concat()
        };
        types(&self.functions.iter().enumerate().flat_map(pair).collect::<Vec<u8>>())
    }

    fn globals(&self) -> Vec<u8> {
        let public = |(section, offset, name): &(u16, u32, String)| {
            record(0x110E, &[u32s(&[2, *offset]), u16s(&[*section]), text(name)].concat())
        };
        self.publics.iter().flat_map(public).chain(self.globals.iter().copied()).collect()
    }

    fn dbi(&self, first: u16, streams: &[(Vec<u8>, u32, u32)]) -> Vec<u8> {
        let (mut modules, mut parts) = (Vec::new(), u32s(&[0xF12E_BA2D]));
        for ((number, module), (_, symbols, lines)) in (0_u16..).zip(&self.modules).zip(streams) {
            let head = [vec![0; 34], u16s(&[first + number]), u32s(&[*symbols, 0, *lines]), vec![0; 16]].concat();
            modules.extend(padded([head, text("a.obj"), text("a.lib")].concat()));
            for (offset, size) in &module.contributions {
                parts.extend(
                    [u16s(&[1, 0]), u32s(&[*offset, *size, 0x6000_0020]), u16s(&[number, 0]), vec![0; 8]].concat(),
                );
            }
        }
        let none = u16::MAX;
        let [to, from, original] = if self.omap.is_some() { [8, 9, 7] } else { [none; 3] };
        let further = u16s(&[none, none, none, to, from, 7, none, none, none, none, original]);
        let mut dbi = u32s(&[u32::MAX, 19_990_903, self.dbi_age]);
        dbi.extend(u16s(&[none, 0, none, 0, 6, 0]));
        dbi.extend(u32s(&[len(&modules), len(&parts), 0, 0, 0, 0, len(&further), 0]));
        dbi.extend(u16s(&[0, if self.is_x86 { 0x14C } else { 0x8664 }, 0, 0]));
        [dbi, modules, parts, further].concat()
    }
}

/// The identity: the GUID of 16 ones, and an age that is not that of the program.
fn info(names: u32) -> Vec<u8> {
    let table = [u32s(&[7]), text("/names"), u32s(&[1, 1, 1, 1, 0, 0, names])].concat();
    [u32s(&[20_000_404, 0, 77]), vec![1; 16], table].concat()
}

fn types(records: &[u8]) -> Vec<u8> {
    let head = u32s(&[20_040_203, 56, 0x1000, 0x1000 + 64, len(records)]);
    [head, vec![0; 36], records.to_vec()].concat()
}

fn sections() -> Vec<u8> {
    let section = |address: u32, kind: u32| {
        [b".section".to_vec(), u32s(&[0x1800, address, 0x1800, 0x400, 0, 0, 0, kind])].concat()
    };
    [section(0x1000, 0x6000_0020), section(0x3000, 0xC000_0040)].concat()
}

/// Streams in pages.
pub fn msf(streams: &[Vec<u8>]) -> Vec<u8> {
    let mut pages: Vec<u8> = vec![0; 3 * PAGE];
    let mut put = |bytes: &[u8]| -> Vec<u32> {
        let from = pages.len() / PAGE;
        pages.extend(bytes);
        pages.resize(pages.len().next_multiple_of(PAGE), 0);
        (from..pages.len() / PAGE).map(|page| u32::try_from(page).unwrap()).collect()
    };
    let lists: Vec<u32> = streams.iter().flat_map(|stream| put(stream)).collect();
    let sizes: Vec<u32> = streams.iter().map(|stream| len(stream)).collect();
    let count = [u32::try_from(streams.len()).unwrap()];
    let directory = u32s(&[&count[..], &sizes, &lists].concat());
    let map = put(&directory);
    let map = put(&u32s(&map));
    let count = u32::try_from(pages.len() / PAGE).unwrap();
    let mut head = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0".to_vec();
    head.extend(u32s(&[512, 1, count, len(&directory), 0]));
    head.extend(u32s(&map));
    pages[..head.len()].copy_from_slice(&head);
    pages
}

/// Streams in the compressed container: one chunk that is stored, and fragments in it and beside it.
pub fn msfz(streams: &[Vec<u8>]) -> Vec<u8> {
    let (mut file, mut chunk, mut directory) = (vec![0; 80], Vec::new(), Vec::new());
    for (number, stream) in streams.iter().enumerate() {
        if number == 0 {
            directory.extend(u32s(&[u32::MAX]));
            continue;
        }
        let (first, second) = stream.split_at(stream.len() / 2);
        if !first.is_empty() {
            directory.extend(u32s(&[len(first), len(&file), 0]));
            file.extend(first);
        }
        if !second.is_empty() {
            directory.extend(u32s(&[len(second), len(&chunk), 1 << 31]));
            chunk.extend(second);
        }
        directory.extend(u32s(&[0]));
    }
    let chunk_at = len(&file);
    file.extend(&chunk);
    let directory_at = len(&file);
    file.extend(&directory);
    let table_at = len(&file);
    file.extend(u32s(&[chunk_at, 0, 0, len(&chunk), len(&chunk)]));
    let mut head = b"Microsoft MSFZ Container\r\n\x1aALD\0\0".to_vec();
    head.extend(u32s(&[0, 0, directory_at, 0, table_at, 0, u32::try_from(streams.len()).unwrap(), 0]));
    head.extend(u32s(&[len(&directory), len(&directory), 1, 20]));
    file[..80].copy_from_slice(&head);
    file
}

/// A PDB of two modules with procedures, a public without one, lines and inlined functions.
pub fn sample() -> SmallPdb {
    let mut first = SmallModule { contributions: vec![(0, 0x100), (0x200, 0x40)], ..SmallModule::default() };
    // From 0x10 on, 8 bytes of line 31, of which from 0x14 on 4 are of line 41 of the inner one.
    first.procedure(0x00, 0x40, "a::f", &[(0x1001, &[6, 2, 3, 0x10, 4, 8, 0]), (0x1003, &[6, 2, 3, 0x14, 4, 4, 0])]);
    first.procedure(0x80, 0x20, "a::g", &[]);
    first.part(0x200, 0x20, 0x80);
    first.lines = vec![(0x00, 0x40, vec![(0, 10), (8, 11), (8, 12), (0x18, 0xF0_0F00)]), (0x80, 0x20, vec![(0, 20)])];
    first.inlinees = vec![(0x1001, 30), (0x1003, 40)];
    let second = SmallModule { contributions: vec![(0x100, 0x80)], ..SmallModule::default() };
    let public = |section, offset, name: &str| (section, offset, name.to_owned());
    let publics = vec![
        public(1, 0x00, "?f@a@@YAXH@Z"),
        public(1, 0x00, "?another@@YAXXZ"),
        public(1, 0x100, "?p@@YAXXZ"),
        public(1, 0x100, "?o@@YAXXZ"),
        public(1, 0x140, "_q@8"),
        public(2, 0x00, "data"),
    ];
    let function = |scope: &str, name: &str| (scope.to_owned(), name.to_owned());
    let functions = vec![function("a", "outer"), function("?A0x12", "inner")];
    SmallPdb { dbi_age: 3, publics, modules: vec![first, second], functions, ..SmallPdb::default() }
}

impl SmallModule {
    /// Adds an annotation of the source code.
    pub fn annotation(&mut self, texts: &[&str]) -> &mut Self {
        self.symbols.extend(annotation(texts));
        self
    }
}

/// The record of an annotation of the source code.
pub fn annotation(texts: &[&str]) -> Vec<u8> {
    let count = u16::try_from(texts.len()).unwrap();
    let texts: Vec<u8> = texts.iter().flat_map(|own| text(own)).collect();
    record(0x1019, &[u32s(&[0x20]), u16s(&[1, count]), texts].concat())
}

/// The records of an enumeration that stand at `at` among the types: a list of values, and its name. Values below 0x8000 stand for
/// themselves.
pub fn enumeration(at: u32, name: &str, values: &[(i64, &str)]) -> Vec<u8> {
    let member = |&(value, name): &(i64, &str)| {
        let number = match u16::try_from(value) {
            Ok(small) if small < 0x8000 => small.to_le_bytes().to_vec(),
            _ => [&u16s(&[0x8009])[..], &value.to_le_bytes()].concat(),
        };
        let mut member = [u16s(&[0x1502, 3]), number, text(name)].concat();
        while member.len() % 4 != 0 {
            member.push(0xF0 + u8::try_from(4 - member.len() % 4).unwrap());
        }
        member
    };
    let list = record(0x1203, &values.iter().flat_map(member).collect::<Vec<u8>>());
    let count = u16::try_from(values.len()).unwrap();
    [list, record(0x1507, &[u16s(&[count, 0]), u32s(&[0x74, at]), text(name)].concat())].concat()
}
