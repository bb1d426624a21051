//! Where the code of a function that is inlined lies, and its lines: a small program of changes.
//!
//! Layout: `BinaryAnnotationOpcode` and `CVUncompressData` of `cvinfo.h` in microsoft/microsoft-pdb.

use super::lines::Line;
use crate::bytes::Bytes;

/// Code that comes from one line of an inlined function, in offsets from the start of the procedure around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) line: Line,
}

/// The ranges of an inlined function whose source begins at a line, as they come.
///
/// A range reaches to where the next one begins, or as far as a length says that stands with it or behind it; the last one without
/// a length has no code.
pub(crate) fn ranges(annotations: &[u8], start: Line) -> Vec<Range> {
    let mut state = State { base: 0, offset: 0, line: start, open: None, ranges: Vec::new() };
    let mut bytes = Bytes(annotations);
    while let Some(code) = number(&mut bytes) {
        if code == 0 || state.step(code, &mut bytes).is_none() {
            break;
        }
    }
    state.ranges
}

struct State {
    base: u32,
    offset: u32,
    line: Line,
    /// The start and the line of a range whose end nothing has told yet.
    open: Option<(u32, Line)>,
    ranges: Vec<Range>,
}

impl State {
    fn step(&mut self, code: u32, bytes: &mut Bytes<'_>) -> Option<()> {
        let operand = number(bytes)?;
        match code {
            1 => self.offset = operand,
            2 => self.base = operand,
            3 => {
                self.offset = self.offset.wrapping_add(operand);
                self.begin();
            }
            4 => {
                self.end(self.offset.wrapping_add(operand));
                self.offset = self.offset.wrapping_add(operand);
            }
            5 => self.line.file = operand,
            6 => self.line.line = self.line.line.wrapping_add_signed(signed(operand)),
            11 => {
                self.offset = self.offset.wrapping_add(operand & 0xF);
                self.line.line = self.line.line.wrapping_add_signed(signed(operand >> 4));
                self.begin();
            }
            12 => {
                self.offset = self.offset.wrapping_add(number(bytes)?);
                self.begin();
                self.end(self.offset.wrapping_add(operand));
            }
            // Ends of lines, kinds of ranges, and columns.
            7..=10 | 13 => {}
            _ => return None,
        }
        Some(())
    }

    fn begin(&mut self) {
        self.end(self.offset);
        self.open = Some((self.offset.wrapping_add(self.base), self.line));
    }

    /// Ends the range that is open, if any.
    fn end(&mut self, offset: u32) {
        let to = offset.wrapping_add(self.base);
        if let Some((from, line)) = self.open.take().filter(|(from, _)| *from < to) {
            self.ranges.push(Range { from, to, line });
        }
    }
}

/// A number in one, two or four bytes, the longer ones with the high bits first.
fn number(bytes: &mut Bytes<'_>) -> Option<u32> {
    let first = u32::from(bytes.u8()?);
    let mut more = |high: u32, count: u32| (0..count).try_fold(high, |sum, _| Some(sum << 8 | u32::from(bytes.u8()?)));
    match first {
        0..0x80 => Some(first),
        0x80..0xC0 => more(first & 0x3F, 1),
        0xC0..0xE0 => more(first & 0x1F, 3),
        _ => None,
    }
}

/// The sign is the lowest bit.
fn signed(number: u32) -> i32 {
    let value = i32::try_from(number >> 1).unwrap_or(i32::MAX);
    if number & 1 == 0 { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The annotations of `xul.pdb` that the tests of the crate `pdb2` have.
    #[test]
    fn a_range_ends_where_the_next_begins_or_by_its_length() {
        let start = Line { file: 0x590, line: 499 };
        let found = ranges(&[6, 38, 3, 186, 32, 11, 71, 11, 36, 4, 5, 0], start);
        let range = |from, to, line| Range { from, to, line: Line { file: 0x590, line } };
        assert_eq!(found, [range(0x3A20, 0x3A27, 518), range(0x3A27, 0x3A2B, 520), range(0x3A2B, 0x3A30, 521)]);
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let cases: [(&[u8], Option<u32>); 6] = [
            (&[0x7F], Some(0x7F)),
            (&[0x81, 0x02], Some(0x102)),
            (&[0xC1, 2, 3, 4], Some(0x0102_0304)),
            (&[0xC1, 2, 3], None),
            (&[0xE0, 0, 0, 0], None),
            (&[], None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(number(&mut Bytes(bytes)), expected, "{bytes:?}");
        }
        assert_eq!([signed(38), signed(39), signed(1)], [19, -19, 0]);
    }
}
