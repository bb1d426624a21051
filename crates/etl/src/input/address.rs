//! Where an input is had: a file, a member of an archive, standard input, or a URL.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf, is_separator};

use base::disk;
use base::remote;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What stands for standard input.
pub const STDIN: &str = "-";

/// Where an input is had, as it was given: the path of a file, `lab/A.zip!/x/T.etl` of a member of an archive, `-` of standard
/// input, or a URL such as `s3://bucket/T.etl`, of which every letter stays.
///
/// It can be shown as a path can. What a path does not know of - members, standard input, URLs - is asked of the address.
///
/// ```
/// use etl2parquet_etl::input::Address;
///
/// let member = Address::from("lab.zip").member("x/boot.etl");
/// assert_eq!(member, Some(Address::from("lab.zip!/x/boot.etl")));
///
/// let url = Address::from("s3://lab//boot.etl");
/// assert_eq!((url.scheme(), url.absolute()), (Some("s3"), "s3://lab//boot.etl".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(PathBuf);

impl Address {
    /// Standard input.
    pub fn stdin() -> Address {
        Address::from(STDIN)
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.0.as_os_str() == STDIN
    }

    /// The `s3` of `s3://…`; `None` of what is no URL. One letter may be a drive.
    pub fn scheme(&self) -> Option<&str> {
        remote::scheme(self.0.to_str()?)
    }

    /// A member of the archive at this address; `None` where the address is no text.
    pub fn member(&self, name: &str) -> Option<Address> {
        Some(Address::from(format!("{}!/{name}", self.0.to_str()?)))
    }

    /// The archive and the member that it names. A file whose path reads like that is a file.
    pub fn split(&self) -> Option<(Address, String)> {
        let text = self.0.to_str()?;
        let cuts = text.match_indices('!').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let cut = cuts.filter_map(|(archive, rest)| Some((Address::from(archive), rest.strip_prefix(is_separator)?)));
        let is_archive = |archive: &Address| archive.is_stdin() || archive.scheme().is_some() || archive.is_file();
        let (archive, member) = cut.into_iter().find(|(archive, _)| is_archive(archive))?;
        (!self.0.exists()).then(|| (archive, member.replace('\\', "/")))
    }

    /// The same address from any folder, as text.
    pub fn absolute(&self) -> String {
        let path = if self.scheme().is_some() { self.0.clone() } else { disk::absolute(&self.0) };
        path.display().to_string()
    }

    /// One spelling for all addresses of an input, without links; to be compared, not to be opened.
    pub fn canonical(&self) -> PathBuf {
        let canonical = |address: &Address| match address.scheme() {
            Some(_) => address.0.clone(),
            None => fs::canonicalize(&address.0).unwrap_or_else(|_| address.0.clone()),
        };
        match self.split() {
            Some((archive, member)) => canonical(&archive).join("!").join(member),
            None => canonical(self),
        }
    }

    /// Whether another address leads to the same input, which is there.
    pub fn leads_where(&self, other: &Address) -> bool {
        let there = |address: &Address| {
            let archive = address.split().map_or_else(|| address.clone(), |(archive, _)| archive);
            archive.scheme().is_some() || archive.exists()
        };
        there(self) && there(other) && self.canonical() == other.canonical()
    }
}

impl Deref for Address {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl<T: Into<PathBuf>> From<T> for Address {
    fn from(path: T) -> Address {
        Address(path.into())
    }
}

impl AsRef<Path> for Address {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As it is written: text, or the units of the system of what is no text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Native(OsString),
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.to_str().map(|text| Written::Text(text.to_owned()));
        text.unwrap_or_else(|| Written::Native(self.0.as_os_str().to_owned())).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Text(text) => text.into(),
            Written::Native(name) => name.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_file_is_no_member() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| Address::from(folder.path().join(path));
        std::fs::write(at("a!.zip"), "").unwrap();
        std::fs::create_dir(at("b.zip!")).unwrap();
        std::fs::write(at("b.zip!/t.etl"), "").unwrap();
        let address = at("a!.zip").member("x/t!/u.etl").unwrap();
        assert_eq!(address.split(), Some((at("a!.zip"), "x/t!/u.etl".to_owned())));
        assert_eq!(at("b.zip!/t.etl").split(), None);
        assert_eq!(at("missing.zip!/t.etl").split(), None);
        assert_eq!(Address::from("-!/t.etl").split(), Some((Address::stdin(), "t.etl".to_owned())));
        assert!(Address::stdin().is_stdin() && !at("-").is_stdin());
    }

    #[test]
    fn a_url_stays_as_it_is() {
        let t = |address: &str, scheme: Option<&str>| assert_eq!(Address::from(address).scheme(), scheme, "{address}");
        t("s3://bucket/a.etl", Some("s3"));
        t("abfss://x@y/z", Some("abfss"));
        t("file:///tmp", Some("file"));
        t("s3:/bucket", None);
        t("c://lab", None);
        t("lab/://x", None);
        t("a.etl", None);
        let url = Address::from("s3://lab//a%20b/../x.zip");
        assert_eq!((url.absolute().as_str(), &*url.canonical()), ("s3://lab//a%20b/../x.zip", &*url));
        let member = url.member("in/t.etl").unwrap();
        assert_eq!(member.split(), Some((url.clone(), "in/t.etl".to_owned())));
        assert_eq!(member.absolute(), "s3://lab//a%20b/../x.zip!/in/t.etl");
        assert!(member.leads_where(&member.clone()) && !member.leads_where(&url));
    }

    #[test]
    fn spellings_of_one_file_lead_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| Address::from(folder.path().join(path));
        std::fs::create_dir(at("lab")).unwrap();
        std::fs::write(at("a.zip"), "").unwrap();
        assert!(at("a.zip").leads_where(&at("lab/../a.zip")));
        assert!(at("lab/../a.zip!/t.etl").leads_where(&at("a.zip!/t.etl")));
        assert!(!at("a.zip!/t.etl").leads_where(&at("a.zip!/u.etl")));
        assert!(!at("b.etl").leads_where(&at("b.etl")), "what is not there leads nowhere");
    }

    #[test]
    fn an_address_survives_being_written() {
        let t = |address: Address, expected: Option<&str>| {
            let text = serde_json::to_string(&address).unwrap();
            expected.into_iter().for_each(|expected| assert_eq!(text, expected));
            assert_eq!(serde_json::from_str::<Address>(&text).unwrap(), address, "{text}");
        };
        t("traces/a b.etl".into(), Some("\"traces/a b.etl\""));
        t("s3://lab//a.etl".into(), Some("\"s3://lab//a.etl\""));
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            t(std::ffi::OsString::from_vec(vec![b'a', 0xFF, b'b']).into(), None);
        }
    }
}
