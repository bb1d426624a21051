//! The lines of a module: which line of which file the code at a place comes from.
//!
//! Layout: <https://llvm.org/docs/PDB/ModiStream.html>, `DebugSubsections` of LLVM, and `cvinfo.h` of microsoft/microsoft-pdb.

use std::collections::HashMap;
use std::sync::Arc;

use super::space::Place;
use crate::bytes::{Bytes, from, shown, until_zero};
use crate::container::Stream;

const LINES: u32 = 0xF2;
const FILES: u32 = 0xF4;
const INLINEES: u32 = 0xF6;
/// Lines have columns, too.
const HAS_COLUMNS: u16 = 1;
/// The inlinees of a table have further files.
const HAS_FILES: u32 = 1;
/// Bytes of the name of a file that are shown.
const MAX_NAME: usize = 4096;
/// Lines that a compiler gives to code that comes from none: to be stepped over, and into.
const NO_LINES: [u32; 2] = [0xF0_0F00, 0xFE_EFEE];

/// A line of a file, which is an offset in the table of files of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Line {
    pub(crate) file: u32,
    pub(crate) line: u32,
}

impl Line {
    /// The number, if the code comes from a line.
    pub(crate) fn number(self) -> Option<u32> {
        Some(self.line).filter(|line| *line != 0 && !NO_LINES.contains(line))
    }
}

/// The lines of one stretch of code, as a rule of one function.
#[derive(Clone, Copy, Debug)]
struct Stretch<'a> {
    place: Place,
    len: u32,
    has_columns: bool,
    blocks: &'a [u8],
}

/// The lines of a module.
#[derive(Debug, Default)]
pub(crate) struct Lines<'a> {
    stretches: Vec<Stretch<'a>>,
    files: &'a [u8],
    /// Of each function that is inlined anywhere, where its source begins.
    inlinees: HashMap<u32, Line>,
    /// The stretch that was asked for last, with its lines in order of their code.
    last: Option<(usize, Vec<(u32, Line)>)>,
}

impl<'a> Lines<'a> {
    pub(crate) fn read(lines: &'a [u8]) -> Lines<'a> {
        let mut found = Lines::default();
        let mut bytes = Bytes(lines);
        while let Some((kind, len)) = bytes.u32().zip(bytes.u32()) {
            let Some(data) = bytes.take_u32(len) else { break };
            match kind {
                LINES => found.stretches.extend(stretch(Bytes(data))),
                FILES => found.files = data,
                INLINEES => drop(inlinees(Bytes(data), &mut found.inlinees)),
                _ => {}
            }
            let padding = (data.len().wrapping_neg() & 3).min(bytes.0.len());
            bytes.skip(padding);
        }
        found.stretches.sort_by_key(|stretch| stretch.place);
        found
    }

    /// The line that the code at a place comes from: the last that begins there or before, in the stretch. Of several that begin at one
    /// place the last of the table counts: those before it have no code.
    pub(crate) fn at(&mut self, place: Place) -> Option<Line> {
        let behind = self.stretches.partition_point(|stretch| stretch.place <= place);
        let index = behind.checked_sub(1)?;
        let stretch = self.stretches.get(index)?;
        let offset = place.offset.checked_sub(stretch.place.offset)?;
        if stretch.place.section != place.section || offset >= stretch.len {
            return None;
        }
        if self.last.as_ref().is_none_or(|(last, _)| *last != index) {
            self.last = Some((index, stretch.lines()));
        }
        let (_, lines) = self.last.as_ref()?;
        let behind = lines.partition_point(|&(from, _)| from <= offset);
        lines.get(behind.checked_sub(1)?).map(|&(_, line)| line)
    }

    /// Where the source of a function begins that is inlined.
    pub(crate) fn of_inlinee(&self, id: u32) -> Option<Line> {
        self.inlinees.get(&id).copied()
    }

    /// Where the name of a file lies, of those in the stream of names.
    pub(crate) fn name_of(&self, file: u32) -> Option<u32> {
        from(self.files, file)?.u32()
    }
}

/// The names of source files; each is kept once.
#[derive(Debug)]
pub(crate) struct FileNames {
    stream: Option<Stream>,
    known: HashMap<u32, Arc<str>>,
}

impl FileNames {
    pub(crate) fn new(stream: Option<Stream>) -> FileNames {
        FileNames { stream, known: HashMap::new() }
    }

    /// The name at an offset.
    pub(crate) fn get(&mut self, offset: u32) -> Option<Arc<str>> {
        if let Some(name) = self.known.get(&offset) {
            return Some(Arc::clone(name));
        }
        // A number of the format, a version and a length stand before the texts.
        let text = until_zero(from(self.stream.as_ref()?, offset.checked_add(12)?)?.0);
        let text = text.get(..MAX_NAME).unwrap_or(text);
        let name: Arc<str> = Some(shown(text)).filter(|text| !text.is_empty())?.into();
        self.known.insert(offset, Arc::clone(&name));
        Some(name)
    }
}

fn stretch(mut data: Bytes<'_>) -> Option<Stretch<'_>> {
    let (offset, section, flags, len) = (data.u32()?, data.u16()?, data.u16()?, data.u32()?);
    let place = Place { section, offset };
    Some(Stretch { place, len, has_columns: flags & HAS_COLUMNS != 0, blocks: data.0 })
}

impl Stretch<'_> {
    /// The lines by the offset from which on they hold; those of one offset in the order of the table.
    fn lines(&self) -> Vec<(u32, Line)> {
        let mut lines = Vec::new();
        let mut blocks = Bytes(self.blocks);
        while self.block(&mut blocks, &mut lines).is_some() {}
        lines.sort_by_key(|&(offset, _)| offset);
        lines
    }

    fn block(&self, blocks: &mut Bytes<'_>, lines: &mut Vec<(u32, Line)>) -> Option<()> {
        let (file, count, size) = (blocks.u32()?, blocks.u32()?, blocks.u32()?);
        let mut block = Bytes(blocks.take_u32(size.checked_sub(12)?)?);
        let columns = if self.has_columns { 4 } else { 0 };
        let most = block.0.len() / (8 + columns);
        for _ in 0..usize::try_from(count).unwrap_or(usize::MAX).min(most) {
            let (offset, line) = (block.u32()?, block.u32()? & 0xFF_FFFF);
            lines.push((offset, Line { file, line }));
        }
        Some(())
    }
}

fn inlinees(mut data: Bytes<'_>, found: &mut HashMap<u32, Line>) -> Option<()> {
    let has_files = data.u32()? == HAS_FILES;
    while !data.is_empty() {
        let (id, file, line) = (data.u32()?, data.u32()?, data.u32()?);
        found.insert(id, Line { file, line });
        if has_files {
            let files = data.u32()?;
            data.take_u32(files.checked_mul(4)?)?;
        }
    }
    Some(())
}
