//! `--if-exists update`: what is to be converted, told without reading the inputs.

use std::path::Path;

use rayon::ThreadPool;

use crate::commit::record;
use crate::convert::ConvertOptions;
use crate::convert::job::{Outcome, Recording, Report};
use crate::error::{ErrorCode, Result};
use crate::input::{InputId, Inputs, Unopened};
use crate::output::folder::trace_folder;
use crate::output::manifest::{FORMAT_VERSION, InputEntry};
use crate::output::refusal::{Refusal, RefusalKind};
use crate::output::{CommitRecord, options_hash};
use crate::progress::Progress;
use crate::survey;

/// A job of which it is to be told whether it was done before.
pub(super) struct Update<'a> {
    job: &'a Recording,
    options: &'a ConvertOptions,
    options_hash: String,
    checks: serde_json::Value,
    /// The inputs as they are now; `None` where one cannot be had, which is for the conversion to say.
    inputs: Option<Vec<Unopened>>,
    published: Option<CommitRecord>,
    refused: Option<Refusal>,
}

impl<'a> Update<'a> {
    /// Looks at the inputs, without opening them, and at what was published or refused.
    pub(super) fn of(job: &'a Recording, options: &'a ConvertOptions) -> Self {
        Update {
            job,
            options,
            options_hash: options_hash(&record::options(options)),
            checks: serde_json::to_value(options.checks).unwrap_or_default(),
            inputs: job.inputs.iter().map(|input| Unopened::at(&input.path)).collect(),
            published: CommitRecord::read(&trace_folder(&options.out, &job.name)).ok(),
            refused: Refusal::read(&options.out, &job.name),
        }
    }

    /// What became of this very job before: the trace is there, or it was refused.
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) when the caller asked to stop.
    pub(super) fn known(&self, pool: &ThreadPool, progress: &dyn Progress) -> Result<Option<Outcome>> {
        let Some(inputs) = &self.inputs else { return Ok(None) };
        let hash = |path: &Path| pool.install(|| self.hash_of(path, progress));
        if let Some(there) = &self.published {
            let is_same = self.is_ours(there)
                && self.are_same(inputs, &there.inputs, &there.run.modified)
                && (!self.options.rehash || are_unchanged(self.job, &there.inputs, hash)?);
            if is_same {
                return Ok(Some(Outcome::Skipped));
            }
        }
        let Some(refusal) = &self.refused else { return Ok(None) };
        let is_same = refusal.format_version == FORMAT_VERSION
            && refusal.tool_version == env!("CARGO_PKG_VERSION")
            && refusal.options_hash == self.options_hash
            && refusal.checks == self.checks
            && self.are_same(inputs, &refusal.inputs, &refusal.modified)
            && (!self.options.rehash || are_unchanged(self.job, &refusal.inputs, hash)?);
        Ok(is_same.then(|| Outcome::KnownRefusal(Box::new(refusal.clone()))))
    }

    /// Whether nobody has published or refused the job since `before`.
    pub(super) fn is_still(&self, before: &Update<'_>) -> bool {
        self.published == before.published && self.refused == before.refused
    }

    /// Keeps why the job became no trace, or that it has.
    pub(super) fn keep(&self, outcome: &Result<Outcome>) {
        let (kind, reason, report) = match outcome {
            Ok(Outcome::Published(_)) => return Refusal::forget(&self.options.out, &self.job.name),
            Ok(Outcome::Empty(report)) => (RefusalKind::Empty, "no event passes the filters".to_owned(), Some(report)),
            Ok(Outcome::Refused(report, reason)) => (RefusalKind::Gated, reason.clone(), Some(report)),
            Err(error) if error.code() == ErrorCode::NotATrace => (RefusalKind::Unreadable, error.to_string(), None),
            _ => return,
        };
        // Where it cannot be kept, the next run finds it again.
        if let Some(refusal) = self.refusal(kind, reason, report.map(|report| &**report)) {
            let _ = refusal.write(&self.options.out);
        }
    }

    fn refusal(&self, kind: RefusalKind, reason: String, report: Option<&Report>) -> Option<Refusal> {
        let inputs = self.inputs.as_ref()?;
        let hash = |number: usize| report?.files.get(number)?.blake3.clone();
        let size = |number: usize| Some(report?.files.get(number)?.identity.size);
        let entries = self.job.inputs.iter().zip(inputs).enumerate().map(|(number, (input, unopened))| InputEntry {
            source: input.source.clone(),
            // Of a member that could not be read nobody knows it, and nobody asks.
            size: size(number).or(unopened.size).unwrap_or_default(),
            blake3: hash(number).unwrap_or_default(),
        });
        Some(Refusal {
            trace: self.job.name.clone(),
            format_version: FORMAT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            options_hash: self.options_hash.clone(),
            checks: self.checks.clone(),
            inputs: entries.collect(),
            modified: inputs.iter().map(|input| record::modified(input.modified)).collect(),
            kind,
            reason,
        })
    }

    fn hash_of(&self, address: &Path, progress: &dyn Progress) -> Result<String> {
        let open = self.options.open.or_in(&self.options.out);
        let inputs = Inputs::open_any(&[address.to_owned()], &open, &|_| {}, progress)?;
        survey::hash(&*inputs.get(InputId(0))?, progress)
    }

    fn is_ours(&self, there: &CommitRecord) -> bool {
        there.format_version == FORMAT_VERSION
            && there.tool_version == env!("CARGO_PKG_VERSION")
            && there.options_hash == self.options_hash
    }

    /// Whether names and sizes are those of before, and, where content is not compared, times.
    fn are_same(&self, inputs: &[Unopened], before: &[InputEntry], modified: &[Option<String>]) -> bool {
        are_alike(self.job, inputs, before) && (self.options.rehash || are_as_old(inputs, modified))
    }
}

fn are_alike(job: &Recording, inputs: &[Unopened], before: &[InputEntry]) -> bool {
    let mut pairs = job.inputs.iter().zip(inputs).zip(before);
    inputs.len() == before.len()
        && pairs.all(|((input, now), before)| {
            input.source == before.source && now.size.is_none_or(|size| size == before.size)
        })
}

/// Whether no input was written since; one of which nobody knows the time may have been.
fn are_as_old(inputs: &[Unopened], modified: &[Option<String>]) -> bool {
    inputs.len() == modified.len()
        && inputs
            .iter()
            .zip(modified)
            .all(|(input, before)| before.is_some() && record::modified(input.modified) == *before)
}

/// Whether the inputs have the hashes of before. One that cannot be read is for the conversion to name.
fn are_unchanged(job: &Recording, before: &[InputEntry], hash: impl Fn(&Path) -> Result<String>) -> Result<bool> {
    for (input, before) in job.inputs.iter().zip(before) {
        match hash(&input.path) {
            Ok(now) if now == before.blake3 => {}
            Err(error) if error.code() == ErrorCode::Interrupted => return Err(error),
            _ => return Ok(false),
        }
    }
    Ok(true)
}
