//! Objects as output: a trace is built in a folder of this system, goes to the store file by file, and appears by one conditional put
//! of its manifest.
//!
//! ```text
//! OUT/trace=<name>/sidecar/manifest.json       names in `run.data` where the files of the trace lie
//!     trace=<name>/data-<attempt>/events/…     of one run
//!     trace=<name>/data-<plan hash>/events/…   of a plan: whoever converts a partition writes the same bytes to the same place
//!     .etl2parquet-<name>.plan-<plan hash>/    the files of the plan
//! ```
//!
//! A store has no rename, and no folder. So who reads goes by the manifest: what it does not name is of an attempt that is under way,
//! was interrupted, or was replaced. Who fails removes what it has sent, if it can; [`clean`](super::clean) removes what is left.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::error::{Error, ErrorKind, Result};
use base::names::short_hash;
use base::progress::{Progress, stop_if_cancelled};
use base::remote::{self, Stop};

use super::errors::output_error;
use super::folder::{self, CleanupRegistry, LocalFolder};
use super::interface::{IfExists, Output, OutputFile, PlanOutput, Published, StagedFile, StagedName};
use super::manifest::MANIFEST_PATH;
use super::remote_store::{PutEnd, RemoteStore};
use super::store::{Store, joined};

/// What the folder of an attempt's files begins with.
pub(super) const DATA: &str = "data-";

/// Files that are sent side by side.
const SENDERS: usize = 4;

/// How long what was sent is removed when its caller has asked to stop, and else.
const BRIEFLY: Duration = Duration::from_millis(800);
const PATIENTLY: Duration = Duration::from_secs(20);

/// A trace under construction that a store will have.
#[derive(Debug)]
pub struct RemoteOutput {
    local: LocalFolder,
    /// The objects below the output's address.
    out: RemoteStore,
    name: String,
    data: String,
    plan: Option<RemoteStore>,
    /// What has been sent and goes again unless it is published.
    sent: Mutex<BTreeSet<String>>,
    is_kept: AtomicBool,
}

impl RemoteOutput {
    /// Begins a trace below a URL. Until it is sent it lies in a staging folder in `spool`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when another run of this system is at work on the trace, or the folder cannot be made;
    /// [`ErrorKind::Usage`] for an address that cannot be written to.
    pub fn create((url, name): (&str, &str), spool: &Path, cleanup: &CleanupRegistry, stop: Stop) -> Result<Self> {
        check_writable(url)?;
        let local = LocalFolder::create_in(cleanup, spool, &format!("{name}-{}", short_hash(url)))?;
        let data = format!("{DATA}{}", local.attempt());
        Ok(Self::at(local, (url, name), data, None, stop))
    }

    /// Begins or opens the plan of a trace below a URL.
    ///
    /// # Errors
    /// Those of [`RemoteOutput::create`].
    pub fn plan(
        (url, name, plan_hash): (&str, &str, &str),
        spool: &Path,
        cleanup: &CleanupRegistry,
        stop: Stop,
    ) -> Result<Self> {
        check_writable(url)?;
        // Several processes of one system may be at work on a plan: each has a folder of its own.
        let unique = format!("{name}-{}", short_hash(&format!("{url} {} {}", std::process::id(), unique())));
        let local = LocalFolder::create_in(cleanup, spool, &unique)?;
        let plan = RemoteStore::new(&format!("{url}/{}", folder::plan_folder_name(name, plan_hash)));
        let plan = plan.with_stop(stop.clone());
        Ok(Self::at(local, (url, name), format!("{DATA}{plan_hash}"), Some(plan), stop))
    }

    fn at(local: LocalFolder, (url, name): (&str, &str), data: String, plan: Option<RemoteStore>, stop: Stop) -> Self {
        let (out, sent, is_kept) = (RemoteStore::new(url).with_stop(stop), Mutex::default(), AtomicBool::new(false));
        RemoteOutput { local, out, name: name.to_owned(), data, plan, sent, is_kept }
    }

    /// Where the trace is published.
    pub fn target(&self) -> PathBuf {
        self.out.location(&self.trace())
    }

    /// A folder of this system for what does not fit into memory.
    pub fn spool(&self) -> &Path {
        self.local.folder()
    }

    fn trace(&self) -> String {
        format!("trace={}", self.name)
    }

