//! Paths as people know them, where the trace has the letters of its drives.

use std::borrow::Cow;

use super::attributes::volume;
use super::fact::Fact;
use super::texts::Texts;

/// What stands behind the folders of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or(path)
}

/// Volumes beyond which none is told.
const MAX_VOLUMES: usize = 256;

/// The volumes that have a path of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DosPaths {
    /// The system's path of a volume without `\` at its end, and the drive's; the longest first.
    volumes: Vec<(String, String)>,
}

impl DosPaths {
    pub(super) fn of(facts: &[Fact], texts: &Texts) -> Self {
        let mut facts: Vec<&Fact> = facts.iter().collect();
        facts.sort_unstable_by_key(|fact| fact.order());
        let text = |fact: &Fact, place: usize| {
            texts
                .get(fact.texts[place])
                .map(|path| path.trim_end_matches('\\').to_owned())
                .filter(|path| !path.is_empty())
        };
        let pairs =
            facts.into_iter().filter_map(|fact| Some((text(fact, volume::NT_PATH)?, text(fact, volume::DOS_PATH)?)));
        DosPaths::new(pairs)
    }

    /// Of pairs of a volume's path in the system and as people know it; of several for one path the first counts.
    pub fn new(pairs: impl Iterator<Item = (String, String)>) -> Self {
        let mut volumes: Vec<(String, String)> = Vec::new();
        for (system, drive) in pairs {
            let is_known = volumes.iter().any(|(known, _)| known.eq_ignore_ascii_case(&system));
            if !is_known && volumes.len() < MAX_VOLUMES {
                volumes.push((system, drive));
            }
        }
        volumes.sort_by_key(|(system, _)| std::cmp::Reverse(system.len()));
        DosPaths { volumes }
    }

    /// The volumes, as [`DosPaths::new`] takes them.
    pub fn volumes(&self) -> &[(String, String)] {
        &self.volumes
    }

    /// A path with the letter of its drive, where that is known; else as it is.
    pub fn path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let dos = self.volumes.iter().find_map(|(system, drive)| {
            let (volume, rest) = path.split_at_checked(system.len())?;
            let is_within = volume.eq_ignore_ascii_case(system) && rest.starts_with('\\');
            is_within.then(|| [drive, rest].concat())
        });
        dos.map_or(Cow::Borrowed(path), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_get_the_letters_of_their_drives() {
        let volumes = [(r"\Device\HarddiskVolume1", "C:"), (r"\Device\HarddiskVolume1\mnt", "D:")];
        let paths = DosPaths::new(volumes.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())));
        assert_eq!(paths.path(r"\Device\harddiskvolume1\Windows\a.dll"), r"C:\Windows\a.dll");
        assert_eq!(paths.path(r"\Device\HarddiskVolume1\mnt\x"), r"D:\x");
        // Another volume whose name begins alike.
        assert_eq!(paths.path(r"\Device\HarddiskVolume10\x"), r"\Device\HarddiskVolume10\x");
        assert_eq!(paths.path("é"), "é");
    }
}
