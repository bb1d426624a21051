//! The events of a manifest as classic ones: providers that can run on systems before Windows Vista write them with the header of
//! these, under the class of their task.

use std::collections::BTreeMap;

use base::guid::Guid;

use super::model::{ManifestEvent, ProviderSchemas};

/// The classes of a provider's tasks (`eventGUID`) with their events, whose `id` is then the opcode: the one of the event, or the
/// type that the manifest gives that opcode in classic events (`mofValue`). Of several tasks of one class it is called by the first.
pub fn classic_classes(provider: &ProviderSchemas) -> Vec<ProviderSchemas> {
    let mut classes: BTreeMap<Guid, ProviderSchemas> = BTreeMap::new();
    let mut tasks: BTreeMap<u16, Guid> = BTreeMap::new();
    for task in &provider.tasks {
        let Some(guid) = task.class.filter(|class| *class != provider.guid) else { continue };
        tasks.insert(task.value, guid);
        classes.entry(guid).or_insert_with(|| ProviderSchemas {
            guid,
            name: format!("{}-{}", provider.name, task.name),
            control: Some(provider.guid),
            ..ProviderSchemas::default()
        });
    }
    for event in &provider.events {
        let class = tasks.get(&event.task).and_then(|guid| classes.get_mut(guid));
        let opcode = provider.classic_type(event.task, event.opcode);
        class.into_iter().for_each(|class| class.events.push(ManifestEvent { id: opcode.into(), ..event.clone() }));
    }
    let mut classes: Vec<_> = classes.into_values().filter(|class| !class.events.is_empty()).collect();
    for class in &mut classes {
        class.events.sort_by_key(|event| (event.id, event.version));
    }
    classes
}
