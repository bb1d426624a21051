//! Kernel hook ids: the class behind each group.

use base::guid::Guid;

/// The class of a kernel event group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelClass {
    /// High byte of the hook id.
    pub group: u8,
    /// The class name; its dataset is `Kernel-<name>`.
    pub name: &'static str,
    /// The class GUID, which consumers see as the provider.
    pub guid: Guid,
}

/// The group of the trace's own header events.
pub const GROUP_EVENT_TRACE: u8 = 0x00;
/// Processes.
pub const GROUP_PROCESS: u8 = 0x03;
/// File operations and names.
pub const GROUP_FILE_IO: u8 = 0x04;
/// Threads.
pub const GROUP_THREAD: u8 = 0x05;
/// Loaded modules.
pub const GROUP_IMAGE: u8 = 0x14;
/// Walks of stacks.
pub const GROUP_STACK_WALK: u8 = 0x18;
const TYPE_LOAD_IMAGE: u8 = 0x0A;

/// Hook types of [`GROUP_STACK_WALK`].
pub mod stack_walk {
    /// The walk: the time and thread of its event, and the addresses.
    #[doc(alias = "StackWalk_Event")]
    pub const WALK: u8 = 0x20;
    /// A stack gets a key.
    #[doc(alias = "StackWalk_TypeCreate")]
    pub const KEY_CREATE: u8 = 0x22;
    /// A key ceases to stand for its stack.
    #[doc(alias = "StackWalk_TypeDelete")]
    pub const KEY_DELETE: u8 = 0x23;
    /// What a key stands for.
    #[doc(alias = "StackWalk_TypeRundown")]
    pub const KEY_RUNDOWN: u8 = 0x24;
    /// A walk within the kernel, whose addresses stand under a key.
    #[doc(alias = "StackWalk_KeyKernel")]
    pub const KEY_KERNEL: u8 = 0x25;
    /// The same outside of the kernel.
    #[doc(alias = "StackWalk_KeyUser")]
    pub const KEY_USER: u8 = 0x26;
}

/// Hook types of [`GROUP_EVENT_TRACE`] that the survey reads.
pub mod event_trace {
    /// The header event.
    pub const HEADER: u8 = 0x00;
    /// Group masks in force after the event.
    pub const EXTENSION: u8 = 0x05;
    /// Group masks at the end.
    pub const END_EXTENSION: u8 = 0x20;
    /// The symbol file of a traced binary: GUID, age, name.
    pub const SYMBOL_FILE: u8 = 0x40;
    /// The path of a traced binary, behind the GUIDs of its providers.
    pub const BINARY_PATH: u8 = 0x43;
    /// Per processor, when its last event was dropped.
    pub const LAST_DROPPED_TIMES: u8 = 0x52;
}

/// The class of the trace's own header events.
pub const EVENT_TRACE_CLASS: Guid = KERNEL_CLASSES[0].guid;

/// Synthetic records of lost events, buffers and real-time files.
#[doc(alias = "RT_LostEvent")]
pub const LOST_EVENT_CLASS: Guid = Guid::from_parts(0x6a39_9ae0, 0x4bc6, 0x4de9, 0x870b_3657_f894_7e7e);

/// Schema descriptions that merging tools append to a trace.
pub const EVENT_METADATA_CLASS: Guid = Guid::from_parts(0xbbcc_f6c1, 0x6cd1, 0x48c4, 0x80ff_8394_82e3_7671);

/// Walks of stacks, which follow the events that they belong to.
#[doc(alias = "StackWalk")]
pub const STACK_WALK_CLASS: Guid = KERNEL_CLASSES[GROUP_STACK_WALK as usize].guid;

/// What merging tools note of every loaded image.
#[doc(alias = "ImageID")]
pub const IMAGE_ID_CLASS: Guid = Guid::from_parts(0xb3e6_75d7, 0x2554, 0x4f18, 0x830b_2762_7325_60de);

/// What merging tools note of the system: its build, its paths, its volumes.
#[doc(alias = "SystemConfigEx")]
pub const SYSTEM_CONFIG_EXTENSION_CLASS: Guid = Guid::from_parts(0x9b79_ee91, 0xb5fd, 0x41c0, 0xa243_4248_e266_e9d0);

/// Opcodes of [`IMAGE_ID_CLASS`] that the plan reads.
pub mod image_id {
    /// The symbol file of a native image.
    #[doc(alias = "DbgID_RSDS")]
    pub const RSDS: u8 = 36;
    /// The symbol file of the managed part of an image.
    #[doc(alias = "DbgID_ILRSDS")]
    pub const IL_RSDS: u8 = 37;
}

/// What a hook id stands for: the group whose class it belongs to, and the opcode. Image loads carry the number of
/// the process group and are shown under the image class, like every consumer does.
pub fn resolve(group: u8, kind: u8) -> (u8, u8) {
    match (group, kind) {
        (GROUP_PROCESS, TYPE_LOAD_IMAGE) => (GROUP_IMAGE, TYPE_LOAD_IMAGE),
        other => other,
    }
}

/// The class of a group, if the group is known.
pub fn kernel_class(group: u8) -> Option<&'static KernelClass> {
    KERNEL_CLASSES.get(usize::from(group))
}

