//! What the addresses of stacks lie in: which module of which identity, at which offset, or which method of .NET.
//!
//! ```text
//! source ──► modules (areas) ──┐
//!        ├─► stacks ───────────┴─► place ──► needed
//!        ├─► methods: their names
//!        └─► managed: where their code comes from
//! ```
//!
//! A stack is innermost first. Of its leaf, and of the first frame of the program directly behind one of the kernel, the address itself
//! is looked up: the processor was there. All other frames are where calls return to, which may lie behind the end of the function
//! that called: of these the address before is looked up. The kernel's addresses are those with the highest bit.
//!
//! What is not known has a reason of its own and is never guessed.

mod areas;
mod managed;
mod methods;
mod modules;
mod needed;
mod place;
mod stacks;

pub use managed::{Assembly, IlMap, MethodCode, method_code};
pub use methods::{names_of, namespaces_and_names_of};
pub use modules::{AddressPlace, MethodBody, ModuleId, Modules, Spot};
pub use needed::{Needed, NeededMethod, NeededModule, needed, stacks_of};
pub use place::{AddressedFrame, Frame, Place, Unknown, addressed_frames, frames};
pub use stacks::{Addresses, EventStack, Owner, Stack, StackCell, Stacks};
