//! The two streams that say what the others are: that of the PDB itself, and DBI, of the program.
//!
//! Layout: <https://llvm.org/docs/PDB/PdbStream.html>, <https://llvm.org/docs/PDB/DbiStream.html>.

use crate::bytes::Bytes;
use crate::container::{Stream, Streams};
use crate::found::{Readable, Reason};
use crate::identity::PdbId;

/// The stream of the PDB itself.
const INFO: u32 = 1;
/// The stream of types.
pub(crate) const TYPES: u32 = 2;
/// The stream of the program.
const DBI: u32 = 3;
/// The stream of the identities of functions.
pub(crate) const IDS: u32 = 4;
/// Bytes of the header of DBI.
const DBI_HEADER: usize = 64;
/// Versions of the table of section contributions.
const CONTRIBUTIONS_V1: u32 = 0xF12E_BA2D;
const CONTRIBUTIONS_V2: u32 = 0xF131_51E4;
/// The machine of 32-bit x86.
const X86: u16 = 0x14C;

/// Who a PDB is, and where its strings lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Info {
    pub(crate) guid: base::guid::Guid,
    /// Counts the writers of the file, `pdbstr` among them.
    pub(crate) age: u32,
    /// The stream of the names of source files.
    pub(crate) names: Option<u32>,
}

impl Info {
    pub(crate) fn read(streams: &Streams) -> Readable<Info> {
        let stream = streams.needed(INFO, "stream of its identity")?;
        let mut bytes = Bytes(&stream);
        let fields = |bytes: &mut Bytes<'_>| {
            bytes.skip(8)?;
            let age = bytes.u32()?;
            Some((age, bytes.guid()?))
        };
        let (age, guid) = fields(&mut bytes).ok_or_else(|| Reason::damaged("the identity of the PDB is cut off"))?;
        Ok(Info { guid, age, names: named_stream(bytes, b"/names") })
    }
}

/// The number of a stream that has a name: a hash table of offsets of names and numbers of streams.
fn named_stream(mut bytes: Bytes<'_>, name: &[u8]) -> Option<u32> {
    let len = bytes.u32()?;
    let names = bytes.take_u32(len)?;
    let (count, _capacity) = (bytes.u32()?, bytes.u32()?);
    for _bit_vector in ["present", "deleted"] {
        let words = bytes.u32()?;
        bytes.take_u32(words.checked_mul(4)?)?;
    }
    for _ in 0..count {
        let (offset, stream) = (bytes.u32()?, bytes.u32()?);
        if crate::bytes::from(names, offset)?.text() == name {
            return Some(stream);
        }
    }
    None
}

/// The stream of the program.
#[derive(Debug)]
pub(crate) struct Dbi {
    stream: Stream,
    /// The age that the linker wrote into the binary, too.
    pub(crate) age: u32,
    /// The stream of publics and of references to procedures.
    pub(crate) globals: u16,
    machine: u16,
    sizes: Sizes,
}

/// Bytes of the parts behind the header, in their order.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    modules: u32,
    contributions: u32,
    /// Those between contributions and the list of further streams.
    others: [u32; 4],
    further: u32,
}

impl Dbi {
    /// The stream, if the PDB has one.
    pub(crate) fn read(streams: &Streams) -> Readable<Option<Dbi>> {
        let Some(stream) = streams.stream(DBI)?.filter(|stream| !stream.is_empty()) else { return Ok(None) };
        let fields = |mut bytes: Bytes<'_>| {
            let (signature, _version, age) = (bytes.u32()?, bytes.u32()?, bytes.u32()?);
            bytes.skip(8)?;
            let globals = bytes.u16()?;
            bytes.skip(2)?;
            let (modules, contributions, sections, files) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
            let (servers, _mfc, further, edit) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
            let (_flags, machine) = (bytes.u16()?, bytes.u16()?);
            let sizes = Sizes { modules, contributions, others: [sections, files, servers, edit], further };
            Some((signature, age, globals, sizes, machine))
        };
        let cut = || Reason::damaged("the DBI stream of the PDB is cut off");
        let (signature, age, globals, sizes, machine) = fields(Bytes(&stream)).ok_or_else(cut)?;
        if signature != u32::MAX {
            return Err(Reason::unsupported("a PDB whose DBI stream is of before 1996"));
        }
        Ok(Some(Dbi { stream, age, globals, machine, sizes }))
    }

    /// Whether names of C are decorated by their calling convention.
    pub(crate) fn is_x86(&self) -> bool {
        self.machine == X86
    }

    fn part(&self, skipped: &[u32], len: u32) -> Option<&[u8]> {
        let mut bytes = Bytes(&self.stream);
        bytes.skip(DBI_HEADER)?;
        for &part in skipped {
            bytes.take_u32(part)?;
        }
        bytes.take_u32(len)
    }

    /// The modules, in the order of their numbers.
    pub(crate) fn modules(&self) -> Readable<Vec<ModuleStreams>> {
        let cut = || Reason::damaged("the list of modules of the PDB is cut off");
        let mut bytes = Bytes(self.part(&[], self.sizes.modules).ok_or_else(cut)?);
        let mut modules = Vec::new();
        while !bytes.is_empty() {
            modules.push(ModuleStreams::read(&mut bytes).ok_or_else(cut)?);
        }
        Ok(modules)
    }

    /// What each part of the binary comes from, in the order of the binary.
    pub(crate) fn contributions(&self) -> Readable<Vec<Contribution>> {
        let Sizes { modules, contributions, .. } = self.sizes;
        let cut = || Reason::damaged("the table of section contributions of the PDB is cut off");
        let mut bytes = Bytes(self.part(&[modules], contributions).ok_or_else(cut)?);
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let trailer = match bytes.u32() {
            Some(CONTRIBUTIONS_V1) => 0,
            Some(CONTRIBUTIONS_V2) => 4,
            _ => return Err(Reason::unsupported("a table of section contributions of an unknown version")),
        };
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let contribution = Contribution::read(&mut bytes).filter(|_| bytes.skip(trailer).is_some());
            found.extend(Some(contribution.ok_or_else(cut)?).filter(|contribution| contribution.size != 0));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The number of a further stream.
    pub(crate) fn further(&self, which: Further) -> Option<u16> {
        let Sizes { modules, contributions, others: [sections, files, servers, edit], further } = self.sizes;
        let before = [modules, contributions, sections, files, servers, edit];
        let mut bytes = Bytes(self.part(&before, further)?);
        bytes.skip(2_usize.saturating_mul(which as usize))?;
        bytes.u16()
    }
}

