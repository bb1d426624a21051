//! The schema store: what a user adds to it, what is in it, what is taken out.

use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use base::guid::Guid;
use base::suggest::nearest;
use schema::conflict::{self, Conflict};
use schema::files::{self, SchemaContent, SchemaFile, SkippedSchema};
use schema::manifest::ProviderSchemas;
use schema::store::{Store, StoredType, is_store};
use serde::Serialize;

use super::schemas::{SHOWN, open_store};
use super::select::Wanted;

/// What came of an import.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// Files that were read.
    pub files: u64,
    /// Providers and classes of classic events that they declare events of.
    pub providers: u64,
    /// Events that they declare.
    pub events: u64,
    /// Messages that they declare.
    pub messages: u64,
    /// Declarations that are not used.
    pub rejected: u64,
    /// Files that the store did not have, or had otherwise.
    pub new: u64,
    /// Files that it has now.
    pub stored: u64,
    /// The folder of the store.
    pub store: PathBuf,
    /// What was not taken, and why.
    pub skipped: Vec<String>,
    /// Where files describe a provider otherwise than the built-in schemas, and which is used.
    pub conflicts: Vec<Conflict>,
    /// Names of files that the store has several contents of.
    pub same_name: Vec<String>,
}

/// Copies schema files into the schema store: that in the folder that is named, or where the system has a place for it. A folder that
/// is a store itself gives its files with the names that they have there.
///
/// # Errors
/// [`ErrorKind::Usage`] when a path leads nowhere, when a file named by its path is no schema, and when there is no store.
pub fn import(paths: &[PathBuf], store: Option<&Path>) -> Result<Imported> {
    import_with(paths, Vec::new(), store)
}

/// Like [`import`], with files that are read already.
///
/// # Errors
/// Those of [`import`].
pub fn import_with(paths: &[PathBuf], mut read: Vec<SchemaFile>, store: Option<&Path>) -> Result<Imported> {
    let mut store = open_store(store)?;
    let mut skipped = Vec::new();
    for path in paths {
        if is_store(path) {
            read.extend(Store::open(path)?.contents()?.into_iter().map(|(_, file)| file));
            continue;
        }
        skipped.extend(files::each(std::slice::from_ref(path), None, |file| {
            read.push(file);
            Ok(())
        })?);
    }
    let new = store.import(&read)?;
    let rejected = skipped.iter().filter(|file| matches!(file, SkippedSchema::Rejected { .. })).count();
    let contents: Vec<Contents> = read.iter().map(Contents::of).collect();
    let differs = |file| providers(file).filter_map(|own| conflict::with_pack(own, &file.name));
    Ok(Imported {
        files: read.len() as u64,
        providers: contents.iter().map(|own| own.described).sum(),
        events: contents.iter().map(|own| own.events).sum(),
        messages: contents.iter().map(|own| own.messages).sum(),
        rejected: rejected as u64,
        new: new as u64,
        stored: store.files().len() as u64,
        store: store.folder().to_owned(),
        skipped: said(&skipped),
        conflicts: read.iter().flat_map(differs).collect(),
        same_name: same_name(&store, &read),
    })
}

/// What is said of what was not taken: every declaration, and of files that are no schemas the first few and how many more, because
/// a folder can be a disk.
fn said(skipped: &[SkippedSchema]) -> Vec<String> {
    let mut left_out = 0;
    let mut texts = Vec::new();
    for one in skipped {
        left_out += usize::from(matches!(one, SkippedSchema::Skipped { .. }));
        if !matches!(one, SkippedSchema::Skipped { .. }) || left_out <= SHOWN {
            texts.push(one.to_string());
        }
    }
    if left_out > SHOWN {
        texts.push(format!("{} more files are left out", left_out - SHOWN));
    }
    texts
}

/// The names of files that were read of which the store has others, too.
fn same_name(store: &Store, read: &[SchemaFile]) -> Vec<String> {
    let several = |name: &str| store.files().iter().filter(|stored| stored.origin == name).count() > 1;
    let mut names: Vec<String> = read.iter().map(|file| file.name.clone()).filter(|name| several(name)).collect();
    names.sort();
    names.dedup();
    names
}

/// The providers whose events a file declares by their ids.
fn providers(file: &SchemaFile) -> impl Iterator<Item = &ProviderSchemas> {
    let own = match &file.content {
        SchemaContent::Manifest(manifest) | SchemaContent::Binary(manifest) => &manifest.providers[..],
        SchemaContent::Facts(facts) => &facts.providers,
        SchemaContent::Messages(_) | SchemaContent::Classes(_) => &[],
    };
    own.iter()
}

/// What a file declares.
#[derive(Debug, Default)]
struct Contents {
    providers: Vec<ProviderName>,
    /// Providers and classes with events.
    described: u64,
    events: u64,
    messages: u64,
}

