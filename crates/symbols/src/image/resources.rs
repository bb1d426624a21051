//! The resources of a program: a tree of type, name and language.

use std::collections::BTreeMap;

use etl::input::Input;

use super::headers::Image;
use crate::bytes::{Bytes, from};
use crate::found::{Readable, Reason};

/// The number of the directory of resources.
const DIRECTORY: usize = 2;
/// Bytes of the tree that are read at a time.
const WINDOW: usize = 4096;
/// Bytes of a directory before its entries, and of an entry.
const HEAD: usize = 16;
const ENTRY: usize = 8;
/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = (WINDOW - HEAD) / ENTRY;
/// Names of a type, and languages of a name, that are looked at.
const MOST_NAMES: usize = 64;
/// The bit that says that an entry has a name, not a number; and that behind it there is a directory, not data.
const HIGH: u32 = 1 << 31;

/// What a type or a resource is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceName {
    /// A name.
    Text(String),
    /// A number.
    Number(u32),
}

/// A resource in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// What it is called.
    pub name: ResourceName,
    /// Its language (`LANGID`), 0 where it has none.
    pub language: u16,
    /// Where its bytes lie in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
}

/// The resources of a program; the types that it has are read.
#[derive(Debug)]
pub struct Resources<'a> {
    input: &'a dyn Input,
    image: &'a Image,
    /// Where the tree lies in the file.
    root: u64,
    /// The types, with the places of their directories in the tree.
    types: Vec<(ResourceName, u32)>,
}

impl<'a> Resources<'a> {
    /// Reads which types of resources a program has: with one read, where types have names with one more as a rule. `None`
    /// where it has no resources.
    ///
    /// # Errors
    /// When the system cannot read them.
    pub fn read(image: &'a Image, input: &'a dyn Input) -> Readable<Option<Resources<'a>>> {
        let (address, _len) = image.directory(DIRECTORY);
        let Some(root) = image.offset_of(address).filter(|_| address != 0) else { return Ok(None) };
        let mut resources = Resources { input, image, root: root.into(), types: Vec::new() };
        resources.types = resources.directory(0, MOST_ENTRIES)?;
        Ok(Some(resources))
    }

    /// The resources of a type, by the order of their names and languages in the file.
    ///
    /// # Errors
    /// When the system cannot read them.
    pub fn of_type(&self, wanted: &ResourceName) -> Readable<Vec<Resource>> {
        let mut found = Vec::new();
        let Some(&(_, names)) = self.types.iter().find(|(name, _)| name == wanted) else { return Ok(found) };
        for (name, languages) in self.below(names, MOST_NAMES)? {
            for (language, data) in self.below(languages, MOST_NAMES)? {
                let ResourceName::Number(language) = language else { continue };
                found.extend(self.resource(name.clone(), language, data)?);
            }
        }
        Ok(found)
    }

    /// The bytes of a resource, as far as they are in the file.
    ///
    /// # Errors
    /// When there are more than `limit`, or the system cannot read them.
    pub fn bytes(&self, resource: &Resource, limit: usize) -> Readable<Vec<u8>> {
        let len = usize::try_from(resource.len).unwrap_or(usize::MAX);
        if len > limit {
            return Err(Reason::damaged(format!("expected a resource of at most {limit} bytes, found {len}")));
        }
        let mut bytes = Vec::new();
        self.input.bytes(resource.offset, len, &mut bytes)?;
        Ok(bytes)
    }

    fn resource(&self, name: ResourceName, language: u32, data: u32) -> Readable<Option<Resource>> {
        let mut scratch = Vec::new();
        let mut entry = Bytes(self.input.bytes(self.root.saturating_add(data.into()), 16, &mut scratch)?);
        let Some((address, len)) = entry.u32().zip(entry.u32()) else { return Ok(None) };
        let offset = self.image.offset_of(address).map(u64::from);
        Ok(offset.and_then(|offset| Some(Resource { name, language: u16::try_from(language).ok()?, offset, len })))
    }

    /// The entries of a directory that an entry leads to; none where it leads to data.
    fn below(&self, entry: u32, most: usize) -> Readable<Vec<(ResourceName, u32)>> {
        if entry & HIGH == 0 { Ok(Vec::new()) } else { self.directory(entry & !HIGH, most) }
    }

    /// The entries of the directory at a place in the tree, with what each leads to.
    fn directory(&self, at: u32, most: usize) -> Readable<Vec<(ResourceName, u32)>> {
        let mut scratch = Vec::new();
        let window = self.input.bytes(self.root.saturating_add(at.into()), WINDOW, &mut scratch)?;
        let mut head = Bytes(window);
        let counts = head.skip(12).and_then(|()| head.u16().zip(head.u16()));
        let Some((named, numbered)) = counts else { return Ok(Vec::new()) };
        let count = (usize::from(named) + usize::from(numbered)).min(most);
        let entries: Vec<_> = (0..count).map_while(|_| head.u32().zip(head.u32())).collect();
        let names = self.names(&entries, (at, window))?;
        let named = entries.into_iter().filter_map(|(name, target)| {
            let name = if name & HIGH == 0 { ResourceName::Number(name) } else { names.get(&name)?.clone() };
            Some((name, target))
        });
        Ok(named.collect())
    }

    /// The names of entries, by the places that stand for them; in as few reads as they take, since they lie beside each other.
    fn names(&self, entries: &[(u32, u32)], (at, read): (u32, &[u8])) -> Readable<BTreeMap<u32, ResourceName>> {
        let mut wanted: Vec<u32> = entries.iter().map(|&(name, _)| name).filter(|name| name & HIGH != 0).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let (mut window, mut start) = (read.to_vec(), at);
        let mut names = BTreeMap::new();
        for name in wanted {
            let place = name & !HIGH;
            let within = |start: u32, window: &[u8]| text(from(window, place.checked_sub(start)?)?);
            let mut found = within(start, &window);
            if found.is_none() {
                start = place;
                window.clear();
                let len = self.input.bytes(self.root.saturating_add(place.into()), WINDOW, &mut window)?.len();
                window.truncate(len);
                found = within(start, &window);
            }
            names.extend(found.map(|text| (name, ResourceName::Text(text))));
        }
        Ok(names)
    }
}

/// A name: the number of its UTF-16 units, then these. `None` where they are cut off.
fn text(mut bytes: Bytes<'_>) -> Option<String> {
    let len = bytes.u16()?;
    let (units, _) = bytes.take(usize::from(len) * 2)?.as_chunks::<2>();
    let units = units.iter().map(|&unit| u16::from_le_bytes(unit));
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
