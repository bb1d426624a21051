//! Requests, for threads that wait for them.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path as LocalPath;
use std::sync::Arc;

use base::remote::{Accept, ListedObject, ObjectFacts, Objects, PutWhen, Stop};
use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, PutResult,
    UpdateVersion, WriteMultipart,
};
use tokio::sync::Semaphore;

use crate::failure::shown;
use crate::stores::Stores;
use crate::waiting::wait;
use crate::web::Web;

/// Requests for blocks that are under way at a time, of all threads.
const READS: usize = 8;

/// Bytes of a part of a large object, of which a store takes 10,000 at most.
const PART: usize = 8 << 20;

/// Parts of one object that are under way at a time.
const PARTS: usize = 2;

/// How often what has broken off is asked for.
const TRIES: usize = 3;

/// Between what names the bytes of an object and what names its version.
const VERSION: char = '\u{1f}';

/// A client of all stores.
#[derive(Debug)]
pub(crate) struct Client {
    stores: Stores,
    web: Web,
    reads: Semaphore,
}

impl Client {
    pub(crate) fn new() -> Client {
        Client { stores: Stores::default(), web: Web::default(), reads: Semaphore::new(READS) }
    }

    /// Waits for an answer, or until it is time to stop.
    fn wait<T>(stop: &Stop, answer: impl Future<Output = object_store::Result<T>>) -> io::Result<T> {
        wait(stop, answer)?.map_err(|error| shown(&error))
    }

    /// Waits for what changes nothing, and asks again where an answer breaks off: what is repeated below has not begun to be answered.
    fn ask<T, A: Future<Output = object_store::Result<T>>>(stop: &Stop, ask: impl Fn() -> A) -> io::Result<T> {
        Self::again(stop, || Self::wait(stop, ask()))
    }

    /// Does what changes nothing again where an answer breaks off.
    fn again<T>(stop: &Stop, ask: impl Fn() -> io::Result<T>) -> io::Result<T> {
        for _ in 1..TRIES {
            match ask() {
                Err(cause) if cause.kind() == io::ErrorKind::ConnectionAborted && !stop.is_asked() => {}
                answer => return answer,
            }
        }
        ask()
    }

    /// Writes an object into a file, as it comes.
    fn download(store: &dyn ObjectStore, path: &Path, file: &LocalPath, most: u64, stop: &Stop) -> io::Result<u64> {
        let answer = Self::wait(stop, async { store.get(path).await })?;
        let mut written: u64 = 0;
        let (mut file, expected) = (File::create(file)?, answer.meta.size);
        let mut parts = answer.into_stream();
        while let Some(part) = Self::wait(stop, parts.try_next())? {
            written = written.saturating_add(part.len() as u64);
            if expected.max(written) > most {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            file.write_all(&part)?;
        }
        if written != expected {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the answer has broken off"));
        }
        Ok(written)
    }

    fn object(&self, url: &str) -> io::Result<(Arc<dyn ObjectStore>, Path)> {
        self.stores.of(url)
    }

    async fn range(
        &self,
        store: &dyn ObjectStore,
        path: &Path,
        range: &Range<u64>,
        facts: &ObjectFacts,
    ) -> object_store::Result<Vec<u8>> {
        // The semaphore is never closed.
        let _turn = self.reads.acquire().await;
        let (tag, version) = parts_of(facts.tag.as_deref().unwrap_or_default());
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: tag,
            version,
            ..GetOptions::default()
        };
        // The bytes that came, not a copy of them.
        Ok(store.get_opts(path, options).await?.bytes().await?.into())
    }
}

impl Objects for Client {
    fn head(&self, url: &str, stop: &Stop) -> io::Result<ObjectFacts> {
        let (store, path) = self.object(url)?;
        if path.as_ref().is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Self::wait(stop, async { store.head(&path).await.map(|meta| facts_of(&meta)) })
    }

    fn read(&self, url: &str, ranges: &[Range<u64>], facts: &ObjectFacts, stop: &Stop) -> io::Result<Vec<Vec<u8>>> {
        let (store, path) = self.object(url)?;
        Self::ask(stop, || try_join_all(ranges.iter().map(|range| self.range(&*store, &path, range, facts))))
    }

