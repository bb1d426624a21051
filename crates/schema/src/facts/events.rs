//! Events of a document as those of a manifest.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use super::fields::{FieldIn, FieldReader, Maps, shown, take};
use crate::budget::Budget;
use crate::manifest::{ManifestEvent, Provenance};
use crate::model::EventSchema;
use crate::trust::Trust;

/// One version of an event as a document has it.
#[derive(Deserialize)]
pub(super) struct EventIn<'a> {
    pub(super) id: u16,
    pub(super) version: u16,
    #[serde(flatten)]
    facts: FactsIn,
    #[serde(default, borrow)]
    layouts: Vec<LayoutIn<'a>>,
}

/// What a document says of an event beside its layouts.
#[derive(Clone, Default, Deserialize)]
struct FactsIn {
    name: Option<String>,
    level: Option<u8>,
    channel: Option<u8>,
    task: Option<String>,
    task_value: Option<u16>,
    opcode: Option<String>,
    opcode_value: Option<u8>,
    #[serde(default)]
    keywords: Vec<String>,
    keyword_mask: Option<String>,
    symbol: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct LayoutIn<'a> {
    trust: Option<Box<str>>,
    build: Option<u32>,
    /// What is said of the event where this comes from, where that differs.
    event: Option<Box<FactsIn>>,
    #[serde(default, borrow)]
    fields: Option<Vec<FieldIn<'a>>>,
}

impl EventIn<'_> {
    /// What the event is called in messages.
    pub(super) fn label(&self) -> String {
        format!("event {} version {}", self.id, self.version)
    }

    /// The event by each of its layouts, in their order.
    ///
    /// # Errors
    /// What is wrong with the first that cannot be used.
    pub(super) fn read(self, maps: &mut Maps, budget: &mut Budget) -> Result<Vec<ManifestEvent>, String> {
        let version = u8::try_from(self.version)
            .map_err(|_| format!("expected a version of at most 255, found {}", self.version))?;
        let mut all = Vec::new();
        for layout in self.layouts {
            let facts = layout.event.as_deref().unwrap_or(&self.facts);
            take(budget, size_of::<ManifestEvent>() + size_of::<EventSchema>() + facts.footprint())?;
            let fields = layout.fields.ok_or("expected the key fields in each of its layouts, found none")?;
            let fields = FieldReader::new(maps, budget).read(fields)?;
            let trust = trust(layout.trust.as_deref())?;
            let provenance = Provenance { build: layout.build, is_unnumbered: facts.is_unnumbered() };
            all.push(facts.event((self.id, version), trust, provenance, fields)?);
        }
        Ok(all)
    }
}

impl FactsIn {
    fn footprint(&self) -> usize {
        let texts = [&self.name, &self.task, &self.opcode, &self.symbol, &self.message];
        let keywords = self.keywords.iter().map(|name| size_of::<String>() + name.len());
        texts.into_iter().flatten().map(String::len).sum::<usize>() + keywords.sum::<usize>()
    }

    fn is_unnumbered(&self) -> bool {
        self.task_value.is_none() || self.opcode_value.is_none()
    }

    fn event(
        &self,
        (id, version): (u16, u8),
        trust: Trust,
        provenance: Provenance,
        fields: Vec<crate::model::Field>,
    ) -> Result<ManifestEvent, String> {
        let keywords = self.keyword_mask.as_deref().map(mask).transpose()?;
        let schema = EventSchema {
            event_name: self.name.clone(),
            task_name: self.task.clone(),
            opcode_name: self.opcode.clone(),
            keyword_names: self.keywords.clone(),
            fields,
        };
        Ok(ManifestEvent {
            id,
            version,
            channel: self.channel,
            level: self.level.unwrap_or(0),
            opcode: self.opcode_value.unwrap_or(0),
            task: self.task_value.unwrap_or(0),
            keywords: keywords.unwrap_or(0),
            symbol: self.symbol.clone(),
            message: self.message.as_deref().map(Arc::from),
            trust,
            schema: Arc::new(schema),
            provenance,
        })
    }
}

/// The bits of `0x10`.
pub(super) fn mask(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let bits = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    bits.ok_or_else(|| format!("expected a mask such as 0x10, found {}", shown(text)))
}

fn trust(word: Option<&str>) -> Result<Trust, String> {
    let Some(word) = word else { return Ok(Trust::Declared) };
    let all = [Trust::Declared, Trust::Inferred, Trust::Older, Trust::Doubtful];
    let found = all.into_iter().find(|trust| trust.name() == word);
    found.ok_or_else(|| format!("expected a known trust, found {}", shown(word)))
}

/// A keyword as a document has it.
#[derive(Deserialize)]
pub(super) struct KeywordIn<'a> {
    #[serde(borrow)]
    pub(super) mask: Cow<'a, str>,
    pub(super) name: String,
}
