//! The functions that are inlined into a procedure, at places of it.

use super::annotations::{Range, ranges};
use super::lines::{Line, Lines};
use super::procedures::Procedure;
use super::records::{Record, Records, S_INLINESITE, S_INLINESITE_END, S_INLINESITE2};
use super::space::Place;
use crate::bytes::Bytes;
use crate::found::{Readable, Reason};

/// Functions inlined into one another that are followed; compilers stop long before.
const MAX_DEPTH: usize = 256;

/// An inlined function at a place: its number in the stream of identities, and the line there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) id: u32,
    pub(crate) line: Option<Line>,
}

/// Of each place of a procedure, the functions inlined there, from the outermost to the innermost. Places are in order, and lie in
/// the procedure.
///
/// Sites lie within one another as their code does. Where a compiler gives an inner site code that the outer one has not got, the
/// outer one has it, too, at no known line: it was the outer one that called the inner one.
pub(crate) fn sites(
    symbols: &[u8],
    procedure: &Procedure<'_>,
    places: &[Place],
    lines: &Lines<'_>,
) -> Readable<Vec<Vec<Site>>> {
    let mut found = Found { chains: vec![Vec::new(); places.len()], open: Vec::new() };
    let offsets: Vec<u32> = places.iter().map(|place| place.offset.saturating_sub(procedure.place.offset)).collect();
    let records = Records::new(symbols, procedure.at).skip(1);
    for record in records.take_while(|record| record.at < procedure.end) {
        match record.kind {
            S_INLINESITE | S_INLINESITE2 => found.begin(&record, &offsets, lines)?,
            S_INLINESITE_END => drop(found.open.pop()),
            _ => {}
        }
    }
    Ok(found.chains)
}

struct Found {
    chains: Vec<Vec<Site>>,
    /// The sites that the next one lies in.
    open: Vec<u32>,
}

impl Found {
    fn begin(&mut self, record: &Record<'_>, offsets: &[u32], lines: &Lines<'_>) -> Readable<()> {
        let (id, annotations) =
            site(record).ok_or_else(|| Reason::damaged("an inlined function of the PDB is cut off"))?;
        let start = lines.of_inlinee(id);
        for Range { from, to, line } in ranges(annotations, start.unwrap_or(Line { file: 0, line: 0 })) {
            let first = offsets.partition_point(|&offset| offset < from);
            let behind = offsets.partition_point(|&offset| offset < to);
            for chain in self.chains.get_mut(first..behind).unwrap_or_default() {
                // Ranges of one site may overlap: the first counts.
                if chain.len() <= self.open.len() {
                    // What lies around it, where that does not say so itself.
                    chain.extend(self.open.iter().skip(chain.len()).map(|&id| Site { id, line: None }));
                    chain.push(Site { id, line: start.map(|_| line) });
                }
            }
        }
        self.open.push(id);
        if self.open.len() > MAX_DEPTH {
            return Err(Reason::damaged(format!(
                "more than {MAX_DEPTH} functions of the PDB are inlined into one another"
            )));
        }
        Ok(())
    }
}

/// The number of the function, and its annotations.
fn site<'a>(record: &Record<'a>) -> Option<(u32, &'a [u8])> {
    let mut data = Bytes(record.data);
    data.skip(8)?;
    let id = data.u32()?;
    if record.kind == S_INLINESITE2 {
        data.skip(4)?;
    }
    Some((id, data.0))
}
