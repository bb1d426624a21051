//! Files with descriptions of payloads: found below folders, distinguished by what they hold, read one at a time.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorCode, ErrorKind, Result};
use base::guid::Guid;
use base::listing::entries;
use base::readable::count::Count;
use etl::input::container::Format;
use etl::input::regular;

use super::archive;
use super::facts::{Facts, is_facts};
use super::manifest::Manifest;
use super::model::SchemaError;
use super::mof::{self, Mof};
use super::tmf::Tmf;
use super::wevt::{self, Binary, Extract};
use super::{symbol_file, text};

/// Larger files are no formats of messages; those of all messages of Windows take less.
const MAX_BYTES: u64 = 256 << 20;
/// How much of a file shows what it is.
const HEAD_BYTES: u64 = 64 << 10;

/// A schema file, read.
#[derive(Clone, Debug)]
pub struct SchemaFile {
    /// Its name; of a file in a folder, its path below that folder, with `/`.
    pub name: String,
    /// The file as it is; of a binary its [`Extract`], of a PDB its messages as the text of a TMF file.
    pub bytes: Vec<u8>,
    /// What it declares.
    pub content: SchemaContent,
}

/// What a schema file declares.
#[derive(Clone, Debug)]
pub enum SchemaContent {
    /// The providers of an instrumentation manifest.
    Manifest(Manifest),
    /// The WPP messages of a TMF file or a PDB.
    Messages(Tmf),
    /// The providers of a binary, as a manifest.
    Binary(Manifest),
    /// The classes of classic events of a MOF file.
    Classes(Mof),
    /// What a document of `schema export` has.
    Facts(Facts),
}

/// Something of the user's files that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkippedSchema {
    /// A declaration; the rest of its file stands.
    Rejected {
        /// The file, as the user can find it.
        file: String,
        /// Line and reason.
        fault: SchemaError,
    },
    /// A whole file that was met in a folder.
    Skipped {
        /// The file, as the user can find it.
        file: String,
        /// Why.
        reason: String,
    },
    /// Binaries that declare no events, in a folder or an archive.
    WithoutEvents {
        /// The folder or the archive.
        folder: String,
        /// How many there are.
        count: u64,
    },
}

impl fmt::Display for SkippedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkippedSchema::Rejected { file, fault } => write!(f, "{file}, {fault}"),
            SkippedSchema::Skipped { file, reason } => write!(f, "{file}: left out: {reason}"),
            SkippedSchema::WithoutEvents { folder, count: 1 } => write!(f, "{folder}: 1 binary declares no events"),
            SkippedSchema::WithoutEvents { folder, count } => {
                write!(f, "{folder}: {} binaries declare no events", Count(*count))
            }
        }
    }
}

impl SchemaFile {
    /// Reads what the bytes of a file declare, with the messages of a manifest in a language (`de-DE`) where it has them,
    /// else in American English, else in the first that it has.
    ///
    /// # Errors
    /// The reason why this is no schema.
    pub fn parse(name: &str, bytes: Vec<u8>, language: Option<&str>) -> Result<SchemaFile, String> {
        let content = match kind(&bytes).ok_or(NO_SCHEMA)? {
            FileType::Manifest => {
                let manifest = Manifest::parse(&bytes, language).map_err(|fault| fault.to_string())?;
                if manifest.providers.is_empty() {
                    let reason = manifest.rejected.first().map(ToString::to_string);
                    return Err(reason.unwrap_or_else(|| NO_SCHEMA.to_owned()));
                }
                SchemaContent::Manifest(manifest)
            }
            FileType::Messages => SchemaContent::Messages(Tmf::parse(&bytes)),
            FileType::Binary => {
                let extract = Binary::of_bytes(name, bytes)?.extract()?;
                return SchemaFile::parse(name, extract, language);
            }
            FileType::Extract => SchemaContent::Binary(wevt::parse(&bytes).map_err(|fault| fault.to_string())?),
            FileType::Mof => {
                let mof = Mof::parse(&bytes);
                if mof.classes.is_empty() {
                    let reason = mof.rejected.first().map(ToString::to_string);
                    return Err(reason.unwrap_or_else(|| NO_EVENTS.to_owned()));
                }
                SchemaContent::Classes(mof)
            }
            FileType::Pdb => return SchemaFile::parse(name, symbol_file::parse(name, bytes)?, language),
            FileType::Facts => {
                let facts = Facts::parse(&bytes).map_err(|fault| fault.to_string())?;
                if facts.is_empty() {
                    let reason = facts.rejected.first().map(ToString::to_string);
                    return Err(reason.unwrap_or_else(|| "expected providers in this document, found none".to_owned()));
                }
                SchemaContent::Facts(facts)
            }
        };
        Ok(SchemaFile { name: name.to_owned(), bytes, content })
    }

