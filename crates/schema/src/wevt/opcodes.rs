//! `OPCO`: the opcodes of a provider and of its tasks.

use super::reader::Reader;
use crate::manifest::OpcodeName;

/// Bytes of an element: the task (0 for all), the opcode, the message, the name.
const OPCODE: u32 = 12;

/// The opcodes that are the provider's own, by task and number, the first of each.
pub(super) fn read(reader: &mut Reader<'_>, list: u32) -> Vec<OpcodeName> {
    let mut opcodes = Vec::new();
    for at in reader.elements(*b"OPCO", list, OPCODE) {
        let task = reader.u16(at);
        let value = reader.u16(at.saturating_add(2)).and_then(|value| u8::try_from(value).ok());
        let (message, name) = (reader.u32(at.saturating_add(4)), reader.u32(at.saturating_add(8)));
        let (Some(task), Some(value), Some(message), Some(name)) = (task, value, message, name) else {
            reader.report(at, "expected an opcode of 8 bits");
            continue;
        };
        if !reader.is_standard(name) {
            let task = (task != 0).then_some(task);
            opcodes.extend(reader.shown(name, message).map(|name| OpcodeName { task, value, name }));
        }
    }
    opcodes.sort_by_key(|opcode| (opcode.task, opcode.value));
    opcodes.dedup_by_key(|opcode| (opcode.task, opcode.value));
    opcodes
}
