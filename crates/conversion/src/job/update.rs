//! `--if-exists update`: what is to be converted, decided without reading the inputs.

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::progress::Progress;
use columnar::output::folder::trace_folder;
use columnar::output::manifest::{FORMAT_VERSION, FileEntry, InputEntry};
use columnar::output::refusal::{Refusal, RefusalKind};
use columnar::output::{CommitRecord, options_hash, store_at};
use etl::input::{Address, InputId, Inputs, Unopened};
use rayon::ThreadPool;
use schema::pack::Pack;

use crate::commit::lock_file;
use crate::commit::record;
use crate::convert::ConvertOptions;
use crate::convert::{InputFile, Outcome, Recording, Report};
use crate::plan::Filter;
use crate::survey;

/// A job that may have been done before.
pub(super) struct Update<'a> {
    job: &'a Recording,
    options: &'a ConvertOptions,
    /// Of a refusal: which names a trace would have had nobody knows, so that any change of a lock counts.
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
            options_hash: options_hash(&record::settings(options, &job.inputs, whole_lock(options).as_deref())),
            checks: serde_json::to_value(options.checks).unwrap_or_default(),
            inputs: job.inputs.iter().map(|input| Unopened::at(&input.address)).collect(),
            published: CommitRecord::read(&*store_at(&trace_folder(&options.out, &job.name))).ok(),
            refused: Refusal::read(&*store_at(&options.out), &job.name),
        }
    }

    /// What became of this very job before: the trace is there, or it was refused.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the trace is there, but of another recording; [`ErrorKind::Output`] when it has events of inputs
    /// that the job lacks, and would lose them; [`ErrorKind::Interrupted`] when the caller asked to stop.
    pub(super) fn known(&self, pool: &ThreadPool, progress: &dyn Progress) -> Result<Option<Outcome>> {
        let Some(inputs) = &self.inputs else { return Ok(None) };
        let hash = |address: &Address| pool.install(|| self.hash_of(address, progress));
        if let Some(there) = &self.published {
            // Inputs that have gone since leave their events where they are.
            let before = before(&there.inputs, &there.run.modified, &there.run.inputs);
            if self.is_ours(there) && self.are_same(inputs, &self.kept(&before), hash)? {
                return Ok(Some(Outcome::Skipped));
            }
            self.check_is_newer(inputs, &before, hash)?;
            self.check_none_has_gone(there)?;
        }
        let Some(refusal) = &self.refused else { return Ok(None) };
        let is_same = refusal.format_version == FORMAT_VERSION
            && refusal.tool_version == env!("CARGO_PKG_VERSION")
            && refusal.options_hash == self.options_hash
            && refusal.checks == self.checks
            && self.are_same(inputs, &before(&refusal.inputs, &refusal.modified, &[]), hash)?;
        Ok(is_same.then(|| Outcome::KnownRefusal(Box::new(refusal.clone()))))
    }

    /// Two recordings of one name do not replace one another: a newer version of an input stands where the older one stood, or
    /// is the same file at another place.
    fn check_is_newer(
        &self,
        inputs: &[Unopened],
        before: &[Before<'_>],
        hash: impl Fn(&Address) -> Result<String>,
    ) -> Result<()> {
        let job = || self.job.inputs.iter().zip(inputs);
        let elsewhere = before.iter().filter(|before| !job().any(|(input, _)| before.is_at(&input.address)));
        for missing in elsewhere {
            let is_meant = |input: &InputFile| before.len() == 1 || input.source == missing.entry.source;
            let is_new = |input: &InputFile| !before.iter().any(|before| before.is_at(&input.address));
            let mut instead = job().filter(|(input, _)| is_new(input) && is_meant(input)).peekable();
            // Inputs that have gone without another in their place have a check of their own.
            let Some((first, _)) = instead.peek().copied() else { continue };
            let mut is_moved = false;
            for (input, now) in instead {
                if now.size.is_some_and(|size| size != missing.entry.size) {
                    continue;
                }
                match hash(&input.address) {
                    Err(error) if error.code() == ErrorCode::Interrupted => return Err(error),
                    // One that cannot be read is for the conversion to name.
                    Err(_) => is_moved = true,
                    Ok(now) => is_moved |= now == missing.entry.blake3,
                }
            }
            if !is_moved {
                return Err(self.is_another(first, missing));
            }
        }
        Ok(())
    }

    fn is_another(&self, input: &InputFile, before: &Before<'_>) -> Error {
        let there = before.path.unwrap_or(&before.entry.source);
        let message =
            format!("expected a newer version of {there}, of which trace={} is, found another file", self.job.name);
        Error::new(ErrorKind::Usage, message).in_file(&input.address).with_hint(
            "give each a trace of its own with --name-from path, make them one with --merge NAME, or give --if-exists replace",
        )
    }

    /// A trace of several inputs is not replaced by one of fewer: who collects what a session writes, and clears it away,
    /// would lose what was converted.
    fn check_none_has_gone(&self, there: &CommitRecord) -> Result<()> {
        let mut present: Vec<&str> = self.job.inputs.iter().map(|input| &*input.source).collect();
        let mut gone = there.inputs.iter().filter(|entry| {
            let place = present.iter().position(|source| *source == entry.source);
            place.map(|place| present.swap_remove(place)).is_none()
        });
        let Some(first) = gone.next().filter(|_| there.inputs.len() > 1) else { return Ok(()) };
        let more = match gone.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("trace={} has events of inputs that have gone: {}{more}", self.job.name, first.source);
        Err(Error::new(ErrorKind::Output, message)
            .in_file(trace_folder(&self.options.out, &self.job.name))
            .with_hint("it stays as it is; bring them back, or give --if-exists replace to have it without them"))
    }

    /// Whether nobody has published or refused the job since `before`.
    pub(super) fn is_still(&self, before: &Update<'_>) -> bool {
        self.published == before.published && self.refused == before.refused
    }

    /// Keeps why the job became no trace, or that it has.
    pub(super) fn keep(&self, outcome: &Result<Outcome>) {
        let (kind, reason, report) = match outcome {
            Ok(Outcome::Published(_)) => return Refusal::forget(&*store_at(&self.options.out), &self.job.name),
            Ok(Outcome::Empty(report)) => (RefusalKind::Empty, "no event passes the filters".to_owned(), Some(report)),
            Ok(Outcome::Refused(report, reason)) => (RefusalKind::Gated, reason.clone(), Some(report)),
            Err(error) if error.code() == ErrorCode::NotATrace => (RefusalKind::Unreadable, error.to_string(), None),
            _ => return,
        };
        // Where it cannot be kept, the next run finds it again.
        if let Some(refusal) = self.refusal(kind, reason, report.map(|report| &**report)) {
            let _ = refusal.write(&*store_at(&self.options.out));
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

    fn hash_of(&self, address: &Address, progress: &dyn Progress) -> Result<String> {
        let open = self.options.open.or_in(&self.options.out);
        let inputs = Inputs::open_any(&[address.to_owned()], &open, &|_| {}, progress)?;
        survey::hash(&*inputs.get(InputId(0))?, progress)
    }

    fn is_ours(&self, there: &CommitRecord) -> bool {
        there.format_version == FORMAT_VERSION
            && there.tool_version == env!("CARGO_PKG_VERSION")
            && self.has_same_options(there)
    }

    /// Whether a trace has the options that it would have if it were converted again, and by a lock the same names.
    fn has_same_options(&self, there: &CommitRecord) -> bool {
        let has = |lock: Option<&str>| {
            there.options_hash == options_hash(&record::settings(self.options, &self.job.inputs, lock))
        };
        let Some(lock) = &self.options.schemas.lock else { return has(None) };
        if there.options.get("schema_lock").is_some_and(|recorded| !recorded.is_null()) {
            let used = lock_file::names_of(&*store_at(&trace_folder(&self.options.out, &self.job.name)));
            return used.is_some_and(|used| {
                let missing = self.options.reports_new_names().then(|| used.missing_in(lock));
                used.agree_with(lock, self.options.all_columns) && has(Some(&used.hash(missing.as_ref())))
            });
        }
        // Nothing that a lock settles, which a run without a lock does not say.
        let is_settled = |file: &FileEntry| file.provider_id.is_none_or(|guid| Pack::builtin().settles(&guid));
        let is_whole = self.options.filter == Filter::default();
        let is_known = record::lock_of(there).is_some() || (is_whole && there.files.iter().all(is_settled));
        is_known && has(None)
    }

    /// Those of before that the job still has.
    fn kept<'b>(&self, before: &[Before<'b>]) -> Vec<Before<'b>> {
        let mut sources = self.job.inputs.iter().map(|input| &input.source).peekable();
        let is_kept = |before: &&Before<'_>| sources.next_if(|source| **source == before.entry.source).is_some();
        before.iter().filter(is_kept).copied().collect()
    }

    /// Whether names and sizes are those of before, and times, or, where it is asked for and of files that stand elsewhere
    /// than before, content.
    fn are_same(
        &self,
        inputs: &[Unopened],
        before: &[Before<'_>],
        hash: impl Fn(&Address) -> Result<String>,
    ) -> Result<bool> {
        if inputs.len() != before.len() || !self.job.inputs.iter().zip(inputs).zip(before).all(is_alike) {
            return Ok(false);
        }
        for ((input, now), before) in self.job.inputs.iter().zip(inputs).zip(before) {
            if !self.options.rehash && before.is_at(&input.address) {
                if is_as_old(now, before) {
                    continue;
                }
                return Ok(false);
            }
            match hash(&input.address) {
                Ok(now) if now == before.entry.blake3 => {}
                Err(error) if error.code() == ErrorCode::Interrupted => return Err(error),
                // One that cannot be read is for the conversion to name.
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

fn whole_lock(options: &ConvertOptions) -> Option<String> {
    options.schemas.lock.as_ref().map(|lock| lock.hash())
}

/// An input as it was recorded.
#[derive(Clone, Copy)]
struct Before<'a> {
    entry: &'a InputEntry,
    modified: Option<&'a str>,
    /// Its absolute path; `None` where nobody kept it.
    path: Option<&'a str>,
}

impl Before<'_> {
    /// Whether this is what stands at an address now; unknown counts as so.
    fn is_at(&self, address: &Address) -> bool {
        self.path.is_none_or(|path| record::is_at(path, address))
    }
}

/// What was recorded of inputs: entries, times and paths in one order.
fn before<'a>(inputs: &'a [InputEntry], modified: &'a [Option<String>], paths: &'a [String]) -> Vec<Before<'a>> {
    let mut modified = modified.iter().map(Option::as_deref);
    let mut paths = paths.iter().map(String::as_str);
    let one = |entry| Before { entry, modified: modified.next().flatten(), path: paths.next() };
    inputs.iter().map(one).collect()
}

fn is_alike(((input, now), before): ((&InputFile, &Unopened), &Before<'_>)) -> bool {
    input.source == before.entry.source && now.size.is_none_or(|size| size == before.entry.size)
}

/// Whether an input was not written since; one of which nobody knows the time may have been.
fn is_as_old(now: &Unopened, before: &Before<'_>) -> bool {
    before.modified.is_some() && record::modified(now.modified).as_deref() == before.modified
}
