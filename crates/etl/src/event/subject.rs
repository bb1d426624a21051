//! Which events show what an id of others means: the process of a number, the path of a file key.
//!
//! Class GUIDs and opcodes of kernel events are those of the kernel's event classes (`Process`, `Thread`, `Image`, `FileIo`),
//! ids of the others those of their providers' manifests. Only the identity of an event is asked, never its payload.

use base::guid::Guid;
use serde::{Deserialize, Serialize};

use super::EventIdentity;
use crate::layout::kernel::{self, GROUP_FILE_IO, GROUP_IMAGE, GROUP_PROCESS, GROUP_THREAD, KERNEL_CLASSES};

/// What an event describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Subject {
    /// A process, by its id.
    Process,
    /// A thread, by its id.
    Thread,
    /// A module in a process, by its base address.
    Image,
    /// A file, by its key: the address of its control block, or of its file object.
    File,
    /// The body of a method of .NET or JavaScript, by its address in a process.
    Method,
    /// A volume: the letter of its drive.
    Volume,
}

impl Subject {
    /// All of them, in their order.
    pub const ALL: [Subject; 6] =
        [Subject::Process, Subject::Thread, Subject::Image, Subject::File, Subject::Method, Subject::Volume];
}

/// At which point in the life of its subject an event lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Lifecycle {
    /// From now on the id means this.
    Start,
    /// The id means this now, and has since some time before: a rundown.
    Holds,
    /// More about what the id means now.
    Detail,
    /// What the id meant has ended.
    End,
    /// What the id means ended some time before: a rundown of processes that ended and whose objects somebody still holds, so
    /// that nobody else gets their ids.
    Defunct,
}

/// `Microsoft-Windows-Kernel-Process`.
const KERNEL_PROCESS: Guid = Guid::from_parts(0x22fb_2cd6, 0x0e7b, 0x422b, 0xa0c7_2fad_1fd0_e716);
/// `Microsoft-Windows-Kernel-File`.
const KERNEL_FILE: Guid = Guid::from_parts(0xedd0_8927, 0x9cc4, 0x4e65, 0xb970_c256_0fb5_c289);
/// `Microsoft-Windows-DotNETRuntime`.
const DOTNET_RUNTIME: Guid = Guid::from_parts(0xe13c_0d23, 0xccbc, 0x4e12, 0x931b_d9cc_2eee_27e4);
/// `Microsoft-Windows-DotNETRuntimeRundown`.
const DOTNET_RUNDOWN: Guid = Guid::from_parts(0xa669_021c, 0xc450, 0x4609, 0xa035_5af5_9af4_df18);
/// `Microsoft-JScript`.
const JAVASCRIPT: Guid = Guid::from_parts(0x5727_7741, 0x3638, 0x4a4b, 0xbdba_0ac6_e45d_a56c);

/// Whether a provider's events describe methods of JavaScript, whose flags are not those of .NET.
pub fn is_javascript(provider: &Guid) -> bool {
    *provider == JAVASCRIPT
}

/// Whether a provider's events that start processes, or say that they run, name the path of the image; those of others name the
/// image alone.
pub fn records_image_paths(provider: &Guid) -> bool {
    *provider == KERNEL_PROCESS
}

/// What an event of this identity describes, and how; `None` for nearly all identities.
pub fn described_by(identity: &EventIdentity) -> Option<(Subject, Lifecycle)> {
    let family = identity.family;
    if family.is_kernel() || family.is_classic() {
        by_opcode(&identity.provider, identity.opcode)
    } else if family.is_event() {
        by_id(&identity.provider, identity.id)
    } else {
        None
    }
}

fn by_opcode(class: &Guid, opcode: u8) -> Option<(Subject, Lifecycle)> {
    use Lifecycle::{Defunct, Detail, End, Holds, Start};
    use Subject::{File, Image, Process, Thread, Volume};
    let is = |group: u8| *class == KERNEL_CLASSES[usize::from(group)].guid;
    Some(match opcode {
        1 if is(GROUP_PROCESS) => (Process, Start),
        2 if is(GROUP_PROCESS) => (Process, End),
        3 | 4 if is(GROUP_PROCESS) => (Process, Holds),
        39 if is(GROUP_PROCESS) => (Process, Defunct),
        1 if is(GROUP_THREAD) => (Thread, Start),
        2 if is(GROUP_THREAD) => (Thread, End),
        3 | 4 if is(GROUP_THREAD) => (Thread, Holds),
        72 if is(GROUP_THREAD) => (Thread, Detail),
        10 if is(GROUP_IMAGE) => (Image, Start),
        2 if is(GROUP_IMAGE) => (Image, End),
        3 | 4 if is(GROUP_IMAGE) => (Image, Holds),
        0 | 36 if *class == kernel::IMAGE_ID_CLASS => (Image, Detail),
        // `Name`, `FileCreate`, and the creation of a file object.
        0 | 32 | 64 if is(GROUP_FILE_IO) => (File, Start),
        35 if is(GROUP_FILE_IO) => (File, End),
        36 if is(GROUP_FILE_IO) => (File, Holds),
        35 if *class == kernel::SYSTEM_CONFIG_EXTENSION_CLASS => (Volume, Holds),
        _ => return None,
    })
}

