//! A survey in two files, to be read by another process or on another machine.
//!
//! `survey.json` begins with a seal: who wrote it, and length and hash of all that follows in both files. A line for each
//! file of the recording stands behind it. `survey.buffers` holds the summaries of all buffers as records of one size, file
//! by file. What is read is held against the seal first, so that nothing is made of a file that is cut, changed or of
//! another version.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::store::StoreReader;
use columnar::output::{Store, StoredFile};
use serde::{Deserialize, Serialize};
use spill::{SpillSpace, Spilled};
use zerocopy::{FromZeros, IntoBytes};

use super::buffer_summary::BufferSummary;
use super::result::{FileSurvey, SurveyResult};

/// What a survey without its buffers is called in its folder.
pub const FACTS: &str = "survey.json";
/// What its buffers are called.
const BUFFERS: &str = "survey.buffers";

/// Bytes of the line with the seal, which is filled up with blanks.
const SEAL_LEN: usize = 512;

/// Says that the file is of this program.
const FORMAT: &str = "etl2parquet survey";

/// Bytes that are hashed at a time.
const HASH_BLOCK: usize = 16 << 20;

/// Records that are read at a time.
const BLOCK: usize = 4096;

const _: () = assert!(size_of::<BufferSummary>() == 128, "the size of a record is part of the format");

/// What stands at the start of `survey.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Seal {
    format: String,
    tool_version: String,
    /// The records are as they were in memory.
    is_little_endian: bool,
    facts: Part,
    buffers: Part,
}

/// Length and hash of what a seal stands for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    bytes: u64,
    blake3: String,
}

/// A file of the recording, with the number of its buffers.
type Line<T> = (u64, T);

impl SurveyResult {
    /// Writes the survey to two files of a store, each unless it is there.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when they cannot be written, [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub fn write(&self, store: &dyn Store, progress: &dyn Progress) -> Result<()> {
        let buffers: Vec<&[u8]> = self.files.iter().map(|file| file.buffers.as_bytes()).collect();
        let sealed = part(&buffers, progress)?;
        store.put_first(BUFFERS, &buffers)?;
        let (seal, facts) =
            facts(&self.files, sealed, progress).map_err(|error| error.in_file(store.location(FACTS)))?;
        store.put_first(FACTS, &[&seal, &facts]).map(drop)
    }

    /// Reads the survey that was written to a store; `space` is for what does not fit into memory.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the files cannot be read, are damaged, or of another version of this program,
    /// [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub fn read(store: &dyn Store, space: &SpillSpace, progress: &dyn Progress) -> Result<SurveyResult> {
        let facts = Opened::open(store, FACTS)?;
        let seal = facts.seal()?;
        facts.hold_against(&seal.facts, SEAL_LEN as u64, progress)?;
        let stored = facts.lines()?;
        let buffers = Opened::open(store, BUFFERS)?;
        buffers.hold_against(&seal.buffers, 0, progress)?;
        let records = stored.iter().try_fold(0_u64, |sum, (buffers, _)| sum.checked_add(*buffers));
        let bytes = records.and_then(|records| records.checked_mul(size_of::<BufferSummary>() as u64));
        if bytes != Some(seal.buffers.bytes) {
            return Err(buffers.damaged("it holds other buffers than the survey names"));
        }
        let mut from = BufReader::new(buffers.from(0));
        let mut files = Vec::with_capacity(stored.len());
        for (count, mut file) in stored {
            file.buffers = read_buffers(&mut from, &buffers.path, count, space, progress)?;
            if !lies_within(&file) {
                return Err(buffers.damaged("a buffer lies outside of its file"));
            }
            files.push(file);
        }
        Ok(SurveyResult { files })
    }
}

/// The line with the seal, and the lines of the files.
fn facts(files: &[FileSurvey], buffers: Part, progress: &dyn Progress) -> Result<(Vec<u8>, Vec<u8>)> {
    let unexpected = |cause: serde_json::Error| Error::bug("cannot write the survey").caused_by(cause);
    let mut lines = Vec::new();
    for file in files {
        let line: Line<&FileSurvey> = (file.buffers.len() as u64, file);
        serde_json::to_writer(&mut lines, &line).map_err(unexpected)?;
        lines.push(b'\n');
    }
    let seal = Seal {
        format: FORMAT.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        is_little_endian: cfg!(target_endian = "little"),
        facts: part(&[&lines], progress)?,
        buffers,
    };
    let seal = format!("{:<1$}\n", serde_json::to_string(&seal).map_err(unexpected)?, SEAL_LEN - 1);
    Ok((seal.into_bytes(), lines))
}

/// Length and hash of what is written.
fn part(parts: &[&[u8]], progress: &dyn Progress) -> Result<Part> {
    let mut hasher = blake3::Hasher::new();
    for block in parts.iter().flat_map(|part| part.chunks(HASH_BLOCK)) {
        stop_if_cancelled(progress)?;
        hasher.update(block);
    }
    Ok(Part::of(&hasher))
}