    fn list(&self, url: &str, deep: bool, stop: &Stop) -> io::Result<Vec<ListedObject>> {
        let (store, folder) = self.object(url)?;
        let below = |path: &Path| {
            let rest = path.as_ref().strip_prefix(folder.as_ref())?;
            Some(rest.trim_start_matches('/').to_owned()).filter(|rest| !rest.is_empty())
        };
        let listed =
            |meta: &ObjectMeta| Some(ListedObject { path: below(&meta.location)?, facts: Some(facts_of(meta)) });
        let prefix = (!folder.as_ref().is_empty()).then_some(&folder);
        if deep {
            let all = || async { store.list(prefix).try_collect::<Vec<ObjectMeta>>().await };
            return Ok(Self::ask(stop, all)?.iter().filter_map(listed).collect());
        }
        let found = Self::ask(stop, || async { store.list_with_delimiter(prefix).await })?;
        let folders =
            found.common_prefixes.iter().filter_map(|path| Some(ListedObject { path: below(path)?, facts: None }));
        Ok(found.objects.iter().filter_map(listed).chain(folders).collect())
    }

    fn put(&self, url: &str, content: &[u8], when: PutWhen<'_>, stop: &Stop) -> io::Result<Option<String>> {
        let (store, path) = self.object(url)?;
        let mode = match when {
            PutWhen::Always => PutMode::Overwrite,
            PutWhen::Absent => PutMode::Create,
            PutWhen::Is(tag) => {
                let (e_tag, version) = parts_of(tag);
                PutMode::Update(UpdateVersion { e_tag, version })
            }
        };
        let payload = PutPayload::from_bytes(Bytes::copy_from_slice(content));
        let put = async {
            match store.put_opts(&path, payload, PutOptions::from(mode)).await {
                Ok(PutResult { e_tag, version, .. }) => Ok(Some(tag_of(e_tag, version).unwrap_or_default())),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. }) => Ok(None),
                // There is nothing any more that could have the tag.
                Err(Error::NotFound { .. }) if matches!(when, PutWhen::Is(_)) => Ok(None),
                Err(error) => Err(error),
            }
        };
        Self::wait(stop, put)
    }

    fn put_file(&self, url: &str, file: &LocalPath, stop: &Stop) -> io::Result<()> {
        let (store, path) = self.object(url)?;
        let mut file = File::open(file)?;
        let mut first = part(&mut file)?;
        if first.len() < PART {
            let payload = PutPayload::from(std::mem::take(&mut first));
            return Self::wait(stop, async { store.put(&path, payload).await.map(drop) });
        }
        let upload = Self::wait(stop, async { store.put_multipart(&path).await })?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
        loop {
            let sent = Self::wait(stop, async {
                upload.wait_for_capacity(PARTS).await?;
                upload.put(std::mem::take(&mut first).into());
                Ok(())
            });
            let next = sent.and_then(|()| part(&mut file));
            match next {
                Ok(next) if next.is_empty() => break,
                Ok(next) => first = next,
                Err(error) => {
                    // What was sent of it costs until it is given up.
                    let _ = Self::wait(&Stop::default(), upload.abort());
                    return Err(error);
                }
            }
        }
        Self::wait(stop, async { upload.finish().await.map(drop) })
    }

    fn fetch(&self, url: &str, accept: Accept, file: &LocalPath, most: u64, stop: &Stop) -> io::Result<u64> {
        if Web::serves(url) {
            return self.web.fetch(url, accept, file, most, stop);
        }
        let (store, path) = self.stores.of_files(url)?;
        Self::again(stop, || Self::download(&*store, &path, file, most, stop))
    }

    fn remove(&self, url: &str, stop: &Stop) -> io::Result<()> {
        let (store, path) = self.object(url)?;
        match Self::wait(stop, async { store.delete(&path).await }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// The next bytes of a file, as many as a part has; fewer at its end alone.
fn part(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(PART as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn facts_of(meta: &ObjectMeta) -> ObjectFacts {
    let modified = meta.last_modified.timestamp_nanos_opt();
    ObjectFacts { size: meta.size, modified, tag: tag_of(meta.e_tag.clone(), meta.version.clone()) }
}

/// What names the bytes of an object, and its version, where the store has versions, as one text.
fn tag_of(e_tag: Option<String>, version: Option<String>) -> Option<String> {
    match (e_tag, version) {
        (None, None) => None,
        (e_tag, None) => e_tag,
        (e_tag, Some(version)) => Some(format!("{}{VERSION}{version}", e_tag.unwrap_or_default())),
    }
}

fn parts_of(tag: &str) -> (Option<String>, Option<String>) {
    let (e_tag, version) = tag.split_once(VERSION).unwrap_or((tag, ""));
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (some(e_tag), some(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_keeps_what_it_is_made_of() {
        let t = |e_tag: Option<&str>, version: Option<&str>| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let tag = tag_of(owned(e_tag), owned(version));
            assert_eq!(parts_of(tag.as_deref().unwrap_or_default()), (owned(e_tag), owned(version)));
        };
        t(Some("\"abc\""), None);
        t(Some("\"abc\""), Some("17"));
        t(None, Some("17"));
        t(None, None);
    }
}
