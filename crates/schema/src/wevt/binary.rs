//! What a binary declares, taken out of its resources.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use etl::input::{Input, LocalFile, MemoryInput};
use symbols::{Image, Resource, ResourceName, Resources};

use super::beside;
use super::extract::{Extract, Part, PartType};
use super::language;

/// What is said of a binary that declares no events.
pub const WITHOUT_EVENTS: &str = "expected a binary with the resource WEVT_TEMPLATE, found one that declares no events";

/// The type of message tables.
const MESSAGE_TABLE: u32 = 11;
const TEMPLATE: &str = "WEVT_TEMPLATE";

/// A part with its bytes.
type OwnPart = (PartType, u16, Vec<u8>);

/// The resources of a binary (`exe`, `dll`, `sys`, `mui`) that declare events, and those with their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binary {
    templates: Vec<OwnPart>,
    messages: Vec<OwnPart>,
}

impl Binary {
    /// The first bytes of every binary.
    pub const SIGN: &'static [u8] = Image::SIGN;

    /// Reads the file at a path, by position, and its texts in another file beside it.
    ///
    /// # Errors
    /// The reason why it cannot be used: the system cannot read it, it is no binary, or it declares no events.
    pub fn open(path: &Path) -> Result<Binary, String> {
        let mut binary = Binary::read(&local(path)?)?;
        if binary.declares_events()
            && let Some(texts) = beside::texts_of(path)
            // What cannot be read has no texts.
            && let Ok(texts) = local(&texts).and_then(|file| Binary::read(&file))
        {
            binary.messages.extend(texts.messages);
        }
        Ok(binary)
    }

    /// Reads a file that is in memory.
    ///
    /// # Errors
    /// Those of [`Binary::read`].
    pub fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Binary, String> {
        Binary::read(&MemoryInput::new(name, bytes))
    }

    /// Reads an input. One that has no resources takes two reads, one without templates not many more.
    ///
    /// # Errors
    /// The reason why it is no binary, or cannot be read.
    pub fn read(input: &dyn Input) -> Result<Binary, String> {
        let reason = |reason: symbols::Reason| reason.to_string();
        let image = Image::read(input).map_err(reason)?;
        let Some(resources) = Resources::read(&image, input).map_err(reason)? else { return Ok(Binary::default()) };
        let mut left = Extract::MAX_BYTES;
        let mut taken = |name: ResourceName, kind: PartType| -> Result<Vec<OwnPart>, String> {
            let mut parts = Vec::new();
            for one in in_best_language(resources.of_type(&name).map_err(reason)?) {
                let bytes = resources.bytes(&one, left).map_err(reason)?;
                left = left.saturating_sub(bytes.len());
                parts.push((kind, one.language, bytes));
            }
            Ok(parts)
        };
        let templates = taken(ResourceName::Text(TEMPLATE.to_owned()), PartType::Template)?;
        let messages = taken(ResourceName::Number(MESSAGE_TABLE), PartType::Messages)?;
        Ok(Binary { templates, messages })
    }

    /// Whether it has templates of events.
    pub fn declares_events(&self) -> bool {
        !self.templates.is_empty()
    }

    /// Bytes of its resources.
    pub fn footprint(&self) -> usize {
        self.templates.iter().chain(&self.messages).map(|(_, _, bytes)| bytes.len()).sum()
    }

    /// Adds to the binaries of an archive, by their names, the texts in files beside each, and leaves out what declares no events.
    pub fn join(mut all: BTreeMap<String, Binary>) -> BTreeMap<String, Binary> {
        let texts = texts_of(&all);
        let declaring = all.iter().filter(|(_, binary)| binary.declares_events());
        let texts_of = |name: &String| texts.get(&name.to_ascii_lowercase()).and_then(|(_, member)| all.get(member));
        let added: Vec<_> = declaring
            .map(|(name, _)| (name.clone(), texts_of(name).map_or_else(Vec::new, |texts| texts.messages.clone())))
            .collect();
        let joined = added.into_iter().filter_map(|(name, texts)| {
            let mut binary = all.remove(&name)?;
            binary.messages.extend(texts);
            Some((name, binary))
        });
        joined.collect()
    }

    /// What is kept of it, as an [`Extract`].
    ///
    /// # Errors
    /// [`WITHOUT_EVENTS`] when it declares none.
    pub fn extract(&self) -> Result<Vec<u8>, String> {
        if !self.declares_events() {
            return Err(WITHOUT_EVENTS.to_owned());
        }
        let parts = self.templates.iter().chain(&self.messages).take(Extract::MAX_PARTS);
        let parts = parts.map(|(kind, language, bytes)| Part { kind: *kind, language: *language, bytes });
        let file = Extract { parts: parts.collect() }.to_bytes();
        if file.len() > Extract::MAX_BYTES {
            return Err(format!("expected resources of at most {} bytes, found {}", Extract::MAX_BYTES, file.len()));
        }
        Ok(file)
    }
}

/// By the names of binaries, in lower case, the member of an archive that has the texts of each.
fn texts_of(all: &BTreeMap<String, Binary>) -> HashMap<String, ((u8, String), String)> {
    let mut texts: HashMap<String, ((u8, String), String)> = HashMap::new();
    for member in all.keys() {
        let Some((binary, rank)) = beside::binary_of(member) else { continue };
        let found = (rank, member.clone());
        let best = texts.entry(binary).or_insert_with(|| found.clone());
        if found < *best {
            *best = found;
        }
    }
    texts
}

/// Of each name the resource in the language that is taken.
fn in_best_language(mut all: Vec<Resource>) -> Vec<Resource> {
    all.sort_by_cached_key(|one| (one.name.clone(), language::rank(one.language)));
    all.dedup_by(|later, first| later.name == first.name);
    all
}

fn local(path: &Path) -> Result<LocalFile, String> {
    LocalFile::open(path).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{}{cause}", error.message())
    })
}
