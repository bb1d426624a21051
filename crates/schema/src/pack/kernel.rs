//! What is common to the kernel's classes.

use base::guid::Guid;

/// The class that the events of a kernel hook group belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelClass {
    /// The class GUID.
    pub guid: Guid,
    /// What stands before the slash in event names (`Process`).
    pub event_prefix: &'static str,
    /// The name of the class's dataset (`Kernel-Process`).
    pub dataset: &'static str,
}

/// The names of the event types that mean the same in every class; a class's own begin at 10. Sorted.
const STANDARD_TYPES: [(u8, &str); 11] = [
    (0, "Info"),
    (1, "Start"),
    (2, "End"),
    (3, "DCStart"),
    (4, "DCEnd"),
    (5, "Extension"),
    (6, "Reply"),
    (7, "Dequeue"),
    (8, "Checkpoint"),
    (9, "Send"),
    (240, "Receive"),
];

/// The name that a type of classic events has in every class that gives it no other.
pub fn standard_type(opcode: u8) -> Option<&'static str> {
    STANDARD_TYPES.iter().find(|(value, _)| *value == opcode).map(|(_, name)| *name)
}

/// The hook of an image load, which is written in the group of processes but belongs to images.
pub const IMAGE_LOAD_HOOK: u16 = 0x030a;