/// The class with this GUID, for events that were written with their class GUID in full.
pub fn kernel_class_of(guid: &Guid) -> Option<&'static KernelClass> {
    KERNEL_CLASSES.iter().find(|class| class.guid == *guid)
}

const fn class(group: u8, name: &'static str, a: u32, b: u16, c: u16, d: u64) -> KernelClass {
    KernelClass { group, name, guid: Guid::from_parts(a, b, c, d) }
}

/// All known groups; the index is the group.
pub static KERNEL_CLASSES: [KernelClass; 31] = [
    class(0x00, "EventTrace", 0x68fd_d900, 0x4a3e, 0x11d1, 0x84f4_0000_f804_64e3),
    class(0x01, "DiskIo", 0x3d6f_a8d4, 0xfe05, 0x11d0, 0x9dda_00c0_4fd7_ba7c),
    class(0x02, "PageFault", 0x3d6f_a8d3, 0xfe05, 0x11d0, 0x9dda_00c0_4fd7_ba7c),
    class(0x03, "Process", 0x3d6f_a8d0, 0xfe05, 0x11d0, 0x9dda_00c0_4fd7_ba7c),
    class(0x04, "FileIo", 0x90cb_dc39, 0x4a3e, 0x11d1, 0x84f4_0000_f804_64e3),
    class(0x05, "Thread", 0x3d6f_a8d1, 0xfe05, 0x11d0, 0x9dda_00c0_4fd7_ba7c),
    class(0x06, "TcpIp", 0x9a28_0ac0, 0xc8e0, 0x11d1, 0x84e2_00c0_4fb9_98a2),
    class(0x07, "Job", 0x3282_fc76, 0xfeed, 0x498e, 0x8aa7_e70f_459d_430e),
    class(0x08, "UdpIp", 0xbf3a_50c5, 0xa9c9, 0x4988, 0xa005_2df0_b7c8_0f80),
    class(0x09, "Registry", 0xae53_722e, 0xc863, 0x11d2, 0x8659_00c0_4fa3_21a1),
    class(0x0a, "DbgPrint", 0x1397_6d09, 0xa327, 0x438c, 0x950b_7f03_1928_15c7),
    class(0x0b, "SystemConfig", 0x0185_3a65, 0x418f, 0x4f36, 0xaefc_dc0f_1d2f_d235),
    class(0x0c, "Spare1", 0x9913_4383, 0x5248, 0x43fc, 0x834b_5294_54e7_5df3),
    class(0x0d, "Wnf", 0x4269_5762, 0xea50, 0x497a, 0x9068_5cbb_b35e_0b95),
    class(0x0e, "Pool", 0x0268_a8b6, 0x74fd, 0x4302, 0x9dd0_6e8f_1795_c0cf),
    class(0x0f, "PerfInfo", 0xce1d_bfb4, 0x137e, 0x4da6, 0x87b0_3f59_aa10_2cbc),
    class(0x10, "Heap", 0x2229_62ab, 0x6180, 0x4b88, 0xa825_346b_75f2_a24a),
    class(0x11, "Object", 0x8949_7f50, 0xeffe, 0x4440, 0x8cf2_ce6b_1cdc_aca7),
    class(0x12, "Power", 0xe434_45e0, 0x0903, 0x48c3, 0xb878_ff0f_cceb_dd04),
    class(0x13, "ModBound", 0xa915_2f00, 0x3f58, 0x4bee, 0x92a1_70c7_d079_d5dd),
    class(0x14, "Image", 0x2cb1_5d1d, 0x5fc1, 0x11d2, 0xabe1_00a0_c911_f518),
    class(0x15, "Dpc", 0xb2d1_4872, 0x7c5b, 0x463d, 0x8419_ee9b_f7d2_3e04),
    class(0x16, "Cc", 0x7687_a439, 0xf752, 0x45b8, 0xb741_321a_ec0f_8df9),
    class(0x17, "CritSec", 0x3ac6_6736, 0xcc59, 0x4cff, 0x8115_8df5_0e39_816b),
    class(0x18, "StackWalk", 0xdef2_fe46, 0x7bd6, 0x4b80, 0xbd94_f57f_e20d_0ce3),
    class(0x19, "Ums", 0x9aec_974b, 0x5b8e, 0x4118, 0x9b92_3186_d800_2ce5),
    class(0x1a, "Alpc", 0x45d8_cccd, 0x539f, 0x4b72, 0xa8b7_5c68_3142_609a),
    class(0x1b, "SplitIo", 0xd837_ca92, 0x12b9, 0x44a5, 0xad6a_3a65_b357_8aa8),
    class(0x1c, "ThreadPool", 0xc861_d0e2, 0xa2c1, 0x4d36, 0x9f9c_970b_ab94_3a12),
    class(0x1d, "Hypervisor", 0x7f2a_405c, 0x69b5, 0x4bf9, 0xa1f5_30e8_f1af_ab5e),
    class(0x1e, "HypervisorX", 0x2ce9_a149, 0xeffe, 0x42f0, 0xa635_a1d3_9e26_c8f2),
];