/// The streams that DBI lists by place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Further {
    /// From addresses of the binary to those of before it was rearranged.
    OmapToSource = 3,
    /// From the latter to the former.
    OmapFromSource = 4,
    /// The section headers of the binary.
    Sections = 5,
    /// Those of before it was rearranged.
    OriginalSections = 10,
}

/// Where a module, which is an object file, has its symbols and its lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModuleStreams {
    stream: u16,
    symbols: u32,
    old_lines: u32,
    lines: u32,
}

impl ModuleStreams {
    fn read(bytes: &mut Bytes<'_>) -> Option<ModuleStreams> {
        let before = bytes.0.len();
        bytes.skip(34)?;
        let (stream, symbols, old_lines, lines) = (bytes.u16()?, bytes.u32()?, bytes.u32()?, bytes.u32()?);
        bytes.skip(16)?;
        bytes.text();
        bytes.text();
        let len = before.checked_sub(bytes.0.len())?;
        // The last one may go without padding.
        let padding = len.next_multiple_of(4).checked_sub(len)?.min(bytes.0.len());
        bytes.skip(padding)?;
        Some(ModuleStreams { stream, symbols, old_lines, lines })
    }

    /// The number of the stream of both.
    pub(crate) fn stream(self) -> u16 {
        self.stream
    }

    /// The bytes of both.
    pub(crate) fn load(self, streams: &Streams) -> Readable<Option<ModuleBytes>> {
        let stream = streams.named_by(self.stream)?;
        Ok(stream.map(|stream| ModuleBytes { stream, layout: self }))
    }
}

/// The bytes of a module.
#[derive(Debug)]
pub(crate) struct ModuleBytes {
    stream: Stream,
    layout: ModuleStreams,
}

impl ModuleBytes {
    /// Its symbols; offsets count from the beginning, where four bytes say of which format they are.
    pub(crate) fn symbols(&self) -> Readable<&[u8]> {
        let mut bytes = Bytes(&self.stream);
        bytes.take_u32(self.layout.symbols).ok_or_else(|| Reason::damaged("the symbols of a module are cut off"))
    }

    /// Its lines.
    pub(crate) fn lines(&self) -> Readable<&[u8]> {
        let mut bytes = Bytes(&self.stream);
        let ModuleStreams { symbols, old_lines, lines, .. } = self.layout;
        let parts = [symbols, old_lines, lines].map(|len| bytes.take_u32(len));
        let [_, _, Some(lines)] = parts else {
            return Err(Reason::damaged("the lines of a module are cut off"));
        };
        Ok(lines)
    }
}

/// A part of a section that comes from one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Contribution {
    pub(crate) section: u16,
    pub(crate) offset: u32,
    pub(crate) size: u32,
    pub(crate) module: u16,
}

impl Contribution {
    fn read(bytes: &mut Bytes<'_>) -> Option<Contribution> {
        let section = bytes.u16()?;
        bytes.skip(2)?;
        let (offset, size, _kind, module) = (bytes.u32()?, bytes.u32()?, bytes.u32()?, bytes.u16()?);
        bytes.skip(10)?;
        Some(Contribution { section, offset, size, module })
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> u32 {
        self.offset.saturating_add(self.size)
    }
}

/// The identity of a PDB.
///
/// The GUID is that of the PDB stream. The age is that of the DBI stream, where there is one: the linker writes it into the
/// binary, too, where debuggers read what they ask for; the age of the PDB stream grows with everyone who writes to the file
/// afterwards, such as `pdbstr`, which adds the places of the sources. So do LLDB (`ObjectFilePDB.cpp`, `GetPDBUUID`) and the crate
/// `pdb2` (`DebugInformation::age`).
pub(crate) fn identity(info: &Info, dbi: Option<&Dbi>) -> PdbId {
    PdbId { guid: info.guid, age: dbi.map_or(info.age, |dbi| dbi.age) }
}
