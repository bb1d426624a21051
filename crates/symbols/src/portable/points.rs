//! Sequence points: which line the code of a method comes from, from one offset in it to the next.

use super::blobs::{signed, unsigned};
use crate::bytes::Bytes;
use crate::found::{Readable, Reason};

/// Offsets and lines are less than this.
const END: u32 = 0x2000_0000;
/// The line of code that comes from none.
const HIDDEN: u32 = 0x00FE_EFEE;

/// Code from an offset on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) il_offset: u32,
    /// The row of its document, where the blob names one; else it is that of the method.
    pub(super) document: Option<u32>,
    /// `None` where the point is hidden: the code comes from no line.
    pub(super) line: Option<u32>,
}

/// The points of a blob, in the order of their offsets; after a failure there are no more.
#[derive(Debug)]
pub(super) struct Points<'a> {
    left: Bytes<'a>,
    document: Option<u32>,
    il_offset: Option<u32>,
    /// The last one that was not hidden.
    line: Option<u32>,
}

impl<'a> Points<'a> {
    /// The points of a blob; that of a method whose code comes from several documents says in which it begins.
    pub(super) fn new(blob: &'a [u8], has_document: bool) -> Readable<Points<'a>> {
        let mut points = Points { left: Bytes(blob), document: None, il_offset: None, line: None };
        if !blob.is_empty() {
            points.header(has_document).ok_or_else(damaged)?;
        }
        Ok(points)
    }

    fn header(&mut self, has_document: bool) -> Option<()> {
        let _local_signature = unsigned(&mut self.left)?;
        if has_document {
            self.document = Some(self.document()?);
        }
        Some(())
    }

    fn document(&mut self) -> Option<u32> {
        unsigned(&mut self.left).filter(|&document| document != 0)
    }

    fn record(&mut self) -> Option<Record> {
        let more = unsigned(&mut self.left)?;
        if more == 0 && self.il_offset.is_some() {
            self.document = Some(self.document()?);
            return Some(Record::Document);
        }
        let il_offset = self.il_offset.unwrap_or(0).checked_add(more).filter(|&offset| offset < END)?;
        self.il_offset = Some(il_offset);
        let line = Some(self.line()?).filter(|&line| line != HIDDEN);
        Some(Record::Point(Point { il_offset, document: self.document, line }))
    }

    fn line(&mut self) -> Option<u32> {
        let left = &mut self.left;
        let lines = unsigned(left)?;
        let columns = if lines == 0 { unsigned(left)?.cast_signed() } else { signed(left)? };
        if lines == 0 && columns == 0 {
            return Some(HIDDEN);
        }
        let line = match self.line {
            None => unsigned(left)?,
            Some(before) => before.checked_add_signed(signed(left)?)?,
        };
        let _column = if self.line.is_none() { unsigned(left)?.cast_signed() } else { signed(left)? };
        self.line = Some(line).filter(|&line| line < END);
        self.line
    }
}

/// A record of a blob.
enum Record {
    Point(Point),
    /// It only says which document the next ones are of.
    Document,
}

fn damaged() -> Reason {
    Reason::damaged("the sequence points of a method in the portable PDB are damaged")
}

impl Iterator for Points<'_> {
    type Item = Readable<Point>;

    fn next(&mut self) -> Option<Readable<Point>> {
        while !self.left.is_empty() {
            match self.record() {
                Some(Record::Point(point)) => return Some(Ok(point)),
                Some(Record::Document) => {}
                None => {
                    self.left = Bytes(&[]);
                    return Some(Err(damaged()));
                }
            }
        }
        None
    }
}