impl Part {
    fn of(hasher: &blake3::Hasher) -> Part {
        Part { bytes: hasher.count(), blake3: hasher.finalize().to_hex().to_string() }
    }
}

/// One of the files while it is read.
struct Opened {
    path: PathBuf,
    file: Arc<dyn StoredFile>,
}

impl Opened {
    fn open(store: &dyn Store, path: &str) -> Result<Self> {
        let location = store.location(path);
        match store.open(path) {
            Ok(file) => Ok(Opened { path: location, file }),
            Err(cause) => Err(unreadable(&location, cause)),
        }
    }

    /// Reads from a place on.
    fn from(&self, offset: u64) -> StoreReader {
        StoreReader::new(Arc::clone(&self.file), offset)
    }

    fn seal(&self) -> Result<Seal> {
        let mut text = [0; SEAL_LEN];
        self.file.read_exact_at(0, &mut text).map_err(|cause| match cause.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged("it is too short"),
            _ => unreadable(&self.path, cause),
        })?;
        let Ok(seal) = serde_json::from_slice::<Seal>(&text) else {
            return Err(self.damaged("it does not begin with the seal of a survey"));
        };
        let own = env!("CARGO_PKG_VERSION");
        if seal.format != FORMAT || seal.tool_version != own {
            let message = format!("expected a survey of version {own}, found one of {}", seal.tool_version);
            let hint = "survey the trace again with this version, or go on with that one";
            return Err(Error::new(ErrorKind::Input, message)
                .with_code(ErrorCode::UnusablePlan)
                .in_file(&self.path)
                .with_hint(hint));
        }
        if seal.is_little_endian != cfg!(target_endian = "little") {
            return Err(self.damaged("its records have the byte order of another machine"));
        }
        Ok(seal)
    }

    /// Makes sure that what follows is what was written.
    fn hold_against(&self, part: &Part, start: u64, progress: &dyn Progress) -> Result<()> {
        let len = self.file.len();
        let expected = part.bytes.saturating_add(start);
        if len != expected {
            return Err(self.damaged(&format!("expected {expected} bytes, found {len}")));
        }
        let (mut hasher, mut from) = (blake3::Hasher::new(), self.from(start));
        // What has come since is one byte more than there should be.
        let mut left = part.bytes.saturating_add(1);
        while left > 0 {
            stop_if_cancelled(progress)?;
            let block = from.by_ref().take(left.min(HASH_BLOCK as u64));
            let before = hasher.count();
            hasher.update_reader(block).map_err(|cause| unreadable(&self.path, cause))?;
            let read = hasher.count() - before;
            left = if read == 0 { 0 } else { left.saturating_sub(read) };
        }
        if Part::of(&hasher) != *part {
            return Err(self.damaged("its content is not what was written"));
        }
        Ok(())
    }

    fn lines(&self) -> Result<Vec<Line<FileSurvey>>> {
        let lines = serde_json::Deserializer::from_reader(BufReader::new(self.from(SEAL_LEN as u64))).into_iter();
        lines.collect::<serde_json::Result<_>>().map_err(|cause| {
            if cause.is_io() {
                return unreadable(&self.path, cause.into());
            }
            self.damaged("it cannot be understood").caused_by(cause)
        })
    }

    fn damaged(&self, why: &str) -> Error {
        Error::new(ErrorKind::Input, format!("the stored survey is damaged: {why}"))
            .with_code(ErrorCode::UnusablePlan)
            .in_file(&self.path)
            .with_hint("delete the folder and survey the trace again")
    }
}

fn unreadable(path: &Path, cause: io::Error) -> Error {
    Error::new(ErrorKind::Input, "cannot read the stored survey")
        .with_code(ErrorCode::UnusablePlan)
        .in_file(path)
        .caused_by(cause)
        .with_hint("check the folder and its permissions, or survey the trace again")
}

/// The next so many buffers; `path` is for errors.
fn read_buffers(
    from: &mut impl Read,
    path: &Path,
    count: u64,
    space: &SpillSpace,
    progress: &dyn Progress,
) -> Result<Spilled<BufferSummary>> {
    let mut records = space.records();
    let at_once = |left: u64| usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
    let mut block = vec![BufferSummary::new_zeroed(); at_once(count)];
    let mut left = count;
    while left > 0 {
        stop_if_cancelled(progress)?;
        let block = &mut block[..at_once(left)];
        from.read_exact(block.as_mut_bytes()).map_err(|cause| unreadable(path, cause))?;
        records.extend(block)?;
        left -= block.len() as u64;
    }
    records.finish()
}

/// Whether all buffers and regions lie within the file: what is read later on takes their places for granted.
fn lies_within(file: &FileSurvey) -> bool {
    let size = file.identity.size;
    let fits = |offset: u64, len: u64| offset.checked_add(len).is_some_and(|end| end <= size);
    file.buffers.iter().all(|buffer| fits(buffer.extent.offset, buffer.extent.stored_len.into()))
        && file.buffers.is_sorted_by_key(|buffer| buffer.extent.ordinal)
        && file.unreadable.lie_within(size)
        && file.tail.is_none_or(|tail| fits(tail.offset, tail.len))
}