    /// What was rejected, by line.
    pub fn faults(&self) -> &[SchemaError] {
        match &self.content {
            SchemaContent::Manifest(manifest) | SchemaContent::Binary(manifest) => &manifest.rejected,
            SchemaContent::Messages(tmf) => &tmf.rejected,
            SchemaContent::Classes(mof) => &mof.rejected,
            SchemaContent::Facts(facts) => &facts.rejected,
        }
    }

    /// The BLAKE3 hash of the file, in hexadecimal.
    pub fn hash(&self) -> String {
        blake3::hash(&self.bytes).to_hex().to_string()
    }
}

const NO_SCHEMA: &str =
    "expected an instrumentation manifest (XML), a TMF file, MOF, a PDB or a binary, found none of them";
const NO_EVENTS: &str = "expected classes of events (EventType) in MOF, found none";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileType {
    Manifest,
    Messages,
    Mof,
    Pdb,
    Facts,
    /// A program of Windows.
    Binary,
    /// What is kept of one.
    Extract,
}

impl FileType {
    /// What it is called, and how many bytes of it are read.
    fn limit(self) -> (&'static str, u64) {
        match self {
            FileType::Manifest => ("an instrumentation manifest", Manifest::MAX_BYTES as u64),
            FileType::Messages => ("a TMF file", MAX_BYTES),
            FileType::Mof => ("MOF", Mof::MAX_BYTES as u64),
            FileType::Facts => ("a document of schema export", Facts::MAX_BYTES as u64),
            // They are read by position: no more of them than has to be, however large they are.
            FileType::Pdb => ("a PDB", u64::MAX),
            FileType::Binary => ("a binary", u64::MAX),
            FileType::Extract => ("the resources of a binary", Extract::MAX_BYTES as u64),
        }
    }
}

/// What a file is by its beginning, whatever its name says.
fn kind(head: &[u8]) -> Option<FileType> {
    if head.starts_with(Binary::SIGN) {
        return Some(FileType::Binary);
    }
    if Extract::is_start_of(head) {
        return Some(FileType::Extract);
    }
    if symbol_file::is_symbol_file(head) {
        return Some(FileType::Pdb);
    }
    let limit = usize::try_from(HEAD_BYTES).unwrap_or(usize::MAX).min(head.len());
    let text = text::decode(head.get(..limit)?);
    if text.trim_start().starts_with('<') {
        return Some(FileType::Manifest);
    }
    if is_facts(&text) {
        return Some(FileType::Facts);
    }
    let is_tmf = |line: &str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        matches!(word, "#typev" | "#type") || word.parse::<Guid>().is_ok()
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    if lines.next().is_some_and(is_tmf) {
        return Some(FileType::Messages);
    }
    mof::is_mof(&text).then_some(FileType::Mof)
}

