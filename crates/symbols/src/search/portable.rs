//! The portable PDB of an assembly: a file, or a part of the assembly itself.

use base::remote::Stop;

use super::binary::Binary;
use super::candidate::Candidate;
use super::path::SymbolPath;
use crate::container::streams::{HEAD, is_of_windows};
use crate::found::{Found, Readable, Reason};
use crate::identity::{PdbId, file_name};
use crate::pdb::Pdb;
use crate::portable::PortablePdb;

impl SymbolPath {
    /// Opens the portable PDB of an assembly, by the name and the identity that the assembly has for it; else one that lies in a file
    /// called `assembly`. Of the names only the last part counts, after either slash.
    ///
    /// The identity must be one of a portable PDB, whose age is 1. A Windows PDB that has the identity is `Unsupported`.
    pub fn open_portable(&self, name: &str, assembly: Option<&str>, id: PdbId) -> Found<PortablePdb> {
        let found = self.portable(name, id, None);
        match assembly.and_then(file_name) {
            Some(assembly) if !matches!(found, Found::Found(_) | Found::NoId) => {
                found.or(self.search((assembly, &[], None), |candidate| self.look_inside(candidate, id)))
            }
            _ => found,
        }
    }

    /// Asks servers for the portable PDB of a name and an identity where no folder has it, as [`SymbolPath::fetch`] does for others.
    /// They are asked by the key of portable PDBs alone.
    pub fn fetch_portable(&self, name: &str, id: PdbId, stop: &Stop) {
        // What has another age is no portable PDB.
        if id.age == PdbId::AGE_OF_PORTABLE {
            let _ = self.portable(name, id, Some(stop));
        }
    }

    fn portable(&self, name: &str, id: PdbId, asks: Option<&Stop>) -> Found<PortablePdb> {
        let Some(name) = file_name(name).filter(|_| !id.guid.is_zero()) else { return Found::NoId };
        let folders = [id.portable_folder(), id.folder()];
        self.search((name, &folders.each_ref().map(String::as_str), asks), |candidate| self.look_at(candidate, id))
    }

    fn look_at(&self, candidate: &Candidate, id: PdbId) -> Readable<Found<PortablePdb>> {
        let opened = candidate.open(self.limit())?;
        let limit = self.limit().saturating_sub(opened.taken);
        let mut scratch = Vec::new();
        if is_of_windows(opened.input.bytes(0, HEAD, &mut scratch)?) {
            let found = Pdb::of(opened.input, limit)?.id();
            return if found == id {
                Err(Reason::unsupported("a Windows PDB, of which lines of managed code are not read"))
            } else {
                Ok(Found::Mismatch { path: candidate.path(), found: found.folder() })
            };
        }
        Ok(checked(PortablePdb::of(&*opened.input, limit)?, candidate, id))
    }

    /// Looks for the PDB in an assembly; that of one that has none is not found.
    fn look_inside(&self, candidate: &Candidate, id: PdbId) -> Readable<Found<PortablePdb>> {
        let opened = candidate.open(self.limit())?;
        let limit = self.limit().saturating_sub(opened.taken);
        let embedded = Binary::read(&*opened.input)?.embedded(&*opened.input, limit)?;
        let Some(bytes) = embedded else { return Ok(Found::NotFound) };
        Ok(checked(PortablePdb::held(candidate.path(), bytes, limit)?, candidate, id))
    }
}

/// A PDB, if it is the one.
fn checked(pdb: PortablePdb, candidate: &Candidate, id: PdbId) -> Found<PortablePdb> {
    let found = pdb.id();
    if found == id { Found::Found(pdb) } else { Found::Mismatch { path: candidate.path(), found: found.folder() } }
}