    /// The path of a file of the trace below the output's address.
    fn data_path(&self, path: &str) -> String {
        format!("{}/{}/{path}", self.trace(), self.data)
    }

    /// Sends files of this process, several at a time.
    fn send(&self, files: &[&StagedName], progress: &dyn Progress) -> Result<()> {
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<Error>));
        let has_failed = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let sender = || {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                if has_failed() {
                    return;
                }
                if let Err(error) = stop_if_cancelled(progress).and_then(|()| self.send_one(&file.path)) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| (0..SENDERS.min(files.len())).for_each(|_| drop(scope.spawn(sender))));
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn send_one(&self, path: &str) -> Result<()> {
        let (local, remote) = (self.local.locate(path)?, self.data_path(path));
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(remote.clone());
        self.out.send(&remote, &local)
    }

    /// The files that are there of the trace, with their lengths.
    fn there(&self) -> Result<BTreeMap<String, u64>> {
        let folder = format!("{}/{}", self.trace(), self.data);
        let listed = self.out.ask(&folder, |client, url| client.list(url, true, self.out.stop()));
        let listed = listed.map_err(|cause| self.out.failed("list", &folder, cause))?;
        Ok(listed.into_iter().map(|object| (object.path, object.facts.unwrap_or_default().size)).collect())
    }

    /// Sends what is this process's own, and sees that all is there, as long as it is here.
    fn assemble(&self, files: &[StagedName], progress: &dyn Progress) -> Result<()> {
        let is_own = |file: &&StagedName| file.attempt == self.local.attempt() && file.path != MANIFEST_PATH;
        let own: Vec<&StagedName> = files.iter().filter(is_own).collect();
        self.send(&own, progress)?;
        let there = self.there()?;
        for file in files.iter().filter(|file| file.path != MANIFEST_PATH) {
            let expected = if is_own(&file) { Some(self.own_len(&file.path)?) } else { there.get(&file.path).copied() };
            if expected.is_none() || there.get(&file.path).copied() != expected {
                let path = self.data_path(&file.path);
                return Err(self.out.failed("find", &path, io::ErrorKind::NotFound.into()));
            }
        }
        Ok(())
    }

    fn own_len(&self, path: &str) -> Result<u64> {
        let local = self.local.locate(path)?;
        Ok(std::fs::metadata(&local).map_err(|cause| output_error("read", &local, cause))?.len())
    }

    /// Puts the manifest where nobody has put one since `before`.
    fn put_manifest(&self, content: &[u8], before: Option<&str>) -> Result<()> {
        let path = format!("{}/{MANIFEST_PATH}", self.trace());
        match self.out.put_when(&path, content, before) {
            PutEnd::Done => Ok(()),
            PutEnd::Refused => Err(self.was_faster()),
            PutEnd::Failed(error) => Err(error),
            PutEnd::Unknown(error) => {
                self.is_kept.store(true, Ordering::Relaxed);
                Err(error.with_hint("the trace may be in its place: verify it, then run again with --if-exists skip"))
            }
        }
    }

    fn was_faster(&self) -> Error {
        Error::new(ErrorKind::Output, "another run has published this trace meanwhile")
            .in_file(self.target())
            .with_hint("verify it; to put this one in its place, run again with --if-exists replace")
    }

    /// Removes objects, until one cannot be removed.
    fn remove_all(&self, paths: impl IntoIterator<Item = String>, stop: &Stop) -> Option<Error> {
        paths
            .into_iter()
            .find_map(|path| self.out.write(("remove", &path), |client, url| client.remove(url, stop)).err())
    }

    /// Removes what was published before, and the plan.
    fn clear(&self, before: Option<String>) -> Vec<String> {
        let mut warnings = Vec::new();
        let replaced = before.filter(|data| *data != self.data).map(|data| joined(&self.trace(), &data));
        let plan = self.plan.as_ref().and_then(|plan| plan.location("").file_name()?.to_str().map(str::to_owned));
        for folder in replaced.into_iter().chain(plan) {
            let listed = self.out.ask(&folder, |client, url| client.list(url, true, self.out.stop()));
            let left = match listed {
                Ok(listed) => self
                    .remove_all(listed.into_iter().map(|object| joined(&folder, &object.path)), self.out.stop())
                    .is_some(),
                Err(_) => true,
            };
            if left {
                let place = self.out.location(&folder);
                warnings
                    .push(format!("{}: not all of it could be removed: etl2parquet clean does it", place.display()));
            }
        }
        warnings
    }
}

