//! Where symbols are looked for.

use std::path::{Path, PathBuf};

use super::archive::ZipFile;
use super::binary::Binary;
use super::candidate::Candidate;
use super::folder::Folder;
use crate::found::{Found, Readable};
use crate::identity::{BinaryId, Module, PdbId, file_name};
use crate::pdb::Pdb;

/// Where symbols are looked for, in the order in which it is done; nothing is ever asked of a server.
///
/// ```
/// use symbols::SymbolPath;
/// let path = SymbolPath::parse("here;srv*cache*https://example.com/symbols;trace.etl.zip", 256 << 20);
/// assert_eq!(path.servers(), ["https://example.com/symbols"]);
/// let id = symbols::PdbId { guid: "446150ee-e021-4809-99c4-bce7828e1528".parse()?, age: 1 };
/// assert_eq!(path.open("attach.pdb", id).word(), "not_found");
/// # Ok::<(), base::guid::ParseGuidError>(())
/// ```
#[derive(Debug)]
pub struct SymbolPath {
    elements: Vec<Element>,
    servers: Vec<String>,
    limit: u64,
}

#[derive(Debug)]
enum Element {
    Folder(Folder),
    Zip(ZipFile),
}

impl SymbolPath {
    /// A path as debuggers take it: elements with `;` between them, each a folder, a zip archive with symbols in it, or
    /// `srv*A*B`, `symsrv*dll*A*B` or `cache*A` of folders and servers. Of a PDB at most `limit` bytes are in memory at a time.
    pub fn parse(text: &str, limit: u64) -> SymbolPath {
        let mut path = SymbolPath { elements: Vec::new(), servers: Vec::new(), limit };
        for element in text.split(';').map(str::trim) {
            let mut parts = element.split('*');
            let word = parts.next().unwrap_or_default().to_ascii_lowercase();
            match word.as_str() {
                "srv" | "cache" if element.contains('*') => {}
                // What stands next is the library that asks the server.
                "symsrv" if element.contains('*') => drop(parts.next()),
                _ => parts = element.split('*'),
            }
            parts.for_each(|part| path.add(part.trim()));
        }
        path
    }

    fn add(&mut self, part: &str) {
        let is_server = ["http://", "https://"]
            .iter()
            .any(|scheme| part.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        if is_server {
            if !self.servers.iter().any(|server| server == part) {
                self.servers.push(part.to_owned());
            }
        } else if !part.is_empty() {
            self.elements.push(element(PathBuf::from(part)));
        }
    }

    /// The servers that the path names, each once: who wants to ask them has to do so.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// The name and the identity of the PDB of a module: those that the trace has, else those in the binary of its time stamp and
    /// size, of which the headers and the record of the PDB are read.
    pub fn identify(&self, module: &Module) -> Found<(String, PdbId)> {
        if let Some((name, id)) = &module.pdb {
            return file_name(name).map_or(Found::NoId, |name| Found::Found((name.to_owned(), *id)));
        }
        let ids = module.time_stamp.zip(module.size).filter(|&(time_stamp, size)| time_stamp != 0 && size != 0);
        let (Some((time_stamp, size)), Some(name)) = (ids, file_name(&module.file_name)) else { return Found::NoId };
        let id = BinaryId { time_stamp, size };
        self.search(name, &id.folder(), |candidate| self.look_into(candidate, id))
    }

    fn look_into(&self, candidate: &Candidate, id: BinaryId) -> Readable<Found<(String, PdbId)>> {
        let opened = candidate.open(self.limit)?;
        let binary = Binary::read(&*opened.input)?;
        if binary.id != id {
            return Ok(Found::Mismatch { path: candidate.path(), found: binary.id.folder() });
        }
        let (name, id) = binary.pdb(&*opened.input)?;
        Ok(file_name(&name).map_or(Found::NoId, |name| Found::Found((name.to_owned(), id))))
    }

    /// Opens the PDB of a name and an identity; of the name only the last part counts, after either slash.
    pub fn open(&self, name: &str, id: PdbId) -> Found<Pdb> {
        let Some(name) = file_name(name).filter(|_| !id.guid.is_zero()) else { return Found::NoId };
        self.search(name, &id.folder(), |candidate| {
            let opened = candidate.open(self.limit)?;
            let pdb = Pdb::of(opened.input, self.limit.saturating_sub(opened.taken))?;
            let found = pdb.id();
            Ok(if found == id {
                Found::Found(pdb)
            } else {
                Found::Mismatch { path: candidate.path(), found: found.folder() }
            })
        })
    }

    /// The first file that is the one, else what tells most of those that are not.
    fn search<T>(&self, name: &str, id: &str, look: impl Fn(&Candidate) -> Readable<Found<T>>) -> Found<T> {
        let mut best = Found::NotFound;
        for element in &self.elements {
            let candidates = match element {
                Element::Folder(folder) => folder.candidates(name, id),
                Element::Zip(archive) => archive.candidates(name, id),
            };
            for candidate in candidates {
                let found = look(&candidate).unwrap_or_else(|reason| Found::of(reason, &candidate.path()));
                if let Found::Found(_) = found {
                    return found;
                }
                best = best.or(found);
            }
        }
        best
    }
}

fn element(path: PathBuf) -> Element {
    let is_zip = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
    if is_zip(&path) && path.is_file() { Element::Zip(ZipFile::new(path)) } else { Element::Folder(Folder::new(path)) }
}
