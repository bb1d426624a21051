//! A schema lock: names of columns and events of providers that describe themselves, settled by the user once for all traces.
//!
//! The text is that of [`SettledNames`] behind a first line that names the format; providers are sorted by GUID. It is meant
//! to be read, kept with other sources and merged line by line.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::model::SchemaError;
use super::settled::SettledNames;
use crate::guid::Guid;

/// The settled names of any number of providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaLock {
    providers: BTreeMap<Guid, Arc<SettledNames>>,
}

/// The first line of a lock.
const FIRST_LINE: &str = "# etl2parquet schema lock, format 1";

/// Bytes of the longest lock that is read.
pub const MAX_LOCK: usize = 64 << 20;

/// Structures that may stand around a member.
const MAX_DEPTH: usize = 16;

impl SchemaLock {
    /// A lock of these names.
    pub fn new(providers: impl IntoIterator<Item = (Guid, SettledNames)>) -> SchemaLock {
        let providers = providers.into_iter().map(|(provider, names)| (provider, Arc::new(names)));
        SchemaLock { providers: providers.collect() }
    }

    /// Reads the content of a lock file.
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
        if text.lines().next() != Some(FIRST_LINE) {
            return Err(SchemaError::at_line(1, format!("expected `{FIRST_LINE}`")));
        }
        let providers = SettledNames::read(text)?;
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
        format!("{FIRST_LINE}\n{}", providers.collect::<String>())
    }

    /// What tells these names from any others, whatever comments stand beside them.
    pub fn hash(&self) -> String {
        blake3::hash(self.text().as_bytes()).to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_is_no_lock_is_told_with_its_place() {
        let fault = |content: &[u8]| SchemaLock::read(content).unwrap_err().to_string();
        assert_eq!(fault(b""), format!("line 1: expected `{FIRST_LINE}`"));
        assert_eq!(fault(b"# etl2parquet schema lock, format 2\n"), format!("line 1: expected `{FIRST_LINE}`"));
        assert_eq!(fault(b"# x\nab\xFF"), "line 2: expected UTF-8 at byte 3 of it");
        let deep = format!("{LOCK}N\tA{}\tint\n", ".a".repeat(17));
        assert_eq!(
            fault(deep.as_bytes()),
            "line 10: column 3: expected 16 structures around a member at most, found 17"
        );
        assert_eq!(
            fault(format!("{LOCK}LE\t1\t0\tA int\n").as_bytes()),
            "line 10: a lock settles names: which layout an event has its trace says, or the program"
        );
        assert_eq!(fault(&vec![b'#'; MAX_LOCK + 1]), "line 1: expected 67108864 bytes at most, found 67108865");
    }
}
