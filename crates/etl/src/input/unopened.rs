//! What is known of an input without opening it.

use super::address::Address;
use super::local::LocalFile;
use super::remote::RemoteInput;

/// An input that nobody has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unopened {
    /// Bytes; `None` for a member of a container, of which only who reads the container knows.
    pub size: Option<u64>,
    /// When it was last written, Unix nanoseconds, of a member its container; `None` where nobody knows.
    pub modified: Option<i64>,
}

impl Unopened {
    /// What stands at an address; `None` where there is no file.
    pub fn at(address: &Address) -> Option<Self> {
        let Some((container, _)) = address.split() else { return Unopened::of_file(address) };
        Some(Unopened { size: None, ..Unopened::of_file(&container)? })
    }

    fn of_file(address: &Address) -> Option<Self> {
        if address.scheme().is_some() {
            let facts = RemoteInput::facts_at(address)?;
            return Some(Unopened { size: Some(facts.size), modified: facts.modified });
        }
        let file = LocalFile::identity_of(address)?;
        Some(Unopened { size: Some(file.size), modified: file.modified })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_has_the_time_of_its_container_and_no_size() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a.zip");
        std::fs::write(&archive, "seven b").unwrap();
        let file = Unopened::at(&archive.clone().into()).unwrap();
        assert_eq!(file.size, Some(7));
        assert!(file.modified.is_some());
        let member = Unopened::at(&folder.path().join("a.zip!/t.etl").into());
        assert_eq!(member, Some(Unopened { size: None, modified: file.modified }));
        assert_eq!(Unopened::at(&folder.path().join("b.zip!/t.etl").into()), None);
        assert_eq!(Unopened::at(&folder.path().into()), None);
    }
}