impl Output for RemoteOutput {
    fn attempt(&self) -> &str {
        self.local.attempt()
    }

    fn data_folder(&self) -> Option<&str> {
        Some(&self.data)
    }

    fn create(&self, path: &str) -> Result<Box<dyn OutputFile>> {
        self.local.create(path)
    }

    fn read(&self, file: &StagedName, range: Range<u64>) -> Result<Vec<u8>> {
        if file.attempt == self.local.attempt() {
            return self.local.read(file, range);
        }
        let path = self.data_path(&file.path);
        let len = range.end.saturating_sub(range.start);
        let read = || {
            let file = self.out.open(&path)?;
            if range.end > file.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            file.read_exact_at(range.start, &mut bytes).map(|()| bytes)
        };
        read().map_err(|cause| self.out.failed("read", &path, cause))
    }

    fn list(&self) -> Result<Vec<StagedFile>> {
        let mut files = self.local.list()?;
        let there = self.there()?.into_iter();
        files.extend(there.map(|(path, bytes)| StagedFile { path, attempt: None, bytes }));
        files.sort();
        Ok(files)
    }

    /// What others have sent stays: it is what this process would send.
    fn remove(&self, file: &StagedName) -> Result<()> {
        if file.attempt == self.local.attempt() { self.local.remove(file) } else { Ok(()) }
    }

    fn publish(&self, files: &[StagedName], if_exists: IfExists, progress: &dyn Progress) -> Result<Published> {
        let path = format!("{}/{MANIFEST_PATH}", self.trace());
        let before = self.out.facts(&path).map_err(|cause| self.out.failed("read", &path, cause))?;
        if before.is_some() && !if_exists.replaces() {
            return Err(folder::is_there(&self.target()));
        }
        let data_before = self.out.data_of(&self.trace()).map_err(|cause| self.out.failed("read", &path, cause))?;
        self.assemble(files, progress)?;
        let manifest = files.iter().find(|file| file.path == MANIFEST_PATH);
        let manifest = manifest.ok_or_else(|| Error::bug("expected a manifest among the files of a trace"))?;
        let content = self.local.read(manifest, 0..self.own_len(MANIFEST_PATH)?)?;
        stop_if_cancelled(progress)?;
        self.put_manifest(&content, before.as_ref().map(|facts| facts.tag.as_deref().unwrap_or_default()))?;
        self.is_kept.store(true, Ordering::Relaxed);
        let data_before = data_before.filter(|data| !data.is_empty());
        Ok(Published { folder: self.target(), warnings: self.clear(data_before) })
    }
}

impl PlanOutput for RemoteOutput {
    fn files(&self) -> &dyn Store {
        self.plan.as_ref().unwrap_or(&self.out)
    }

    fn vouch_first(&self, path: &str, content: &[u8], progress: &dyn Progress) -> Result<bool> {
        let own = self.local.list()?.into_iter().filter(|file| file.attempt.as_deref() == Some(self.local.attempt()));
        let own: Vec<StagedName> = own.map(|file| self.own(&file.path)).collect();
        // Another process may have sent the same, and names it.
        self.is_kept.store(true, Ordering::Relaxed);
        self.send(&own.iter().collect::<Vec<_>>(), progress)?;
        self.files().put_first(path, &[content])
    }

    fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for RemoteOutput {
    fn drop(&mut self) {
        // Of a plan others may need it.
        if self.plan.is_none() && !self.is_kept.load(Ordering::Relaxed) {
            let sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
            // Whoever has lost the network, or wants to stop, does not wait for long.
            let end = Instant::now() + if self.out.stop().is_asked() { BRIEFLY } else { PATIENTLY };
            let _ = self.remove_all(sent, &Stop::when(move || Instant::now() > end));
        }
    }
}

/// A word that no other call of this process gets.
fn unique() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Refuses an output that no client can write.
///
/// # Errors
/// [`ErrorKind::Usage`].
pub fn check_writable(url: &str) -> Result<()> {
    if matches!(remote::scheme(url), Some("http" | "https")) {
        let message = "expected a folder, or the address of a store that is written to: s3, az or gs";
        let hint = "name the store by its own scheme, with its address in the variables of its client";
        return Err(Error::new(ErrorKind::Usage, message).in_file(remote::shown(url)).with_hint(hint));
    }
    remote::client(url).map(drop)
}
