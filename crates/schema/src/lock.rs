//! A schema lock: names of columns and events of providers that describe themselves, settled by the user once for all traces.
//!
//! The text is that of [`SettledNames`] behind a first line that names the format; providers are sorted by GUID. It is meant
//! to be read, kept with other sources and merged line by line.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::guid::Guid;
use base::names::folded;

use super::model::SchemaError;
use super::settled::SettledNames;

/// The settled names of any number of providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaLock {
    providers: BTreeMap<Guid, Arc<SettledNames>>,
    /// Whose each folder is, ignoring case.
    folders: BTreeMap<String, Guid>,
}

/// Bytes of the longest lock that is read.
pub const MAX_LOCK: usize = 64 << 20;

/// Structures that may stand around a member.
const MAX_DEPTH: usize = 32;

impl SchemaLock {
    /// The first line of a lock.
    pub const FIRST_LINE: &str = "# etl2parquet schema lock, format 1";

    /// A lock of these names, by GUID.
    pub fn new(providers: impl IntoIterator<Item = (Guid, SettledNames)>) -> SchemaLock {
        let mut lock = SchemaLock::default();
        providers.into_iter().for_each(|(provider, names)| lock.insert(provider, names));
        lock
    }

    /// Puts in the names of a provider; where they have the folder of another one, with its own GUID behind it.
    pub fn insert(&mut self, provider: Guid, names: SettledNames) {
        let mut names = names.in_order();
        names.folder = self.free_folder(&names.folder, &provider);
        self.folders.insert(folded(&names.folder), provider);
        self.providers.insert(provider, Arc::new(names));
    }

    fn free_folder(&self, wanted: &str, provider: &Guid) -> String {
        let guid = provider.to_string();
        let short = guid.split('-').next().unwrap_or_default();
        let own = [wanted.to_owned(), format!("{wanted}~{short}"), format!("{wanted}~{guid}")];
        own.into_iter().find(|folder| !self.is_folder_of_another(provider, folder)).unwrap_or(guid)
    }

    /// Whether a folder, ignoring case, is that of a provider that is not this one.
    pub fn is_folder_of_another(&self, provider: &Guid, folder: &str) -> bool {
        self.folders.get(&folded(folder)).is_some_and(|other| other != provider)
    }