/// Reads the schema files among `paths` (files, and folders with all below them) in order and hands each to `take`.
/// Files of a folder come in the order of their names. `language` is that of messages, as for [`SchemaFile::parse`].
///
/// # Errors
/// [`ErrorKind::Usage`] when a path leads nowhere or cannot be read, when a file named by its path is no schema, and
/// when there is none in a folder; and what `take` returns. What is in a folder and is no schema, or cannot be read, is
/// returned.
pub fn each(
    paths: &[PathBuf],
    language: Option<&str>,
    mut take: impl FnMut(SchemaFile) -> Result<()>,
) -> Result<Vec<SkippedSchema>> {
    let mut skipped = Vec::new();
    for path in paths {
        if !path.is_dir() {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            if let Some(format) = archive_format(path) {
                each_member((path, format), language, &mut skipped, &mut take)?;
                continue;
            }
            let file = read(path, &name, language).map_err(|cause| unreadable(path, cause))?;
            let file = file.map_err(|reason| {
                Error::new(ErrorKind::Usage, reason).with_code(ErrorCode::UnusableSchema).in_file(path)
            })?;
            skipped.extend(rejected(&file, path));
            take(file)?;
            continue;
        }
        let files = files_below(path, &mut skipped)?;
        let before = skipped.len();
        let count = each_found(&files, language, &mut skipped, &mut take)?;
        fold_binaries(path, &mut skipped, before);
        if count == 0 {
            return Err(Error::new(ErrorKind::Usage, "there is no schema file in this folder")
                .with_code(ErrorCode::UnusableSchema)
                .in_file(path));
        }
    }
    Ok(skipped)
}

