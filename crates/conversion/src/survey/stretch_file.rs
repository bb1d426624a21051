//! What was found in stretches of inputs, each in a file of its own in the folder of a store.
//!
//! A file begins with a seal, as that of a [survey](super::survey_file) does: who wrote it, and length and hash of what follows. That is
//! a line with what was found, and then buffers and other regions as records. Whoever reads it believes nothing that the seal, the input
//! or the file itself contradicts.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::output::Store;
use columnar::output::store::StoreReader;
use etl::input::Input;
use serde::{Deserialize, Serialize};
use spill::{Record, SpillSpace, Spilled};
use zerocopy::IntoBytes;

use super::buffer_summary::BufferSummary;
use super::stretch::Stretch;
use super::stretch_survey::{RegionRecord, StretchSubject, StretchSurvey};

/// Bytes of the line with the seal, which is filled up with blanks.
const SEAL_LEN: usize = 512;

/// Says that the file is of this program.
const FORMAT: &str = "etl2parquet stretch";

/// Bytes of records that are read at a time.
const BLOCK: usize = 1 << 20;

/// Bytes of a record.
const BUFFER: usize = size_of::<BufferSummary>();
const REGION: usize = size_of::<RegionRecord>();

const _: () = assert!(BUFFER == 128 && REGION == 40, "the sizes of records are part of the format");

/// What stands at the start of the file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seal {
    format: String,
    tool_version: String,
    /// The records are as they were in memory.
    is_little_endian: bool,
    /// Bytes of what was found.
    found: u64,
    buffers: u64,
    regions: u64,
    /// BLAKE3 of all that follows, in lower-case hexadecimal.
    blake3: String,
}

impl Seal {
    /// The part that every file of this program and this machine has.
    fn own() -> Seal {
        Seal {
            format: FORMAT.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            is_little_endian: cfg!(target_endian = "little"),
            found: 0,
            buffers: 0,
            regions: 0,
            blake3: String::new(),
        }
    }
}

/// Stretches of an input that were surveyed ahead; none of them is read before it is needed.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    store: Option<Arc<dyn Store>>,
    input: u16,
    /// In the order of their bytes.
    there: Vec<Stretch>,
}

impl Stretches {
    /// Those of an input, by its number in the recording, that lie in a folder, whether that is there or not. Of stretches of several
    /// sizes, those of which the most are there.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when the folder cannot be read.
    pub fn find(store: Arc<dyn Store>, input: u16) -> Result<Stretches> {
        let listed = match store.list("") {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(|cause| {
                Error::new(ErrorKind::Output, "cannot look for surveys of stretches")
                    .in_file(store.location(""))
                    .caused_by(cause)
            })?,
        };
        let mut all: Vec<Stretch> = listed.iter().filter_map(|entry| stretch_of(input, &entry.name)).collect();
        all.sort_unstable();
        let of_one_size = all.chunk_by(|a, b| a.count() == b.count());
        let there = of_one_size.max_by(|a, b| part_of(a).total_cmp(&part_of(b))).unwrap_or_default().to_vec();
        Ok(Stretches { store: Some(store), input, there })
    }

    /// Those that are there, in the order of their bytes.
    pub fn there(&self) -> &[Stretch] {
        &self.there
    }

    /// Whether there is one with this number of so many.
    pub fn has(&self, stretch: Stretch) -> bool {
        self.store.as_ref().is_some_and(|store| store.has(&file_name(self.input, stretch)))
    }

    /// Reads one of them; `None` where it has gone meanwhile.
    pub(super) fn read(
        &self,
        input: &dyn Input,
        subject: &StretchSubject,
        space: &SpillSpace,
        progress: &dyn Progress,
    ) -> Result<Option<StretchSurvey>> {
        let Some(store) = &self.store else { return Ok(None) };
        let path = file_name(self.input, subject.stretch);
        let opened = store.open(&path);
        let (path, hasher) = (store.location(&path), blake3::Hasher::new());
        let file = match opened {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|cause| unreadable(&path, cause))?,
        };
        let mut file = StretchFile { len: file.len(), from: StoreReader::new(file, 0), path, hasher };
        let survey = file.read(space, progress)?;
        if survey.found.place.subject != *subject {
            return Err(file.damaged("it is of another input, or of another state of it"));
        }
        survey.fault(input).map_or(Ok(Some(survey)), |fault| Err(file.damaged(fault)))
    }
}

/// Which part of an input some of its stretches are.
#[expect(clippy::cast_precision_loss, reason = "a ratio is not exact")]
fn part_of(stretches: &[Stretch]) -> f64 {
    stretches.first().map_or(0.0, |first| stretches.len() as f64 / f64::from(first.count()))
}

fn file_name(input: u16, stretch: Stretch) -> String {
    format!("stretch-{input:05}-{:05}-of-{:05}", stretch.number(), stretch.count())
}

/// The stretch of an input that a file is named after.
fn stretch_of(input: u16, name: &str) -> Option<Stretch> {
    let (number, count) = name.strip_prefix(&format!("stretch-{input:05}-"))?.split_once("-of-")?;
    let stretch = Stretch::new(number.parse().ok()?, count.parse().ok()?)?;
    (file_name(input, stretch) == name).then_some(stretch)
}

