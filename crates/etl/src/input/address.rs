//! Where an input is had: the path of a file, or of an archive and a member in it.

use std::path::{Path, PathBuf, is_separator};

/// What stands for standard input.
pub const STDIN: &str = "-";

/// The address of a member: `lab/A.zip!/x/T.etl`; none where the path of the archive is no text.
pub fn member_address(archive: &Path, member: &str) -> Option<PathBuf> {
    Some(PathBuf::from(format!("{}!/{member}", archive.to_str()?)))
}

/// The archive and the member that an address names. A file whose path reads like one is a file.
pub fn split_address(address: &Path) -> Option<(PathBuf, String)> {
    let text = address.to_str()?;
    let cuts = text.match_indices('!').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let cut = cuts.filter_map(|(archive, rest)| Some((archive, rest.strip_prefix(is_separator)?)));
    let is_archive = |archive: &str| archive == STDIN || Path::new(archive).is_file();
    let (archive, member) = cut.into_iter().find(|(archive, _)| is_archive(archive))?;
    (!address.exists()).then(|| (PathBuf::from(archive), member.replace('\\', "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_file_is_no_member() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::write(at("a!.zip"), "").unwrap();
        std::fs::create_dir(at("b.zip!")).unwrap();
        std::fs::write(at("b.zip!/t.etl"), "").unwrap();
        let address = member_address(&at("a!.zip"), "x/t!/u.etl").unwrap();
        assert_eq!(split_address(&address), Some((at("a!.zip"), "x/t!/u.etl".to_owned())));
        assert_eq!(split_address(&at("b.zip!/t.etl")), None);
        assert_eq!(split_address(&at("missing.zip!/t.etl")), None);
        assert_eq!(split_address(Path::new("-!/t.etl")), Some(("-".into(), "t.etl".to_owned())));
    }
}
