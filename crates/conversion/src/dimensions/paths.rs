//! Paths as people know them, where the trace has the letters of its drives.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::attributes::volume;
use super::fact::Fact;
use super::texts::Texts;

/// What stands behind the folders of a path.
pub fn file_name(path: &str) -> &str {
    let behind = path.bytes().rposition(|byte| matches!(byte, b'\\' | b'/')).map_or(0, |place| place + 1);
    &path[behind..]
}

/// Volumes of a machine beyond which none is kept.
const MAX_VOLUMES: usize = 256;

/// The same of all machines.
const MAX_ALL_VOLUMES: usize = 1 << 10;

/// The volumes that have a path of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DosPaths {
    /// Of each machine that has such, by its number.
    machines: BTreeMap<u16, Volumes>,
}

/// The system's path of a volume without `\` at its end, and the drive's.
type Volumes = Vec<(String, String)>;

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
        let volume = |fact: &Fact| Some((text(fact, volume::NT_PATH)?, text(fact, volume::DOS_PATH)?));
        DosPaths::new(facts.into_iter().filter_map(|fact| Some((fact.machine, volume(fact)?))))
    }

    /// Of machines with a volume's path in the system and as people know it; of several for one path the first counts.
    pub fn new(volumes: impl Iterator<Item = (u16, (String, String))>) -> Self {
        let (mut machines, mut all) = (BTreeMap::<u16, Volumes>::new(), 0);
        for (machine, (system, drive)) in volumes {
            let volumes = machines.entry(machine).or_default();
            let is_known = volumes.iter().any(|(known, _)| known.eq_ignore_ascii_case(&system));
            if !is_known && volumes.len() < MAX_VOLUMES && all < MAX_ALL_VOLUMES {
                volumes.push((system, drive));
                all += 1;
            }
        }
        // The longest is meant, and looked at first.
        machines.values_mut().for_each(|volumes| volumes.sort_by_key(|(system, _)| Reverse(system.len())));
        DosPaths { machines }
    }

    /// The volumes, as [`DosPaths::new`] takes them.
    pub fn volumes(&self) -> impl Iterator<Item = (u16, &(String, String))> {
        self.machines.iter().flat_map(|(&machine, volumes)| volumes.iter().map(move |volume| (machine, volume)))
    }

    /// Whether the letter of a drive of a machine is known.
    pub(super) fn has_drives(&self, machine: u16) -> bool {
        self.machines.contains_key(&machine)
    }

    /// A path of a machine with the letter of its drive, where that is known; else as it is.
    pub fn path<'a>(&self, machine: u16, path: &'a str) -> Cow<'a, str> {
        let dos = self.machines.get(&machine).into_iter().flatten().find_map(|(system, drive)| {
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
        let of_machine = |machine, (system, drive): (&str, &str)| (machine, (system.to_owned(), drive.to_owned()));
        let other = of_machine(3, (r"\Device\HarddiskVolume1", "E:"));
        let paths = DosPaths::new(volumes.map(|volume| of_machine(0, volume)).into_iter().chain([other]));
        assert_eq!(paths.path(0, r"\Device\harddiskvolume1\Windows\a.dll"), r"C:\Windows\a.dll");
        assert_eq!(paths.path(0, r"\Device\HarddiskVolume1\mnt\x"), r"D:\x");
        // Another volume whose name begins alike.
        assert_eq!(paths.path(0, r"\Device\HarddiskVolume10\x"), r"\Device\HarddiskVolume10\x");
        assert_eq!(paths.path(0, "é"), "é");
        // Of another machine.
        assert_eq!(paths.path(3, r"\Device\HarddiskVolume1\x"), r"E:\x");
        assert_eq!(paths.path(1, r"\Device\HarddiskVolume1\x"), r"\Device\HarddiskVolume1\x");
        assert_eq!(DosPaths::new(paths.volumes().map(|(machine, volume)| (machine, volume.clone()))), paths);
    }
}
