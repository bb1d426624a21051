//! A whole extract: the providers of all its templates.

use super::extract::{Extract, PartType};
use super::messages::{MessageTable, Messages};
use super::provider;
use super::reader::{Faults, Reader};
use crate::budget::Budget;
use crate::manifest::Manifest;
use crate::model::SchemaError;

/// What all that a binary declares may take, as of a manifest.
const MAX_KEPT_BYTES: usize = 64 << 20;
/// Bytes before the first provider, and of the entry of each.
const HEAD: u32 = 16;
const PROVIDER: u32 = 20;

/// Reads what an [`Extract`] declares, as the manifest that it was made of.
///
/// # Errors
/// When the file is no extract. What is wrong in a single element is no error but one of [`Manifest::rejected`].
pub fn parse(file: &[u8]) -> Result<Manifest, SchemaError> {
    let extract = Extract::parse(file)?;
    let tables = extract.of_type(PartType::Messages).map(|part| MessageTable::read(part.bytes, part.language));
    let messages = Messages { tables: tables.collect() };
    let mut manifest = Manifest::default();
    let (mut budget, mut faults) = (Budget::new(MAX_KEPT_BYTES), Faults::default());
    for part in extract.of_type(PartType::Template) {
        let mut reader = Reader { bytes: part.bytes, messages: &messages, budget: &mut budget, faults: &mut faults };
        read(&mut reader, &mut manifest);
    }
    manifest.rejected = faults.into_list();
    Ok(manifest)
}

fn read(reader: &mut Reader<'_>, manifest: &mut Manifest) {
    if reader.sign(0) != Some(*b"CRIM") {
        reader.report(0, "expected CRIM at the beginning of WEVT_TEMPLATE, found something else");
        return;
    }
    for at in reader.list(12, HEAD, PROVIDER) {
        let entry = reader.guid(at).zip(reader.u32(at.saturating_add(16)));
        if let Some((guid, place)) = entry {
            manifest.providers.extend(provider::read(reader, guid, place));
        }
    }
}
