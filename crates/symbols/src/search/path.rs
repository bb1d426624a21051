//! Where symbols are looked for.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use base::remote::{self, Stop, scheme, shown};

use super::archive::ZipFile;
use super::binary::Binary;
use super::candidate::Candidate;
use super::folder::Folder;
use super::server::Server;
use crate::found::{Found, Readable};
use crate::identity::{BinaryId, Module, PdbId, file_name};
use crate::pdb::Pdb;

/// Where symbols are looked for, in the order in which it is done. Only [`SymbolPath::fetch`] and [`SymbolPath::fetch_portable`] ask
/// servers.
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
    /// Why servers are not asked.
    not_asked: Vec<String>,
    limit: u64,
    /// Held while a file is looked into during [`SymbolPath::fetch`] and [`SymbolPath::fetch_portable`], which may be called by many
    /// threads: of one at a time is in memory what it takes.
    looking: Mutex<()>,
}

#[derive(Debug)]
enum Element {
    Folder(Folder),
    Zip(ZipFile),
    Server(Server),
}

impl SymbolPath {
    /// A path as debuggers take it: elements with `;` between them, each a folder, a zip archive with symbols in it, or
    /// `srv*A*B`, `symsrv*dll*A*B` or `cache*A` of folders and servers. What a server has is kept in the first folder of its element,
    /// else in that of a `cache*A` before it. Of a PDB at most `limit` bytes are in memory at a time.
    pub fn parse(text: &str, limit: u64) -> SymbolPath {
        let (elements, servers, not_asked, looking) = (Vec::new(), Vec::new(), Vec::new(), Mutex::default());
        let mut path = SymbolPath { elements, servers, not_asked, limit, looking };
        let mut cache = None;
        for element in text.split(';').map(str::trim) {
            let mut parts = element.split('*');
            let word = parts.next().unwrap_or_default().to_ascii_lowercase();
            match word.as_str() {
                "srv" | "cache" if element.contains('*') => {}
                // What stands next is the library that asks the server.
                "symsrv" if element.contains('*') => drop(parts.next()),
                _ => parts = element.split('*'),
            }
            let parts: Vec<&str> = parts.map(str::trim).filter(|part| !part.is_empty()).collect();
            let first = parts.iter().copied().find(|part| scheme(part).is_none()).filter(|_| element.contains('*'));
            if word == "cache" {
                cache = first.or(cache);
            }
            for part in parts {
                match scheme(part) {
                    Some(_) => path.add_server(part, first.or(cache)),
                    None => path.elements.push(self::element(PathBuf::from(part))),
                }
            }
        }
        path
    }

    fn add_server(&mut self, url: &str, folder: Option<&str>) {
        if self.servers.iter().any(|server| server == url) {
            return;
        }
        self.servers.push(url.to_owned());
        // What stands in an address may be secret.
        let shown = shown(url).display().to_string();
        let server = match folder {
            _ if !remote::has_client() => {
                Err("this program was built without a client of servers (feature cloud)".to_owned())
            }
            Some(folder) => Server::new(url, PathBuf::from(folder)).map_err(|error| error.message().to_owned()),
            None => Err(format!("no folder to keep its files in: write srv*FOLDER*{shown}")),
        };
        match server {
            Ok(server) => self.elements.push(Element::Server(server)),
            Err(reason) => self.not_asked.push(format!("{shown} is not asked: {reason}")),
        }
    }

    /// The servers that the path names, each once.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }

    /// Whether [`SymbolPath::fetch`] and [`SymbolPath::fetch_portable`] ask anybody.
    pub fn asks_servers(&self) -> bool {
        self.elements.iter().any(|element| matches!(element, Element::Server(_)))
    }

    /// What keeps servers from being asked, or has kept them from being asked to the end, a sentence for each: there is no folder for
    /// what they send, the program has no client for them, they do not answer.
    pub fn troubles(&self) -> Vec<String> {
        let server = |element: &Element| if let Element::Server(server) = element { server.trouble() } else { None };
        self.not_asked.iter().cloned().chain(self.elements.iter().filter_map(server)).collect()
    }

    /// Asks servers for the PDB of a module where no folder has it, and for the binary where only that says which PDB it is. What comes
    /// is kept in a folder, where [`identify`](Self::identify) and [`open`](Self::open) find it. May be called by many threads at once.
    pub fn fetch(&self, module: &Module, stop: &Stop) {
        if let Found::Found((name, id)) = self.identified(module, Some(stop)) {
            let _ = self.opened(&name, id, Some(stop));
        }
    }

    /// The name and the identity of the PDB of a module: those that the trace has, else those in the binary of its time stamp and
    /// size, of which the headers and the record of the PDB are read.
    pub fn identify(&self, module: &Module) -> Found<(String, PdbId)> {
        self.identified(module, None)
    }

    fn identified(&self, module: &Module, asks: Option<&Stop>) -> Found<(String, PdbId)> {
        if let Some((name, id)) = &module.pdb {
            return file_name(name).map_or(Found::NoId, |name| Found::Found((name.to_owned(), *id)));
        }
        let ids = module.time_stamp.zip(module.size).filter(|&(time_stamp, size)| time_stamp != 0 && size != 0);
        let (Some((time_stamp, size)), Some(name)) = (ids, file_name(&module.file_name)) else { return Found::NoId };
        let id = BinaryId { time_stamp, size };
        self.search((name, &[&id.folder()], asks), |candidate| self.look_into(candidate, id))
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
        self.opened(name, id, None)
    }

    fn opened(&self, name: &str, id: PdbId, asks: Option<&Stop>) -> Found<Pdb> {
        let Some(name) = file_name(name).filter(|_| !id.guid.is_zero()) else { return Found::NoId };
        self.search((name, &[&id.folder()], asks), |candidate| {
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

    /// Bytes of a file that are in memory at a time.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// The first file that is the one, else what tells most of those that are not. In stores it lies in a folder of one of the ids. A
    /// server is asked for it by the first of them where `asks` is there, and until it says to stop.
    pub(super) fn search<T>(
        &self,
        (name, ids, asks): (&str, &[&str], Option<&Stop>),
        look: impl Fn(&Candidate) -> Readable<Found<T>>,
    ) -> Found<T> {
        let look = |candidate: &Candidate| {
            let _alone = asks.map(|_| self.looking.lock().unwrap_or_else(PoisonError::into_inner));
            look(candidate)
        };
        let mut best = Found::NotFound;
        for element in &self.elements {
            let candidates = match element {
                Element::Folder(folder) => folder.candidates(name, ids),
                Element::Zip(archive) => archive.candidates(name, ids),
                Element::Server(server) => {
                    let Some(id) = ids.first() else { continue };
                    if let Some(stop) = asks {
                        server.ask((name, id), stop, &|candidate| matches!(look(candidate), Ok(Found::Found(_))));
                    }
                    server.candidates(name, id).into_iter().collect()
                }
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
