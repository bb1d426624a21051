//! The events of a file: classes with `EventType`, below classes with a `Guid`, below the class of a provider.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::guid::Guid;

use super::faults::{Faults, quoted};
use super::field::{self, Layout};
use super::syntax::{self, Class};
use super::tokens::number;
use crate::budget::Budget;
use crate::manifest::{ManifestEvent, Provenance, ProviderSchemas};
use crate::model::{EventSchema, Field, SchemaError};
use crate::pack::standard_type;
use crate::text;
use crate::trust::Trust;
use crate::types;

/// The class from which all classes of events derive.
const ROOT: &str = "EventTrace";
/// Classes that one may derive from, one from the other.
const MAX_DEPTH: usize = 32;
/// What the declarations of a file may take, and as much what is made of them; many times what those of Windows need.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// What one file declares.
#[derive(Clone, Debug, Default)]
pub struct Mof {
    /// The classes of events, by GUID. Of their events `id` is the opcode.
    pub classes: Vec<ProviderSchemas>,
    /// What was rejected, with its line; the rest stands.
    pub rejected: Vec<SchemaError>,
}

impl Mof {
    /// The longest file that is read, in bytes.
    pub const MAX_BYTES: usize = 16 << 20;

    /// Reads MOF in UTF-8, UTF-16 or code page 1252.
    pub fn parse(bytes: &[u8]) -> Mof {
        let mut faults = Faults::default();
        let text = text::decode(bytes);
        let declared = syntax::classes(&text, Budget::new(MAX_KEPT_BYTES), &mut faults);
        let mut reader = Reader::new(&declared, faults);
        for class in &declared {
            if class.qualifiers.values("EventType").is_some() {
                reader.events(class);
            }
        }
        let Reader { found, faults, .. } = reader;
        let classes = found.into_values().map(|found| found.schemas);
        Mof { classes: classes.map(sorted).collect(), rejected: faults.into_list() }
    }
}

/// A class with the events that are found of it.
struct Found {
    schemas: ProviderSchemas,
    /// The version that gave it its name: the newest.
    version: u64,
}

/// Where the events of a class belong.
struct Family<'a> {
    guid: Guid,
    /// The nearest class with a GUID.
    class: &'a Class<'a>,
    /// The class that derives from `EventTrace`.
    provider: &'a Class<'a>,
}

struct Reader<'a> {
    by_name: HashMap<String, &'a Class<'a>>,
    /// By GUID, the highest version that a class declares.
    versions: HashMap<Guid, u64>,
    found: BTreeMap<Guid, Found>,
    budget: Budget,
    faults: Faults,
}

