//! One pass over a file: scan, counts, hash, in batches that keep all cores busy.

use base::error::Result;
use base::progress::{Progress, Step, stop_if_cancelled, timed};
use etl::buffer::guess;
use etl::buffer::scan::{BufferExtent, BufferScan, Doubt, Region, ScanRules, ScanState};
use etl::reader::BufferReader;
use etl::session::Session;
use rayon::prelude::*;
use spill::SpillSpace;

use super::assembly::{Assembly, Batch, PassResult};
use super::buffer_summary::BufferSummary;
use super::count::{Counts, Room};
use super::ending::{Ending, Tail, TailKind};
use super::hash::{FileHash, SUBTREE};
use super::issue::{Issue, Severity};
use super::issue_code::IssueCode;
use super::options::Keeps;
use super::stretch::Stretch;
use super::stretch_file::Stretches;
use super::stretch_survey::{StretchPlace, StretchSubject, StretchSurvey};

/// Bytes that are surveyed and hashed together: enough for many cores, small enough to stay in their caches' reach
/// and for a steady progress bar.
const BATCH_BYTES: u64 = 64 << 20;

/// Buffers at which a batch ends early: small ones weigh more as records than as bytes.
const BATCH_BUFFERS: usize = 1 << 16;

/// What a pass over a file needs.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a> {
    /// For what does not fit into memory.
    pub(super) space: &'a SpillSpace,
    pub(super) session: &'a Session,
    pub(super) scan: ScanRules,
    pub(super) reader: BufferReader<'a>,
    pub(super) keeps: Keeps,
    pub(super) progress: &'a dyn Progress,
}

impl Pass<'_> {
    /// Visits every buffer of the file but those that begin at the offsets in `repeated`, and those of stretches of which somebody has
    /// found what this pass would.
    ///
    /// # Errors
    /// When the file or a stretch cannot be read, when there is no space, or
    /// [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted).
    pub(super) fn over(
        &self,
        stretches: &Stretches,
        repeated: &[u64],
        mut hasher: Option<&mut FileHash>,
    ) -> Result<PassResult> {
        let input = self.reader.input;
        let mut survey = Assembly::new(self.space, self.keeps);
        let room = Room::of(input.size(), self.keeps);
        let mut scan = BufferScan::new(input, self.scan, repeated);
        for &stretch in stretches.there() {
            if let Some(found) = stretches.read(input, &self.subject(stretch), self.space, self.progress)? {
                self.join(found, &mut scan, repeated, (&mut survey, &room), hasher.as_deref_mut())?;
            }
        }
        self.advance(&mut scan, u64::MAX, (&mut survey, &room), hasher)?;
        survey.finish(self.progress, |buffers| ending_of(self, buffers))
    }

    /// Surveys the buffers that begin in a stretch, for [`Pass::over`] to take over. Nothing is found where it is not even known whether
    /// a scan comes by there.
    ///
    /// # Errors
    /// Those of [`Pass::over`].
    pub(super) fn of_stretch(&self, stretch: Stretch) -> Result<StretchSurvey> {
        let (input, subject) = (self.reader.input, self.subject(stretch));
        let bytes = stretch.bytes(input.size());
        let nowhere = ScanState { offset: bytes.end, ordinal: 1, after_unreadable: true, spent: 0 };
        let start = guess::state_at(input, &self.scan, bytes.start, bytes.end)?.unwrap_or(nowhere);
        let mut scan = BufferScan::new(input, self.scan, &[]);
        scan.go_on(start);
        let mut hash = FileHash::of_stretch(&bytes);
        let mut survey = Assembly::of_stretch(self.space);
        // Nobody can use the events of another process.
        let room = Room::default();
        self.advance(&mut scan, bytes.end, (&mut survey, &room), Some(&mut hash))?;
        let place = StretchPlace { subject, start, end: scan.state(), spare: scan.spare() };
        survey.finish_stretch(place, hash.finish_stretch(&bytes, input, self.progress)?)
    }

    fn subject(&self, stretch: Stretch) -> StretchSubject {
        let identity = self.reader.input.identity().clone();
        StretchSubject { identity, stretch, scan: self.scan, read: self.reader.rules }
    }

    /// Takes over what was found in the next stretch, or surveys it anew where the scan may find something else.
    fn join(
        &self,
        found: StretchSurvey,
        scan: &mut BufferScan<'_>,
        repeated: &[u64],
        (survey, room): (&mut Assembly, &Room),
        mut hasher: Option<&mut FileHash>,
    ) -> Result<()> {
        let (input, StretchPlace { subject, start, end, .. }) = (self.reader.input, found.found.place.clone());
        self.advance(scan, start.offset, (survey, room), hasher.as_deref_mut())?;
        if let Some(hasher) = hasher.as_deref_mut() {
            hasher.join(&found.found.hash, input, self.progress)?;
        }
        if found.is_empty() {
            return Ok(());
        }
        let is_repeated = repeated.iter().any(|offset| (start.offset..end.offset).contains(offset));
        match found.behind(scan.state()).filter(|_| !is_repeated) {
            Some((state, shift)) => {
                timed(self.progress, Step::Scan, || survey.join(found, shift))?;
                scan.go_on(state);
                self.progress.advance(end.offset - start.offset);
                stop_if_cancelled(self.progress)
            }
            None => self.advance(scan, subject.stretch.bytes(input.size()).end, (survey, room), hasher),
        }
    }

    /// Visits the buffers from where the scan stands on that begin in front of `end`.
    fn advance(
        &self,
        scan: &mut BufferScan<'_>,
        end: u64,
        (survey, room): (&mut Assembly, &Room),
        mut hasher: Option<&mut FileHash>,
    ) -> Result<()> {
        let progress = self.progress;
        scan.stop_at(end);
        let mut take = |(batch, counts)| timed(progress, Step::Scan, || survey.take(batch, counts, &room.walks));
        let (mut batch, mut counted) = (next_batch(scan, end, progress)?, None);
        while batch.start < batch.end {
            let (from, to) = (batch.start, batch.end);
            // What was counted before is taken, and the next buffers are found, while the events of these are counted.
            let (counts, next) = rayon::join(
                || self.count(&batch, hasher.as_deref_mut(), room),
                || counted.take().map_or(Ok(()), &mut take).and_then(|()| next_batch(scan, end, progress)),
            );
            counted = Some((batch, counts?));
            batch = next?;
            progress.advance(to - from);
            stop_if_cancelled(progress)?;
        }
        counted.map_or(Ok(()), take)
    }

    /// Counts the events of a batch, and hashes the subtrees that end in it: a worker reads one, hashes it, and counts the
    /// events of the buffers that begin in it while its bytes are in the cache.
    fn count(&self, batch: &Batch, hasher: Option<&mut FileHash>, room: &Room) -> Result<Counts> {
        let to_hash = hasher.as_ref().map_or(0..0, |hasher| hasher.next(self.reader.input, batch.end));
        let first = to_hash.clone().next().unwrap_or(u64::MAX).min(batch.start / SUBTREE);
        let worker = (first..batch.end.div_ceil(SUBTREE))
            .into_par_iter()
            .try_fold(
                || Worker { counts: Counts::keeping(room), ..Worker::default() },
                |worker, number| worker.take(self, number, batch.beginning_in(number), to_hash.contains(&number)),
            )
            .try_reduce(Worker::default, |a, b| Ok(timed(self.progress, Step::Survey, || a.merged(b))))?;
        if let Some(hasher) = hasher {
            hasher.append(worker.hash);
        }
        Ok(worker.counts)
    }
}