    /// Reads the content of a lock file, or of several, one behind the other.
    ///
    /// # Errors
    /// What is no line of the format or contradicts an earlier one, with its place.
    pub fn read(content: &[u8]) -> Result<SchemaLock, SchemaError> {
        if content.len() > MAX_LOCK {
            let message = format!("expected {MAX_LOCK} bytes at most, found {}", content.len());
            return Err(SchemaError::at_line(1, message));
        }
        let text = std::str::from_utf8(content).map_err(|fault| {
            let good = content.get(..fault.valid_up_to()).unwrap_or_default();
            let lines = good.split(|byte| *byte == b'\n');
            let (line, column) = lines.zip(1..).last().map_or((1, 1), |(start, line)| (line, start.len() + 1));
            SchemaError::at_line(line, format!("expected UTF-8 at byte {column} of it"))
        })?;
        if text.lines().next() != Some(SchemaLock::FIRST_LINE) {
            return Err(SchemaError::at_line(1, format!("expected `{}`", SchemaLock::FIRST_LINE)));
        }
        let providers = SettledNames::read_merged(text)?;
        let layout = text.lines().zip(1..).find(|(line, _)| line.starts_with("LE\t") || line.starts_with("LV\t"));
        if let Some((_, number)) = layout {
            let message = "a lock settles names: which layout an event has its trace says, or the program".to_owned();
            return Err(SchemaError::at_line(number, message));
        }
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| line.starts_with("N\t")) {
            let path = line.split('\t').nth(1).unwrap_or_default();
            let depth = path.split('.').count() - 1;
            if depth > MAX_DEPTH {
                let message =
                    format!("column 3: expected {MAX_DEPTH} structures around a member at most, found {depth}");
                return Err(SchemaError::at_line(number, message));
            }
        }
        Ok(SchemaLock::new(providers))
    }

    /// The names of a provider.
    pub fn names(&self, provider: &Guid) -> Option<&Arc<SettledNames>> {
        self.providers.get(provider)
    }

    /// All providers with their names, by GUID.
    pub fn providers(&self) -> impl Iterator<Item = (&Guid, &Arc<SettledNames>)> {
        self.providers.iter()
    }

    /// How many providers it settles.
    pub fn len(&self) -> usize {
        self.providers.len()
    }

    /// Whether it settles nothing.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// The content of a lock file: the same for the same names.
    pub fn text(&self) -> String {
        let providers = self.providers.iter().map(|(provider, names)| format!("\n{}", names.lines(provider)));
        format!("{}\n{}", SchemaLock::FIRST_LINE, providers.collect::<String>())
    }

    /// What distinguishes these names from any others, whatever comments stand beside them.
    pub fn hash(&self) -> String {
        blake3::hash(self.text().as_bytes()).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_LINE: &str = SchemaLock::FIRST_LINE;

    const LOCK: &str = "# etl2parquet schema lock, format 1\n\n\
                        P\t11111111-2222-3333-4444-555555555555\tLab\nN\tS\tstruct\nN\tS.a\tint\nE\t1\t0\tGo\n\n\
                        P\t21111111-2222-3333-4444-555555555555\tShop\nN\tAmount\ttext\tint\n";

    #[test]
    fn a_lock_is_read_and_written_again() {
        let lock = SchemaLock::read(LOCK.as_bytes()).unwrap();
        assert_eq!((lock.text().as_str(), lock.len()), (LOCK, 2));
        let commented = LOCK.replace("N\tAmount", "# money\nN\tAmount");
        assert_eq!(SchemaLock::read(commented.as_bytes()).unwrap().hash(), lock.hash());
        let other = SchemaLock::read(LOCK.replace("text\tint", "int\ttext").as_bytes()).unwrap();
        assert_ne!(other.hash(), lock.hash());
        let shop = "21111111-2222-3333-4444-555555555555".parse().unwrap();
        assert_eq!(lock.names(&shop).unwrap().folder, "Shop");
        assert!(lock.names(&Guid::ZERO).is_none());
    }

    #[test]
    fn one_lock_behind_another_is_a_lock() {
        let read = |text: &str| SchemaLock::read(text.as_bytes()).map_err(|fault| fault.to_string());
        let whole = read(LOCK).unwrap();
        assert_eq!(read(&format!("{LOCK}{LOCK}")).unwrap(), whole);
        let (lab, shop) = LOCK.split_once("\n\nP\t2").unwrap();
        let (lab, shop) = (format!("{lab}\n"), format!("{FIRST_LINE}\n\nP\t2{shop}"));
        assert_eq!(read(&format!("{shop}{lab}")).unwrap(), whole);
        // What each says of one provider is said of it.
        let more = shop.replace("N\tAmount\ttext\tint", "N\tAmount\ttext/value/label\tbool\nE\t1\t1\tGo\nE\t2\t0");
        let both = "N\tAmount\ttext/value/label\tint\tbool\nE\t1\t1\tGo\n";
        assert_eq!(read(&format!("{LOCK}{more}")).unwrap().text(), LOCK.replace("N\tAmount\ttext\tint\n", both));
        let contradiction =
            |line: &str| format!("line 14: not a line of the format, or one that contradicts an earlier one: `{line}`");
        for line in ["N\tamount\ttext", "N\tAmount\tint\ttext"] {
            let other = shop.replace("N\tAmount\ttext\tint", line);
            assert_eq!(read(&format!("{LOCK}# more\n{other}")).unwrap_err(), contradiction(line));
        }
        let other = format!("{LOCK}{}", shop.replace("Shop", "Store"));
        let guid = "21111111-2222-3333-4444-555555555555";
        let expected = format!("line 12: provider {guid} has no folder, or another one in an earlier line");
        assert_eq!(read(&other).unwrap_err(), expected);
        let other = format!("{LOCK}{}E\t1\t0-1\tWent\n", lab.replace("E\t1\t0\tGo\n", ""));
        assert!(read(&other).unwrap_err().starts_with("line 15: not a line of the format"));
    }

    #[test]
    fn a_folder_has_one_provider() {
        let same = SchemaLock::read(LOCK.replace("Lab", "shop").as_bytes()).unwrap();
        let folders: Vec<_> = same.providers().map(|(_, names)| names.folder.clone()).collect();
        assert_eq!(folders, ["shop", "Shop~21111111"]);
        assert_eq!(SchemaLock::read(same.text().as_bytes()).unwrap(), same);
    }

    #[test]
    fn what_is_no_lock_is_reported_with_its_place() {
        let fault = |content: &[u8]| SchemaLock::read(content).unwrap_err().to_string();
        assert_eq!(fault(b""), format!("line 1: expected `{FIRST_LINE}`"));
        assert_eq!(fault(b"# etl2parquet schema lock, format 2\n"), format!("line 1: expected `{FIRST_LINE}`"));
        assert_eq!(fault(b"# x\nab\xFF"), "line 2: expected UTF-8 at byte 3 of it");
        let deep = format!("{LOCK}N\tA{}\tint\n", ".a".repeat(33));
        assert_eq!(
            fault(deep.as_bytes()),
            "line 10: column 3: expected 32 structures around a member at most, found 33"
        );
        assert_eq!(
            fault(format!("{LOCK}LE\t1\t0\tA int\n").as_bytes()),
            "line 10: a lock settles names: which layout an event has its trace says, or the program"
        );
        assert_eq!(fault(&vec![b'#'; MAX_LOCK + 1]), "line 1: expected 67108864 bytes at most, found 67108865");
    }
}