/// A provider, class or group of messages of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ProviderName {
    /// The name; empty where there is none.
    pub name: String,
    /// The identity.
    pub guid: Guid,
}

impl Contents {
    fn of(file: &SchemaFile) -> Contents {
        let mut own = Contents::default();
        let messages = match &file.content {
            SchemaContent::Messages(tmf) => &tmf.messages[..],
            SchemaContent::Facts(facts) => &facts.messages,
            SchemaContent::Manifest(_) | SchemaContent::Binary(_) | SchemaContent::Classes(_) => &[],
        };
        let classes = match &file.content {
            SchemaContent::Facts(facts) => &facts.classes[..],
            SchemaContent::Classes(mof) => &mof.classes,
            SchemaContent::Manifest(_) | SchemaContent::Binary(_) | SchemaContent::Messages(_) => &[],
        };
        for schemas in providers(file).chain(classes) {
            own.providers.push(ProviderName { name: schemas.name.clone(), guid: schemas.guid });
            own.described += 1;
            own.events += schemas.events.len() as u64;
        }
        own.messages = messages.len() as u64;
        let group = |message: &schema::wpp::MessageFormat| ProviderName {
            name: message.origin.provider.to_string(),
            guid: message.guid,
        };
        own.providers.extend(messages.iter().map(group));
        own.providers.sort();
        own.providers.dedup();
        own
    }
}

/// The files of a schema store.
#[derive(Debug, Serialize)]
pub struct ImportList {
    format: u32,
    /// The folder of the store.
    pub store: PathBuf,
    /// The files, the first of which ranks highest.
    pub files: Vec<ImportedFile>,
}

/// A file of a schema store.
#[derive(Debug, Serialize)]
pub struct ImportedFile {
    /// What it was called.
    pub origin: String,
    /// `manifest`, `tmf`, `mof`, `wevt` (the resources of a binary) or `facts`.
    pub kind: StoredType,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
    /// What it declares events or messages of, by name and GUID.
    pub providers: Vec<ProviderName>,
    /// Events that it declares.
    pub events: u64,
    /// Messages that it declares.
    pub messages: u64,
    /// Declarations of it that are not used.
    pub rejected: u64,
}

/// The files of the schema store.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is no place for a store, or it is damaged.
pub fn imports(store: Option<&Path>) -> Result<ImportList> {
    let store = open_store(store)?;
    let files = store.contents()?.into_iter().map(|(stored, file)| {
        let Contents { providers, events, messages, .. } = Contents::of(&file);
        ImportedFile {
            origin: stored.origin,
            kind: stored.kind,
            blake3: stored.blake3,
            providers,
            events,
            messages,
            rejected: stored.rejected as u64,
        }
    });
    Ok(ImportList { format: 1, store: store.folder().to_owned(), files: files.collect() })
}

/// What came of a removal.
#[derive(Debug, Serialize)]
pub struct Removed {
    /// The names of the files that were taken out.
    pub removed: Vec<String>,
    /// Files that the store has now.
    pub stored: u64,
    /// The folder of the store.
    pub store: PathBuf,
}

/// Takes files out of the schema store by their names, or by patterns of them.
///
/// # Errors
/// [`ErrorKind::Usage`] when a name or pattern means no file; then all stay.
pub fn remove(origins: &[String], store: Option<&Path>) -> Result<Removed> {
    let mut store = open_store(store)?;
    let wanted = origins.iter().map(|text| Wanted::parse(text)).collect::<Result<Vec<_>>>()?;
    let is_meant = |wanted: &Wanted, origin: &str| wanted.matches(origin, Guid::default());
    for (wanted, text) in wanted.iter().zip(origins) {
        if !store.files().iter().any(|stored| is_meant(wanted, &stored.origin)) {
            return Err(no_import(text, &store));
        }
    }
    let removed = store.remove(|origin| wanted.iter().any(|wanted| is_meant(wanted, origin)))?;
    Ok(Removed {
        removed: removed.into_iter().map(|stored| stored.origin).collect(),
        stored: store.files().len() as u64,
        store: store.folder().to_owned(),
    })
}

fn no_import(text: &str, store: &Store) -> Error {
    let near = nearest(text, store.files().iter().map(|stored| stored.origin.as_str()));
    let hint = match near {
        Some(near) => format!("did you mean {near}? `etl2parquet schema imports` lists all"),
        None if store.files().is_empty() => "the store is empty".to_owned(),
        None => "`etl2parquet schema imports` lists what there is".to_owned(),
    };
    let message = format!("nothing in the schema store is called {text}");
    Error::new(ErrorKind::Usage, message).in_file(store.folder()).with_hint(hint)
}
