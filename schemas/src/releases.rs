//! The releases of Windows that facts were gathered of.

use std::fmt;

use serde::{Serialize, Serializer};

/// A release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The build number.
    pub build: u16,
    /// The name without `Windows`: `10 1809`.
    pub name: &'static str,
    /// Whether a list of all its events was gathered.
    pub listed: bool,
    /// Whether manifests of its providers were gathered, of some or all.
    pub dumped: bool,
}

include!(concat!(env!("OUT_DIR"), "/schema_releases.rs"));

/// Some of the releases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Releases(pub(crate) u32);

impl Releases {
    /// Reads the builds in the origins of a layout: `perfview,lists 10586-17134 28000,dumps 17134`.
    pub fn of_origins(origins: &str) -> Result<Releases, String> {
        let mut all = 0;
        for origin in origins.split(',') {
            let is_meant: fn(&Release) -> bool = match origin.split_once(' ') {
                Some(("lists", _)) => |release| release.listed,
                Some(("dumps", _)) => |release| release.dumped,
                _ => continue,
            };
            for run in origin.split(' ').skip(1) {
                all |= bits_of_run(run, is_meant).ok_or_else(|| format!("builds `{run}`"))?;
            }
        }
        Ok(Releases(all))
    }

    /// Those of either.
    #[must_use]
    pub fn union(self, other: Releases) -> Releases {
        Releases(self.0 | other.0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The releases, the oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'static Release> {
        RELEASES.iter().enumerate().filter(move |(at, _)| self.has(*at)).map(|(_, release)| release)
    }

    fn has(self, at: usize) -> bool {
        self.0 >> at & 1 == 1
    }
}

/// The builds of a run that are of one kind of source.
fn bits_of_run(run: &str, is_meant: fn(&Release) -> bool) -> Option<u32> {
    let (first, last) = run.split_once('-').unwrap_or((run, run));
    let at = |build: &str| {
        let build: u16 = build.parse().ok()?;
        RELEASES.iter().position(|release| release.build == build)
    };
    let run = RELEASES.iter().enumerate().skip(at(first)?).take(at(last)?.checked_sub(at(first)?)? + 1);
    Some(run.filter(|(_, release)| is_meant(release)).fold(0, |bits, (at, _)| bits | 1 << at))
}

impl Releases {
    /// First and last place of each run. A release of which only some manifests are known does not end one.
    fn runs(self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (at, _) in RELEASES.iter().enumerate().filter(|(at, _)| self.has(*at)) {
            match runs.last_mut() {
                Some((_, last)) if RELEASES.iter().take(at).skip(*last + 1).all(|between| !between.listed) => {
                    *last = at;
                }
                _ => runs.push((at, at)),
            }
        }
        runs
    }

    /// The builds alone: `7600 10586-28000`.
    pub fn builds(self) -> String {
        let build = |at: usize| RELEASES.get(at).map_or(0, |release| release.build);
        let run = |(first, last): (usize, usize)| {
            if first == last { build(first).to_string() } else { format!("{}-{}", build(first), build(last)) }
        };
        self.runs().into_iter().map(run).collect::<Vec<_>>().join(" ")
    }
}

/// `7 (7600), 10 1511 (10586) to 11 26H1 (28000)`.
impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (first, last)) in self.runs().into_iter().enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            let shown = |at: usize| RELEASES.get(at).map_or_else(String::new, |r| format!("{} ({})", r.name, r.build));
            f.write_str(&shown(first))?;
            if last > first {
                write!(f, " to {}", shown(last))?;
            }
        }
        Ok(())
    }
}

/// As the list of the builds.
impl Serialize for Releases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|release| release.build))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(origins: &str) -> Releases {
        Releases::of_origins(origins).unwrap()
    }

    #[test]
    fn runs_count_the_releases_of_their_kind_of_source() {
        let builds = |origins: &str| of(origins).iter().map(|release| release.build).collect::<Vec<_>>();
        assert!(builds("perfview,coreclr").is_empty());
        assert_eq!(builds("lists 18363-19041"), [18363, 19041]);
        assert_eq!(builds("dumps 7600-17134,lists 22621 26200-28000"), [7600, 10240, 17134, 22621, 26200, 28000]);
        for wrong in ["lists 1", "lists 28000-10586", "dumps x-7600", "lists 10586-"] {
            assert!(Releases::of_origins(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn runs_are_shown_by_name_and_build() {
        assert_eq!(of("").to_string(), "");
        assert_eq!(of("lists 28000").to_string(), "11 26H1 (28000)");
        // Of 10 1507 and of the preview only some manifests are known.
        assert_eq!(of("dumps 7600,lists 10586-28000").to_string(), "7 (7600) to 11 26H1 (28000)");
        assert_eq!(
            of("dumps 7600,lists 14393-19041 22000").to_string(),
            "7 (7600), 10 1607 (14393) to 10 2004 (19041), 11 21H2 (22000)"
        );
    }

    #[test]
    fn builds_are_shown_in_runs_and_written_one_by_one() {
        let some = of("dumps 7600-10240,lists 14393-16299 22000");
        assert_eq!(some.builds(), "7600-10240 14393-16299 22000");
        assert_eq!(serde_json::to_string(&some).unwrap(), "[7600,10240,14393,15063,16299,22000]");
        assert_eq!((of("").builds(), serde_json::to_string(&of("")).unwrap()), (String::new(), "[]".to_owned()));
    }

    #[test]
    fn releases_stand_in_the_order_of_their_builds() {
        assert_eq!(RELEASES.len(), 20);
        assert!(RELEASES.is_sorted_by(|a, b| a.build < b.build));
        assert!(RELEASES.iter().all(|release| release.listed || release.dumped));
    }
}