impl<'a> Reader<'a> {
    fn new(declared: &'a [Class<'a>], mut faults: Faults) -> Reader<'a> {
        let (mut by_name, mut versions) = (HashMap::new(), HashMap::new());
        for class in declared {
            let folded = class.name.to_ascii_lowercase();
            if by_name.contains_key(&folded) {
                faults.report(class.line, format!("expected one class {}, found another", quoted(class.name)));
            }
            by_name.entry(folded).or_insert(class);
            if let Some((guid, version)) = guid(class).zip(class.qualifiers.number("EventVersion")) {
                let highest = versions.entry(guid).or_insert(version);
                *highest = version.max(*highest);
            }
        }
        Reader { by_name, versions, found: BTreeMap::new(), budget: Budget::new(MAX_KEPT_BYTES), faults }
    }

    /// Adds the events of a class.
    fn events(&mut self, class: &'a Class<'a>) {
        let family = match self.family(class) {
            Ok(family) => family,
            Err(reason) => return self.faults.report(class.line, reason),
        };
        let declared = self.version(&family);
        let Ok(version) = u8::try_from(declared) else {
            return self.faults.report(class.line, format!("expected a version of 8 bits, found {declared}"));
        };
        let layout = field::layout(class, &mut self.faults);
        for (opcode, name) in self.opcodes(class) {
            self.event(class, &family, (opcode, version), name, &layout);
        }
    }

    fn event(
        &mut self,
        class: &Class<'_>,
        family: &Family<'_>,
        (opcode, version): (u8, u8),
        name: Option<String>,
        layout: &Layout,
    ) {
        let display = display_name(family.class);
        let opcode_name = name.or_else(|| standard_type(opcode).map(str::to_owned));
        let names = display.len().saturating_mul(2).saturating_add(opcode_name.as_ref().map_or(0, String::len));
        let fields: usize = layout.fields.iter().map(Field::footprint).sum();
        let wanted = size_of::<ManifestEvent>() + size_of::<EventSchema>();
        if !self.budget.take(wanted.saturating_add(names.saturating_mul(2)).saturating_add(fields)) {
            let reason = format!("expected a file that needs less memory: event {opcode} is left out");
            return self.faults.report(class.line, reason);
        }
        let schema = EventSchema {
            event_name: types::event_name(Some(&display), opcode_name.as_deref()),
            task_name: Some(display),
            opcode_name,
            keyword_names: Vec::new(),
            fields: layout.fields.clone(),
        };
        let level = class.qualifiers.number("EventLevel").and_then(|level| u8::try_from(level).ok());
        let event = ManifestEvent {
            id: opcode.into(),
            version,
            channel: None,
            level: level.unwrap_or(0),
            opcode,
            task: 0,
            keywords: 0,
            symbol: None,
            message: None,
            trust: if layout.is_doubtful { Trust::Doubtful } else { Trust::Declared },
            schema: Arc::new(schema),
            provenance: Provenance::default(),
        };
        self.found_of(family, version.into()).schemas.events.push(event);
    }

    /// The class that events belong to; it is called as its newest version is.
    fn found_of(&mut self, family: &Family<'_>, version: u64) -> &mut Found {
        let new = || {
            let schemas = ProviderSchemas { guid: family.guid, ..ProviderSchemas::default() };
            Found { schemas, version }
        };
        let found = self.found.entry(family.guid).or_insert_with(new);
        if found.schemas.name.is_empty() || version > found.version {
            found.version = version;
            found.schemas.name = name(family);
            found.schemas.control = guid(family.provider).filter(|guid| *guid != family.guid);
        }
        found
    }

    /// The classes that a class derives from, and what their events are known by.
    fn family(&self, class: &'a Class<'a>) -> Result<Family<'a>, String> {
        let mut own = None;
        let mut at = class;
        for _ in 0..MAX_DEPTH {
            own = own.or_else(|| guid(at).map(|guid| (guid, at)));
            let base = at.base.filter(|base| !base.eq_ignore_ascii_case(ROOT));
            // A base that another file declares is of no use here.
            let Some(base) = base.and_then(|base| self.by_name.get(&base.to_ascii_lowercase())) else {
                let none = || format!("expected a Guid on {} or a class that it derives from", quoted(class.name));
                let (guid, class) = own.ok_or_else(none)?;
                return Ok(Family { guid, class, provider: at });
            };
            at = base;
        }
        Err(format!("expected {} to derive from at most {MAX_DEPTH} classes", quoted(class.name)))
    }

    /// The version of a class. One without is the newest.
    fn version(&self, family: &Family<'_>) -> u64 {
        let declared = family.class.qualifiers.number("EventVersion");
        declared.unwrap_or_else(|| self.versions.get(&family.guid).map_or(0, |highest| highest.saturating_add(1)))
    }

    /// The opcodes of a class, with their names.
    fn opcodes(&mut self, class: &Class<'_>) -> Vec<(u8, Option<String>)> {
        let values = class.qualifiers.values("EventType").unwrap_or_default();
        let names = class.qualifiers.values("EventTypeName").unwrap_or_default();
        if !names.is_empty() && names.len() != values.len() {
            let reason = format!("expected a name for each of {} event types, found {}", values.len(), names.len());
            self.faults.report(class.line, reason);
        }
        let mut opcodes: Vec<(u8, Option<String>)> = Vec::new();
        for (place, value) in values.iter().enumerate() {
            let Some(opcode) = number(value).and_then(|value| u8::try_from(value).ok()) else {
                let reason = format!("expected an event type of 8 bits, found \"{}\"", quoted(value));
                self.faults.report(class.line, reason);
                continue;
            };
            // No more than there are opcodes, whatever the file says.
            if !opcodes.iter().any(|(known, _)| *known == opcode) {
                let name = names.get(place).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
                opcodes.push((opcode, name));
            }
        }
        opcodes
    }
}

fn guid(class: &Class<'_>) -> Option<Guid> {
    class.qualifiers.text("Guid")?.parse().ok()
}

/// What stands before the slash in the names of events.
fn display_name(class: &Class<'_>) -> String {
    let name = class.qualifiers.text("DisplayName").filter(|name| !name.is_empty());
    name.unwrap_or(class.name).to_owned()
}

/// What a class of events is called: its provider and itself.
fn name(family: &Family<'_>) -> String {
    let own = display_name(family.class);
    if std::ptr::eq(family.class, family.provider) { own } else { format!("{}-{own}", family.provider.name) }
}

/// The events by opcode and version.
fn sorted(mut schemas: ProviderSchemas) -> ProviderSchemas {
    schemas.events.sort_by_key(|event| (event.id, event.version));
    schemas
}