/// Reads schema files that were found, by name and path, and hands each to `take`; returns how many there are. What is none, or
/// cannot be read, is skipped.
///
/// # Errors
/// What `take` returns.
pub fn each_found<E>(
    files: &[(String, PathBuf)],
    language: Option<&str>,
    skipped: &mut Vec<SkippedSchema>,
    mut take: impl FnMut(SchemaFile) -> Result<(), E>,
) -> Result<usize, E> {
    let mut count = 0;
    for (name, path) in files {
        match read(path, name, language).unwrap_or_else(|cause| Err(format!("it cannot be read: {cause}"))) {
            Err(reason) => skipped.push(SkippedSchema::Skipped { file: path.display().to_string(), reason }),
            Ok(file) => {
                skipped.extend(rejected(&file, path));
                take(file)?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Reads the schema files in an archive, in the order of their names, and hands each to `take`.
fn each_member(
    (path, format): (&Path, Format),
    language: Option<&str>,
    skipped: &mut Vec<SkippedSchema>,
    mut take: impl FnMut(SchemaFile) -> Result<()>,
) -> Result<()> {
    let unusable = |error: Error| error.with_code(ErrorCode::UnusableSchema);
    let members = archive::members(path, format, |head| kind(head).map(|kind| kind.limit().1)).map_err(unusable)?;
    let mut left_out = members.unusable;
    let mut count = 0;
    for (name, bytes) in members.files {
        match SchemaFile::parse(&name, bytes, language) {
            Err(reason) => left_out.push((name, reason)),
            Ok(file) => {
                skipped.extend(rejected(&file, &path.join(&name)));
                take(file)?;
                count += 1;
            }
        }
    }
    let of_member = |(name, reason): (String, String)| SkippedSchema::Skipped {
        file: path.join(name).display().to_string(),
        reason,
    };
    skipped.extend(left_out.into_iter().map(of_member));
    if members.without_events > 0 {
        let (folder, count) = (path.display().to_string(), members.without_events);
        skipped.push(SkippedSchema::WithoutEvents { folder, count });
    }
    if count > 0 {
        return Ok(());
    }
    Err(unusable(Error::new(ErrorKind::Usage, "there is no schema file in this archive").in_file(path)))
}

/// Makes one of all binaries below a folder that were skipped because they declare no events.
fn fold_binaries(folder: &Path, skipped: &mut Vec<SkippedSchema>, from: usize) {
    let found = skipped.split_off(from);
    let is_without =
        |one: &SkippedSchema| matches!(one, SkippedSchema::Skipped { reason, .. } if reason == wevt::WITHOUT_EVENTS);
    let (without, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_without);
    skipped.extend(others);
    if !without.is_empty() {
        let (folder, count) = (folder.display().to_string(), without.len() as u64);
        skipped.push(SkippedSchema::WithoutEvents { folder, count });
    }
}

/// The format of the archive that a file is, if it is one and can be read.
fn archive_format(path: &Path) -> Option<Format> {
    let mut head = Vec::new();
    let file = regular::open(path).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
    file.take(Format::SIGN as u64).read_to_end(&mut head).ok()?;
    archive::format(&head)
}

/// What is rejected of a file.
fn rejected(file: &SchemaFile, path: &Path) -> impl Iterator<Item = SkippedSchema> {
    let path = path.display().to_string();
    file.faults().iter().map(move |fault| SkippedSchema::Rejected { file: path.clone(), fault: fault.clone() })
}

/// Reads a file; the inner error is the reason why it is no schema. A large file that is none costs one small read.
fn read(path: &Path, name: &str, language: Option<&str>) -> std::io::Result<Result<SchemaFile, String>> {
    let mut file = regular::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err(format!("expected a schema file, found {}: save it to a file first", regular::kind(&metadata))));
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(Binary::SIGN.len() as u64).read_to_end(&mut bytes)?;
    if bytes.starts_with(Binary::SIGN) {
        let extract = Binary::open(path).and_then(|binary| binary.extract());
        return Ok(extract.and_then(|extract| SchemaFile::parse(name, extract, language)));
    }
    Read::by_ref(&mut file).take(HEAD_BYTES).read_to_end(&mut bytes)?;
    let Some(file_type) = kind(&bytes) else { return Ok(Err(NO_SCHEMA.to_owned())) };
    if file_type == FileType::Pdb {
        return Ok(symbol_file::read(path).and_then(|text| SchemaFile::parse(name, text, language)));
    }
    let (what, limit) = file_type.limit();
    if metadata.len() > limit {
        return Ok(Err(format!("expected {what} of at most {limit} bytes, found {}", metadata.len())));
    }
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(SchemaFile::parse(name, bytes, language))
}

/// All files below a folder with their paths relative to it, in the order of those. Links to folders are not followed,
/// so the walk ends. A folder further down that cannot be read is skipped.
fn files_below(root: &Path, skipped: &mut Vec<SkippedSchema>) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    let mut folders = vec![(String::new(), root.to_owned())];
    while let Some((prefix, folder)) = folders.pop() {
        match list(&folder, &prefix, &mut folders, &mut files) {
            Err(cause) if folder == root => return Err(unreadable(&folder, cause)),
            Err(cause) => {
                let reason = format!("it cannot be read: {cause}");
                skipped.push(SkippedSchema::Skipped { file: folder.display().to_string(), reason });
            }
            Ok(()) => {}
        }
    }
    files.sort();
    Ok(files)
}

/// Adds what is in a folder to the folders and files found.
fn list(
    folder: &Path,
    prefix: &str,
    folders: &mut Vec<(String, PathBuf)>,
    files: &mut Vec<(String, PathBuf)>,
) -> std::io::Result<()> {
    for entry in entries(folder)? {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type()? {
            kind if kind.is_dir() => folders.push((format!("{name}/"), entry.path())),
            _ if entry.path().is_file() => files.push((name, entry.path())),
            _ => {}
        }
    }
    Ok(())
}

fn unreadable(path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Usage, "the schemas cannot be read")
        .with_code(ErrorCode::UnusableSchema)
        .in_file(path)
        .caused_by(cause)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    pub(crate) const MANIFEST: &str = r#"<instrumentationManifest><instrumentation><events>
<provider name="Lab" guid="{11111111-2222-3333-4444-555555555555}">
<events><event value="1" template="Missing"/><event value="2"/></events>
</provider></events></instrumentation></instrumentationManifest>"#;
    const TMF: &str = "// PDB: a.pdb\n01e9b841-7d67-315a-7b92-23b2033356de Lab // SRC=Main.c MJ= MN=\n\
                       #typev Main_c1 10 \"%0hello\" // LEVEL=X\n{\n}\n";

    #[test]
    fn content_records_what_a_file_is() {
        let utf16: Vec<u8> =
            [b"\xff\xfe".to_vec(), MANIFEST.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
        for (bytes, expected) in [
            (MANIFEST.as_bytes(), Some(FileType::Manifest)),
            (b"\xef\xbb\xbf \r\n<?xml version=\"1.0\"?>", Some(FileType::Manifest)),
            (&utf16, Some(FileType::Manifest)),
            (TMF.as_bytes(), Some(FileType::Messages)),
            (b"#typev Main_c1 10 \"\"", Some(FileType::Messages)),
            (b"", None),
            (b"// Lab\n#pragma autorecover\n[Dynamic]", Some(FileType::Mof)),
            (b"/* Lab */ [Dynamic : ToSubclass, Guid(\"{1}\")]\nclass Lab : EventTrace {", Some(FileType::Mof)),
            (b"[section]\nclass=1", None),
            (b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", Some(FileType::Pdb)),
            (b"Microsoft C/C++ MSF 7.00\r\n", None),
            (b"Microsoft MSFZ Container\r\n\x1aALD\0\0", Some(FileType::Pdb)),
            (b"# Notes\n#typev", None),
            (b"\0\0\x01\0", None),
        ] {
            assert_eq!(kind(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_file_without_declarations_is_no_schema() {
        let reason = |text: &str| SchemaFile::parse("a", text.as_bytes().to_vec(), None).unwrap_err();
        assert_eq!(reason("{}"), NO_SCHEMA);
        assert_eq!(reason("<html/>"), "line 1: expected a <provider>, found none");
        assert!(reason("<a>\n<b></a>").starts_with("line 2: "), "{}", reason("<a>\n<b></a>"));
    }

    #[test]
    fn folders_are_searched_in_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        for (name, text) in [("b.txt", TMF), ("sub/a.man", MANIFEST), ("a.md", "notes"), ("0.man", "<x/>")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut names = Vec::new();
        let mut take = |file: SchemaFile| {
            names.push(file.name);
            Ok(())
        };
        let skipped = each(&[folder.path().to_owned(), folder.path().join("sub/a.man")], None, &mut take).unwrap();
        assert_eq!(names, ["b.txt", "sub/a.man", "a.man"]);
        let root = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
        let shown: Vec<_> = skipped.iter().map(|one| one.to_string().replace(&root, "").replace('\\', "/")).collect();
        let rejected = "sub/a.man, line 3: expected template \"Missing\" of event 1, found none";
        assert_eq!(
            shown,
            [
                "0.man: left out: line 1: expected a <provider>, found none",
                &format!("a.md: left out: {NO_SCHEMA}"),
                rejected,
                rejected,
            ]
        );
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.man");
        for (head, limit, what) in [(MANIFEST, 64 << 20, "an instrumentation manifest"), (TMF, MAX_BYTES, "a TMF file")]
        {
            fs::write(&path, head).unwrap();
            // A file with a hole takes no room.
            fs::File::options().write(true).open(&path).unwrap().set_len(limit + 1).unwrap();
            let error = each(std::slice::from_ref(&path), None, |_| Ok(())).unwrap_err();
            let expected = format!("expected {what} of at most {limit} bytes, found {}", limit + 1);
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }

    #[test]
    fn what_is_named_must_be_a_schema() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.man"), "hello").unwrap();
        for (name, expected) in [
            ("a.man", NO_SCHEMA),
            ("", "there is no schema file in this folder"),
            ("b.man", "the schemas cannot be read"),
        ] {
            let error = each(&[folder.path().join(name)], None, |_| Ok(())).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{name}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_no_schema_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.man");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let error = each(&[pipe], None, |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("expected a schema file, found a pipe"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_read_in_a_folder_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("good.man"), MANIFEST).unwrap();
        // A file whose first page is nobody's memory.
        std::os::unix::fs::symlink("/proc/self/mem", folder.path().join("bad.man")).unwrap();
        let mut names = Vec::new();
        let skipped = each(&[folder.path().to_owned()], None, |file| {
            names.push(file.name);
            Ok(())
        });
        assert_eq!(names, ["good.man"]);
        let text: Vec<String> = skipped.unwrap().iter().map(SkippedSchema::to_string).collect();
        assert!(text[0].contains("bad.man: left out: it cannot be read: "), "{text:?}");
    }
}