fn by_id(provider: &Guid, id: u16) -> Option<(Subject, Lifecycle)> {
    use Lifecycle::{End, Holds, Start};
    use Subject::{File, Image, Method, Process, Thread};
    Some(match (*provider, id) {
        (KERNEL_PROCESS, 1) => (Process, Start),
        (KERNEL_PROCESS, 2) => (Process, End),
        (KERNEL_PROCESS, 15) => (Process, Holds),
        (KERNEL_PROCESS, 3) => (Thread, Start),
        (KERNEL_PROCESS, 4) => (Thread, End),
        (KERNEL_PROCESS, 5) => (Image, Start),
        (KERNEL_PROCESS, 6) => (Image, End),
        // `NameCreate`, `Create`, `CreateNewFile`.
        (KERNEL_FILE, 10 | 12 | 30) => (File, Start),
        (KERNEL_FILE, 11) => (File, End),
        // Of .NET loads with and without names; older versions recorded methods that existed under ids of the run-time itself.
        // Of JavaScript `MethodLoad`, `MethodUnload`, and the rundowns `MethodDCStart` and `MethodDCEnd`.
        (DOTNET_RUNTIME, 141 | 143) | (JAVASCRIPT, 9) => (Method, Start),
        (DOTNET_RUNTIME, 142 | 144) | (JAVASCRIPT, 10) => (Method, End),
        (DOTNET_RUNTIME, 137..=140) | (DOTNET_RUNDOWN, 141..=144) | (JAVASCRIPT, 5 | 6) => (Method, Holds),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::header::HeaderFamily;

    fn identity(family: HeaderFamily, provider: Guid, opcode: u8, id: u16) -> EventIdentity {
        EventIdentity { provider, group: 0, id, version: 0, opcode, property: 0, pointer_size: 8, family }
    }

    #[test]
    fn kernel_events_are_known_by_class_and_opcode_whatever_their_header() {
        let process = KERNEL_CLASSES[3].guid;
        for family in [HeaderFamily::System64, HeaderFamily::PerfInfo64, HeaderFamily::Classic64] {
            assert_eq!(described_by(&identity(family, process, 1, 0)), Some((Subject::Process, Lifecycle::Start)));
            assert_eq!(described_by(&identity(family, process, 39, 0)), Some((Subject::Process, Lifecycle::Defunct)));
            assert_eq!(described_by(&identity(family, process, 11, 0)), None);
            assert_eq!(
                described_by(&identity(family, kernel::IMAGE_ID_CLASS, 36, 0)),
                Some((Subject::Image, Lifecycle::Detail))
            );
        }
        // The opcode of an event header says nothing where an id does.
        assert_eq!(described_by(&identity(HeaderFamily::Event64, process, 1, 0)), None);
    }

    #[test]
    fn others_are_known_by_their_ids() {
        let by_id = |provider, id| described_by(&identity(HeaderFamily::Event64, provider, 1, id));
        assert_eq!(by_id(KERNEL_PROCESS, 15), Some((Subject::Process, Lifecycle::Holds)));
        assert_eq!(by_id(DOTNET_RUNDOWN, 144), Some((Subject::Method, Lifecycle::Holds)));
        assert_eq!(by_id(DOTNET_RUNTIME, 144), Some((Subject::Method, Lifecycle::End)));
        assert_eq!(by_id(JAVASCRIPT, 9), Some((Subject::Method, Lifecycle::Start)));
        assert_eq!(by_id(JAVASCRIPT, 10), Some((Subject::Method, Lifecycle::End)));
        assert_eq!(by_id(JAVASCRIPT, 6), Some((Subject::Method, Lifecycle::Holds)));
        // `ScriptContextLoad`.
        assert_eq!(by_id(JAVASCRIPT, 11), None);
        assert_eq!(by_id(KERNEL_FILE, 14), None);
        assert_eq!(described_by(&identity(HeaderFamily::Message, KERNEL_FILE, 0, 10)), None);
    }
}
