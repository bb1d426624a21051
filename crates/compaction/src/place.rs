//! Where a lake is written: a folder of the system, or objects below the address of a store.

use std::path::Path;
use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};
use base::names::short_hash;
use base::progress::{NoProgress, Progress, stop_if_cancelled};
use base::remote;
use columnar::output::folder::CleanupRegistry;
use columnar::output::remote_output::check_writable;
use columnar::output::remote_store::{PutEnd, RemoteStore};
use columnar::output::{LocalFolder, Output, Store, store_at};
use published::lake_manifest::{LAKE_PATH, LakeManifest};

use super::folder::unnamed;
use super::table::StagedFile;

/// What the staging folder of a lake is called.
const STAGING: &str = "lake";

/// A lake that files are added to.
pub(crate) struct LakePlace {
    /// What is there of it.
    pub(crate) store: Arc<dyn Store>,
    /// Where its new files lie until they have their names.
    pub(crate) staging: Arc<LocalFolder>,
    /// The store, where it lies in one, with the tag of the manifest that was there.
    remote: Option<(RemoteStore, Option<String>)>,
}

impl LakePlace {
    /// Begins to change a lake.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when another run of this system is at work on it, or nothing can be written; [`ErrorKind::Usage`] for an
    /// address that cannot be written to.
    pub(crate) fn begin(lake: &Path, cleanup: &CleanupRegistry, progress: &dyn Progress) -> Result<LakePlace> {
        let store = store_at(lake);
        let Some(url) = remote::url_of(lake) else {
            let staging = Arc::new(LocalFolder::create_in(cleanup, lake, STAGING)?);
            return Ok(LakePlace { store, staging, remote: None });
        };
        check_writable(&url)?;
        let name = format!("{STAGING}-{}", short_hash(&url));
        let staging = Arc::new(LocalFolder::create_in(cleanup, &std::env::temp_dir(), &name)?);
        let remote = RemoteStore::new(&url).with_stop(progress.stop());
        let tag = remote.tag(LAKE_PATH)?;
        Ok(LakePlace { store, staging, remote: Some((remote, tag)) })
    }

    /// Gives files their names, and then the lake its manifest.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when something cannot be written, or another run has changed the lake meanwhile;
    /// [`ErrorKind::Interrupted`] when the caller asked to stop. Then the lake is as it was.
    pub(crate) fn publish(
        &self,
        written: &[StagedFile],
        manifest: &LakeManifest,
        progress: &dyn Progress,
    ) -> Result<()> {
        let text = manifest.to_json()?;
        let Some((remote, tag)) = &self.remote else {
            let named = written.iter().map(|staged| (staged.staged.clone(), staged.file.path.clone()));
            self.staging.place(&named.collect::<Vec<_>>(), progress)?;
            self.staging.write(LAKE_PATH, text.as_bytes())?;
            return self.staging.place(&[(LAKE_PATH.to_owned(), LAKE_PATH.to_owned())], &NoProgress);
        };
        for staged in written {
            stop_if_cancelled(progress)?;
            remote.send(&staged.file.path, &self.staging.locate(&staged.staged)?)?;
        }
        match remote.put_when(LAKE_PATH, text.as_bytes(), tag.as_deref()) {
            PutEnd::Done => Ok(()),
            PutEnd::Unknown(error) | PutEnd::Failed(error) => Err(error),
            PutEnd::Refused => Err(Error::new(ErrorKind::Output, "another run has changed the lake meanwhile")
                .in_file(self.store.location(LAKE_PATH))
                .with_hint("run again: it adds what is missing")),
        }
    }

    /// Files of the lake that are none any more: in a folder all that no manifest names, as nobody else is at work on it; in a store
    /// those that the manifest before has named.
    pub(crate) fn superfluous(&self, before: Option<&LakeManifest>, now: &LakeManifest) -> Vec<String> {
        if self.remote.is_none() {
            return unnamed(&*self.store, now);
        }
        let is_named = |path: &str| now.files.iter().any(|file| file.path == path);
        let before = before.into_iter().flat_map(|before| &before.files);
        before.map(|file| file.path.clone()).filter(|path| !is_named(path)).collect()
    }
}
