//! What the trace says of the binaries that wrote it: their symbol files and where they lay.
//!
//! A session notes the symbol file of a traced binary in events of the trace's own class, and merging tools note those
//! of all loaded images. Whoever looks for the format of a WPP message needs their names.

use std::collections::{BTreeMap, BTreeSet};

use base::guid::Guid;
use etl::event::EventIdentity;
use etl::layout::kernel::{self, GROUP_EVENT_TRACE, event_trace, image_id};

use super::samples::Sample;

/// Symbol files beyond which none is named: the one that is wanted would not be found among them.
const FEW: usize = 8;

/// Symbol files and paths of traced binaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Images {
    symbols: BTreeSet<String>,
    paths: BTreeMap<Guid, String>,
    /// Whether there are more than the samples describe.
    has_more: bool,
}

impl Images {
    /// Takes note of what the events of a shape record; `events` is how many there are.
    pub fn read(&mut self, identity: &EventIdentity, samples: &[Sample], events: u64) {
        let payloads = || samples.iter().map(|sample| sample.payload.as_slice());
        let is_own = identity.family.is_kernel() && identity.group == GROUP_EVENT_TRACE;
        // In front of the signature (GUID and age) stand the image's base and its process, in front of the name both.
        let before_name = match identity.opcode {
            event_trace::SYMBOL_FILE if is_own => 20,
            image_id::RSDS | image_id::IL_RSDS if identity.provider == kernel::IMAGE_ID_CLASS => {
                usize::from(identity.pointer_size) + 24
            }
            event_trace::BINARY_PATH if is_own => {
                payloads().filter_map(binary_path).for_each(|(guids, path)| {
                    guids.into_iter().for_each(|guid| {
                        self.paths.entry(guid).or_insert_with(|| path.clone());
                    });
                });
                return;
            }
            _ => return,
        };
        self.has_more |= samples.len() as u64 != events;
        self.symbols.extend(payloads().filter_map(|payload| symbol_file(payload, before_name)));
    }

    /// The names of the symbol files, where they are all known and few.
    pub fn symbol_files(&self) -> Option<String> {
        let is_known = !self.has_more && (1..=FEW).contains(&self.symbols.len());
        is_known.then(|| self.symbols.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
    }

    /// Where the binary of a provider lay.
    pub fn path(&self, provider: &Guid) -> Option<&str> {
        self.paths.get(provider).map(String::as_str)
    }
}

/// The name of a symbol file without its folders.
fn symbol_file(payload: &[u8], before: usize) -> Option<String> {
    let name = payload.get(before..)?.split(|&byte| byte == 0).next()?;
    let name = String::from_utf8_lossy(name);
    let name = name.rsplit(['\\', '/']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// The providers of a binary and its path: number, GUIDs, text.
fn binary_path(payload: &[u8]) -> Option<(Vec<Guid>, String)> {
    let (count, rest) = payload.split_first_chunk()?;
    let len = usize::try_from(u32::from_le_bytes(*count)).ok()?.checked_mul(16)?;
    let (guids, path) = rest.split_at_checked(len)?;
    let units = path.as_chunks().0.iter().map(|&unit| u16::from_le_bytes(unit));
    let path =
        char::decode_utf16(units.take_while(|&unit| unit != 0)).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some((guids.as_chunks().0.iter().map(|&guid| Guid(guid)).collect(), path.collect()))
}

#[cfg(test)]
mod tests {
    use etl::layout::header::HeaderFamily;

    use super::*;

    fn identity(family: HeaderFamily, provider: Guid, opcode: u8) -> EventIdentity {
        let group = GROUP_EVENT_TRACE;
        EventIdentity { provider, group, id: 0, version: 2, opcode, property: 0, pointer_size: 8, family }
    }

    fn samples(payloads: &[Vec<u8>]) -> Vec<Sample> {
        let sample = |payload: &Vec<u8>| Sample {
            payload: payload.clone(),
            process_id: None,
            string_only: false,
            traits: None,
            task: None,
        };
        payloads.iter().map(sample).collect()
    }

    fn named(before: usize, name: &str) -> Vec<u8> {
        [&vec![7; before][..], name.as_bytes(), b"\0rest"].concat()
    }

    #[test]
    fn symbol_files_are_named_while_they_are_few() {
        let own = identity(HeaderFamily::PerfInfo64, kernel::EVENT_TRACE_CLASS, 0x40);
        let image = identity(HeaderFamily::Classic64, kernel::IMAGE_ID_CLASS, 36);
        let mut found = Images::default();
        assert_eq!(found.symbol_files(), None);
        let payloads = [named(20, "b.pdb"), named(20, "C:\\x\\a.pdb"), vec![7; 20], vec![7; 3]];
        found.read(&own, &samples(&payloads), 4);
        found.read(&image, &samples(&[named(32, "d:/c.pdb")]), 1);
        assert_eq!(found.symbol_files().as_deref(), Some("a.pdb, b.pdb, c.pdb"));
        let mut too_many = found.clone();
        let payloads: Vec<_> = (0..6).map(|number| named(20, &format!("{number}.pdb"))).collect();
        too_many.read(&own, &samples(&payloads), 6);
        assert_eq!(too_many.symbol_files(), None);
        found.read(&image, &samples(&[named(32, "c.pdb")]), 65);
        assert_eq!(found.symbol_files(), None);
    }

    #[test]
    fn a_binary_has_several_providers() {
        let own = identity(HeaderFamily::PerfInfo64, kernel::EVENT_TRACE_CLASS, 0x43);
        let guids = [[1; 16], [2; 16]];
        let path: Vec<u8> = "C:\\é.sys\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let payload = [&2u32.to_le_bytes()[..], &guids.concat(), &path].concat();
        let mut found = Images::default();
        found.read(&own, &samples(&[payload, vec![255; 40], vec![1]]), 3);
        assert_eq!(found.path(&Guid([2; 16])), Some("C:\\é.sys"));
        assert_eq!(found.path(&Guid([3; 16])), None);
        assert_eq!(found.symbol_files(), None);
    }
}
