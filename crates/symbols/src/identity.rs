//! What identifies a PDB and a binary.

use std::fmt;

use base::guid::Guid;

/// The identity of a PDB: two files of one identity are of one link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PdbId {
    /// Made anew by each link that is not incremental.
    pub guid: Guid,
    /// Counts the links of one GUID, from 1.
    pub age: u32,
}

impl PdbId {
    /// The age by which a binary names a portable PDB, which has none itself.
    pub(crate) const AGE_OF_PORTABLE: u32 = 1;

    /// The folder of a symbol store that a PDB lies in: the GUID in upper case without dashes, and the age in hexadecimal without
    /// padding.
    ///
    /// ```
    /// use symbols::PdbId;
    /// let id = PdbId { guid: "446150ee-e021-4809-99c4-bce7828e1528".parse()?, age: 26 };
    /// assert_eq!(id.folder(), "446150EEE021480999C4BCE7828E15281A");
    /// # Ok::<(), base::guid::ParseGuidError>(())
    /// ```
    pub fn folder(&self) -> String {
        let guid = self.guid.to_string().replace('-', "").to_uppercase();
        format!("{guid}{:X}", self.age)
    }

    /// The folder of a symbol store that a portable PDB lies in: in place of the age stands a number that no other PDB has.
    /// See <https://github.com/dotnet/symstore/blob/main/docs/specs/SSQP_Key_Conventions.md>.
    pub fn portable_folder(&self) -> String {
        PdbId { age: u32::MAX, ..*self }.folder()
    }
}

impl fmt::Display for PdbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.folder())
    }
}

/// The identity of a binary where nobody has told that of its PDB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BinaryId {
    pub(crate) time_stamp: u32,
    pub(crate) size: u32,
}

impl BinaryId {
    /// The folder of a symbol store that a binary lies in.
    pub(crate) fn folder(&self) -> String {
        format!("{:08X}{:x}", self.time_stamp, self.size)
    }
}

/// A module as a trace names it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Module {
    /// The file name of the binary; it may carry a path, of which only the last part is used.
    pub file_name: String,
    /// `TimeDateStamp` of the header of the binary.
    pub time_stamp: Option<u32>,
    /// `SizeOfImage` of the header of the binary, in bytes.
    pub size: Option<u32>,
    /// The file name of the PDB and its identity; the name may carry a path, of which only the last part is used.
    pub pdb: Option<(String, PdbId)>,
}

/// The last part of a path, after either slash; `None` where that names no file.
pub(crate) fn file_name(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let is_name = !name.is_empty() && name != "." && name != ".." && !name.contains(['\0', ':']);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_part_of_a_path_counts() {
        let cases = [
            (r"D:\a\_work\attach_amd64.pdb", Some("attach_amd64.pdb")),
            ("a/b.pdb", Some("b.pdb")),
            ("b.pdb", Some("b.pdb")),
            (r"a\..", None),
            ("a/", None),
            ("", None),
            ("c:x", None),
        ];
        for (path, name) in cases {
            assert_eq!(file_name(path), name, "{path}");
        }
    }

    #[test]
    fn a_binary_lies_in_the_folder_of_its_time_stamp_and_size() {
        assert_eq!(BinaryId { time_stamp: 0x1A9_A872, size: 0xC000 }.folder(), "01A9A872c000");
    }
}