impl StretchSurvey {
    /// Writes it to a store, unless it is there.
    pub(super) fn write(&self, store: &dyn Store, input: u16, progress: &dyn Progress) -> Result<()> {
        let unexpected = |cause: serde_json::Error| Error::bug("cannot write what was surveyed").caused_by(cause);
        let found = serde_json::to_vec(&self.found).map_err(unexpected)?;
        let parts = [&found, self.buffers.as_bytes(), self.regions.as_bytes()];
        let mut hasher = blake3::Hasher::new();
        for block in parts.iter().flat_map(|part| part.chunks(BLOCK)) {
            stop_if_cancelled(progress)?;
            hasher.update(block);
        }
        let seal = Seal {
            found: found.len() as u64,
            buffers: self.buffers.len() as u64,
            regions: self.regions.len() as u64,
            blake3: hasher.finalize().to_hex().to_string(),
            ..Seal::own()
        };
        let seal = format!("{:<1$}\n", serde_json::to_string(&seal).map_err(unexpected)?, SEAL_LEN - 1);
        let path = file_name(input, self.found.place.subject.stretch);
        store.put_first(&path, &[seal.as_bytes(), parts[0], parts[1], parts[2]]).map(drop)
    }
}

/// A file while it is read, from the start to the end.
struct StretchFile {
    path: PathBuf,
    len: u64,
    from: StoreReader,
    hasher: blake3::Hasher,
}

impl StretchFile {
    /// Reads all of it and holds it against the seal.
    fn read(&mut self, space: &SpillSpace, progress: &dyn Progress) -> Result<StretchSurvey> {
        let seal = self.seal()?;
        let mut found = Vec::new();
        let line = self.from.by_ref().take(seal.found).read_to_end(&mut found);
        line.map_err(|cause| self.unreadable(cause))?;
        self.hasher.update(&found);
        let buffers = self.records(seal.buffers, space, progress)?;
        let regions = self.records(seal.regions, space, progress)?;
        if self.hasher.finalize().to_hex().as_str() != seal.blake3 {
            return Err(self.damaged("its content is not what was written"));
        }
        let found = serde_json::from_slice(&found).map_err(|cause| self.damaged("no survey").caused_by(cause))?;
        Ok(StretchSurvey { found, buffers, regions })
    }

    /// Reads the seal; the file is as long as it says.
    fn seal(&mut self) -> Result<Seal> {
        let mut text = [0; SEAL_LEN];
        self.from.read_exact(&mut text).map_err(|cause| self.unreadable(cause))?;
        let Ok(seal) = serde_json::from_slice::<Seal>(&text) else {
            return Err(self.damaged("it does not begin with the seal of a stretch"));
        };
        let (own, found) = (Seal::own(), &seal);
        if (&own.format, &own.tool_version) != (&found.format, &found.tool_version) {
            let (expected, found) = (own.tool_version, &found.tool_version);
            return Err(self.unusable(format!("expected a stretch of version {expected}, found one of {found}")));
        }
        if own.is_little_endian != seal.is_little_endian {
            return Err(self.damaged("its records have the byte order of another machine"));
        }
        let parts = [(1, SEAL_LEN), (seal.found, 1), (seal.buffers, BUFFER), (seal.regions, REGION)];
        let bytes = parts.iter().try_fold(0_u64, |sum, (count, size)| {
            count.checked_mul(*size as u64).and_then(|bytes| sum.checked_add(bytes))
        });
        if bytes != Some(self.len) {
            return Err(self.damaged("it has not the length that its seal states"));
        }
        Ok(seal)
    }

    fn records<T: Record>(&mut self, count: u64, space: &SpillSpace, progress: &dyn Progress) -> Result<Spilled<T>> {
        let (mut records, mut left) = (space.records(), count);
        let together = (BLOCK / size_of::<T>()).max(1);
        while left > 0 {
            stop_if_cancelled(progress)?;
            let mut block = vec![T::new_zeroed(); usize::try_from(left).unwrap_or(together).min(together)];
            self.from.read_exact(block.as_mut_bytes()).map_err(|cause| self.unreadable(cause))?;
            self.hasher.update(block.as_bytes());
            records.extend(&block)?;
            left -= block.len() as u64;
        }
        records.finish()
    }

    fn unreadable(&self, cause: io::Error) -> Error {
        unreadable(&self.path, cause)
    }

    fn damaged(&self, why: &str) -> Error {
        self.unusable(format!("the survey of a stretch is damaged: {why}"))
    }

    fn unusable(&self, message: String) -> Error {
        unusable(&self.path, message)
    }
}

fn unreadable(path: &Path, cause: io::Error) -> Error {
    unusable(path, "cannot read the survey of a stretch".to_owned()).caused_by(cause)
}

fn unusable(path: &Path, message: String) -> Error {
    Error::new(ErrorKind::Input, message)
        .with_code(ErrorCode::UnusablePlan)
        .in_file(path)
        .with_hint("remove the file: `plan` surveys itself what is missing")
}