/// What one worker counts and hashes of subtrees that follow one another.
#[derive(Default)]
struct Worker {
    counts: Counts,
    hash: FileHash,
    scratch: Vec<u8>,
}

impl Worker {
    /// Takes a subtree of the file with the buffers that begin in it.
    fn take(self, pass: &Pass<'_>, number: u64, extents: &[BufferExtent], is_hashed: bool) -> Result<Self> {
        let (Pass { reader, progress, .. }, Worker { mut counts, mut hash, mut scratch }) = (*pass, self);
        stop_if_cancelled(progress)?;
        let bytes = if is_hashed {
            timed(progress, Step::Hash, || hash.read(reader.input, number, &mut scratch))?
        } else {
            &[]
        };
        timed(progress, Step::Survey, || {
            extents.iter().try_for_each(|extent| {
                stop_if_cancelled(progress)?;
                counts.survey(&reader, extent, (number * SUBTREE, bytes))
            })
        })?;
        Ok(Worker { counts, hash, scratch })
    }

    /// Adds what another worker has found behind it.
    fn merged(mut self, other: Worker) -> Worker {
        self.hash.append(other.hash);
        Worker { counts: self.counts.merged(other.counts), ..self }
    }
}

/// The buffers of the next batch of the file, of those that begin in front of `end`.
fn next_batch(scan: &mut BufferScan<'_>, end: u64, progress: &dyn Progress) -> Result<Batch> {
    timed(progress, Step::Scan, || {
        let start = scan.offset();
        let (extents, doubts, regions, fragment) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut batch = Batch { start, end: start, extents, doubts, regions, fragment };
        let until = start.saturating_add(BATCH_BYTES).min(end);
        while scan.offset() < until && batch.extents.len() + batch.regions.len() < BATCH_BUFFERS {
            stop_if_cancelled(progress)?;
            match scan.next_region()? {
                None => break,
                Some(Region::Buffer(extent, doubt)) => {
                    batch.doubts.extend(doubt.map(|doubt| doubt_issue(&extent, doubt)));
                    batch.extents.push(extent);
                }
                Some(Region::Unreadable(region)) => batch.regions.push(region),
                Some(Region::Fragment { offset, len }) => {
                    batch.fragment = Some(Tail { offset, len, kind: TailKind::Fragment });
                }
            }
        }
        batch.end = scan.offset();
        Ok(batch)
    })
}

