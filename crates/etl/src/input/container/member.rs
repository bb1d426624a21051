//! What the directory of a container says of a member.

use std::collections::HashSet;
use std::path::Path;

use base::error::{Error, ErrorCode, ErrorKind, Result};

use super::fault::unsupported;

/// Members of one container, and bytes of their names; what has more is no archive of traces.
const MOST_MEMBERS: usize = 1 << 20;
const MOST_NAME_BYTES: usize = 64 << 20;

/// A file in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path in the container, with `/` between the parts.
    pub name: String,
    /// Its size in bytes, where the container records it.
    pub size: Option<u64>,
    /// What keeps it from being read.
    pub obstacle: Option<Obstacle>,
}

/// Why a member is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It takes a password.
    Encrypted,
    /// Its path leads out of the folder that it would be unpacked to.
    Climbs,
    /// Another member of the container has its path.
    Repeated,
    /// It is packed in a way that is not read here.
    Method(String),
    /// Part of it is in another file.
    Split,
}

impl Obstacle {
    /// The reason in a few words, the same for all members that have it.
    pub fn reason(&self) -> String {
        match self {
            Obstacle::Encrypted => "encrypted".to_owned(),
            Obstacle::Climbs => "with a path that climbs out of the archive".to_owned(),
            Obstacle::Repeated => "of the same path as another member".to_owned(),
            Obstacle::Method(method) => format!("packed with {method}, which is not read"),
            Obstacle::Split => "continued in another cabinet of a set".to_owned(),
        }
    }

    /// The error of who asks for the member at `path` all the same.
    pub fn error(&self, path: &Path) -> Error {
        match self {
            Obstacle::Encrypted => Error::new(ErrorKind::Input, "this member is encrypted")
                .with_code(ErrorCode::UnreadableContainer)
                .in_file(path)
                .with_hint("unpack it with its password, and convert the trace"),
            other => unsupported(format!("this is a member {}", other.reason()), path),
        }
    }
}

/// The members of a container while its directory is read.
#[derive(Debug, Default)]
pub(super) struct Members {
    list: Vec<Member>,
    seen: HashSet<String>,
    name_bytes: usize,
}

impl Members {
    /// Adds a member with a name as the container has it.
    ///
    /// # Errors
    /// Of the kind `Input` when the container at `path` has too many.
    pub(super) fn push(
        &mut self,
        name: &[u8],
        size: Option<u64>,
        obstacle: Option<Obstacle>,
        path: &Path,
    ) -> Result<()> {
        self.name_bytes = self.name_bytes.saturating_add(name.len());
        if self.list.len() >= MOST_MEMBERS || self.name_bytes > MOST_NAME_BYTES {
            let message = format!("expected at most {MOST_MEMBERS} members with names of 64 MiB, found more");
            return Err(unsupported(message, path));
        }
        let name = text(name).replace('\\', "/");
        let climbs = climbs(&name).then_some(Obstacle::Climbs);
        let repeated = (!self.seen.insert(name.clone())).then_some(Obstacle::Repeated);
        self.list.push(Member { obstacle: climbs.or(obstacle).or(repeated), name, size });
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<Member> {
        self.list
    }
}

/// UTF-8 if it is that, else Latin-1.
fn text(name: &[u8]) -> String {
    match str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => name.iter().copied().map(char::from).collect(),
    }
}

/// Whether a path does not stay below the folder that it begins in.
fn climbs(name: &str) -> bool {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    name.is_empty() || name.starts_with('/') || has_drive || name.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_paths_with_slashes() {
        let mut members = Members::default();
        for name in [&b"a\\b.etl"[..], b"a/b.etl", b"\xFCber.etl", b"../x.etl", b"/x", b"c:\\x", b"a/../../x", b""] {
            members.push(name, None, None, Path::new("a.zip")).unwrap();
        }
        let listed: Vec<_> = members.finish().into_iter().map(|member| (member.name, member.obstacle)).collect();
        let (climbs, repeated) = (Some(Obstacle::Climbs), Some(Obstacle::Repeated));
        let expected = [
            ("a/b.etl", None),
            ("a/b.etl", repeated),
            ("über.etl", None),
            ("../x.etl", climbs.clone()),
            ("/x", climbs.clone()),
            ("c:/x", climbs.clone()),
            ("a/../../x", climbs.clone()),
            ("", climbs),
        ];
        assert_eq!(listed, expected.map(|(name, obstacle)| (name.to_owned(), obstacle)));
    }

    #[test]
    fn a_member_that_needs_a_password_names_the_way_out() {
        let error = Obstacle::Encrypted.error(Path::new("a.zip!/b.etl"));
        let text = "a.zip!/b.etl: this member is encrypted (unpack it with its password, and convert the trace)";
        assert_eq!(error.to_string(), text);
    }
}
