//! What the user could give to have a shape decoded.

use std::borrow::Cow;

use etl::event::EventIdentity;
use etl::layout::header::HeaderFamily;
use schema::eventsource::Standing;
use schema::{DecodeSource, Registry};

use super::choose::Choice;
use super::images::Images;
use super::resolve::Resolved;
use super::result::PlannedTable;

/// Characters of a name from the trace that a hint repeats. Each of many thousand shapes may have a hint with a name of
/// 64 KiB in it.
const MAX_NAME: usize = 512;

/// The first characters of a name.
fn clipped(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

/// What the user could give to have the payload of a shape decoded.
pub(super) fn hint(shape: &Resolved, table: &PlannedTable, registry: &Registry, images: &Images) -> Option<String> {
    let identity = &shape.key.identity;
    if table.is_other() {
        return Some(
            "nothing: events beyond the event shapes and datasets that a trace may have are not decoded".to_owned(),
        );
    }
    if let Some(choice) = &shape.choice {
        return mismatch_hint(choice);
    }
    if shape.message.is_some() {
        return None;
    }
    if shape.is_empty && identity.family != HeaderFamily::Message {
        return None;
    }
    let name = clipped(table.provider_name.as_deref().unwrap_or("unnamed"));
    Some(match identity.family {
        HeaderFamily::Message if identity.provider.is_zero() => {
            "the message names no source file: its format cannot be found".to_owned()
        }
        HeaderFamily::Message => {
            let pdb = match images.symbol_files() {
                Some(files) if files.contains(',') => {
                    format!("one of the PDBs that the trace names: {}", clipped(&files))
                }
                Some(file) => format!("the PDB {}", clipped(&file)),
                None => "the PDB it is made from".to_owned(),
            };
            format!("TMF file {}.tmf, or {pdb}", identity.provider)
        }
        HeaderFamily::Timed | HeaderFamily::Error | HeaderFamily::Wnode => {
            "headers of this kind have no schema".to_owned()
        }
        family if family.is_event() => {
            if let Some(hint) = own_manifest_hint(registry.eventsource.standing(&shape.schema_provider)) {
                return Some(hint);
            }
            let binary =
                images.path(&identity.provider).map_or(String::new(), |path| format!(" (of {})", clipped(path)));
            let what = schema_needed(identity, &name);
            format!("{what}{binary} with event {} version {}", identity.id, identity.version)
        }
        _ => format!("{}, opcode {} version {}", schema_needed(identity, &name), identity.opcode, identity.version),
    })
}

/// What helps where the provider wrote its own manifest into the trace.
fn own_manifest_hint(standing: Standing<'_>) -> Option<String> {
    match standing {
        Standing::Absent => None,
        Standing::Known => Some(
            "the provider's manifest in the trace does not describe the event: one of another build, with --schemas"
                .to_owned(),
        ),
        Standing::Unusable(fault) => Some(format!(
            "the provider's manifest in the trace is not used ({}): a whole one, with --schemas",
            clipped(&fault.to_string())
        )),
    }
}

/// What kind of description a provider's events need.
pub fn schema_needed(identity: &EventIdentity, name: &str) -> String {
    let id = identity.provider.to_string();
    // A provider without a name is called by its id.
    let id = if name.eq_ignore_ascii_case(&id) { id } else { format!("{id} ({name})") };
    match identity.family {
        family if family.is_event() => format!("manifest of provider {id}"),
        family if family.is_kernel() && identity.provider.is_zero() => {
            format!("description of kernel group {:02X}", identity.group)
        }
        _ => format!("description of class {id}"),
    }
}

/// What helps where a layout is known and no payload fits it.
fn mismatch_hint(choice: &Choice) -> Option<String> {
    let origin = &choice.candidate.origin;
    if choice.wrong_pointer_size {
        return Some(
            "the payload fits the schema only with pointers of the other size: the writer's header is wrong".to_owned(),
        );
    }
    choice.is_contradicted.then(|| match choice.candidate.source {
        DecodeSource::TraceLogging | DecodeSource::String => {
            format!("no payload fits the {origin}: the writer contradicts itself")
        }
        source => format!(
            "no payload fits the layout from {} ({origin}): the manifest of the build that wrote it, with --schemas",
            source.name()
        ),
    })
}