fn ending_of(pass: &Pass<'_>, buffers: &[BufferSummary]) -> Ending {
    let is_closed = pass.session.is_closed();
    let owed = u64::from(pass.session.buffers_written).saturating_sub(buffers.len() as u64);
    Ending {
        file_len: pass.reader.input.size(),
        stride: pass.scan.stride,
        owed: if is_closed { owed } else { 0 },
        knows_its_own: is_closed || buffers.len() > 1,
    }
}

fn doubt_issue(extent: &BufferExtent, doubt: Doubt) -> Issue {
    let message = match doubt {
        Doubt::Size(stated) => {
            format!(
                "the header says that the buffer has {stated} bytes, but the next one follows after {}",
                extent.size
            )
        }
        Doubt::Age => "the header is older than the session, but the events are not; they are read".to_owned(),
    };
    Issue::new(Severity::Warning, IssueCode::DamagedBufferHeader, message).at(extent.ordinal, extent.offset)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use base::progress::NoProgress;
    use columnar::output::MemoryStore;
    use etl::input::{InputId, Inputs};
    use etl::reader::ReadRules;
    use etl::session;
    use spill::Spilled;

    use super::*;

    /// The example, whose buffers have one distance.
    fn on_example(work: impl FnOnce(&Pass<'_>, &Inputs)) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/example.etl");
        let inputs = Inputs::open([path]).unwrap();
        let input = inputs.get(InputId::default()).unwrap();
        let (session, scan) = session::read(&*input).unwrap();
        let reader = BufferReader { rules: ReadRules::of(&session), input: &*input };
        let keeps = Keeps { stacks: true, ..Keeps::default() };
        work(
            &Pass { space: &SpillSpace::temporary(), session: &session, scan, reader, keeps, progress: &NoProgress },
            &inputs,
        );
    }

    #[test]
    fn stretches_are_taken_over_without_a_look_at_the_input() {
        on_example(|pass, inputs| {
            let expected = pass.over(&Stretches::default(), &[], None).unwrap();
            for count in [1, 2, 5, 17, 40] {
                let store = Arc::new(MemoryStore::default());
                for number in 0..count {
                    let found = pass.of_stretch(Stretch::new(number, count).unwrap()).unwrap();
                    found.write(&*store, 0, &NoProgress).unwrap();
                }
                let stretches = Stretches::find(store, 0).unwrap();
                assert_eq!(stretches.there().len(), count as usize);
                let before = inputs.bytes_read();
                let joined = pass.over(&stretches, &[], None).unwrap();
                assert_eq!(inputs.bytes_read(), before, "{count} stretches");
                assert_eq!(joined.buffers[..], expected.buffers[..]);
                assert_eq!((joined.shapes, joined.marked), (expected.shapes.clone(), expected.marked.clone()));
                // Of those that hold a repeated buffer, the buffers are visited again, and of no others.
                let repeated = expected.buffers[3].extent;
                pass.over(&stretches, &[repeated.offset], None).unwrap();
                let read = inputs.bytes_read() - before;
                let all = pass.reader.input.size();
                assert!(read > 0 && (count < 5 || read < all / 2), "{read} of {all} bytes in {count} stretches");
            }
        });
    }

    #[test]
    fn a_stretch_counts_behind_a_state_that_makes_no_difference() {
        on_example(|pass, _| {
            let mut found = pass.of_stretch(Stretch::new(1, 3).unwrap()).unwrap();
            let start = found.found.place.start;
            let end = found.found.place.end;
            assert_eq!(found.behind(start), Some((end, 0)));
            // What stands before a buffer makes no difference to it.
            assert_eq!(found.behind(ScanState { after_unreadable: false, ..start }), Some((end, 0)));
            assert_eq!(found.behind(ScanState { offset: start.offset + 1, ..start }), None);
            assert_eq!(found.behind(ScanState { ordinal: start.ordinal + 1, ..start }), None, "of one distance");
            found.found.place.subject.scan.stride = None;
            let before = ScanState { ordinal: start.ordinal + 7, spent: 100, ..start };
            let behind = ScanState { ordinal: end.ordinal + 7, spent: end.spent + 100, ..end };
            assert_eq!(found.behind(before), Some((behind, 7)));
            found.found.place.spare = 100;
            assert_eq!(found.behind(before), Some((behind, 7)));
            found.found.place.spare = 99;
            assert_eq!(found.behind(before), None);
            // A number below the guess, which no real scan has.
            assert_eq!(found.behind(ScanState { ordinal: 0, ..start }), None);
            found.buffers = Spilled::default();
            assert_eq!(found.behind(start), Some((end, 0)));
            assert_eq!(found.behind(ScanState { after_unreadable: false, ..start }), None);
        });
    }
}
