//! A driver's WPP messages, and the TMF file that they are read by.

use super::Recorder;
use crate::synth::message::{Message, message};
use crate::synth::payload::{Guid, guid, payload};
use crate::synth::session::Random;

const DRIVER: Guid = guid("4f0c7a3e-52d1-3b86-9e2a-61d07cf4b958");

/// What says how the messages read; the name of the file is of no account.
pub const TMF: &str = r#"// PDB:  disk.pdb
4f0c7a3e-52d1-3b86-9e2a-61d07cf4b958 disk // SRC=disk.c MJ= MN=
#typev disk_c120 10 "%0[%!FUNC!] --> %10!d! bytes at 0x%11!I64x!" //   LEVEL=TRACE_LEVEL_VERBOSE FLAGS=TRACE_IO FUNC=DiskTransfer
{
Length, ItemLong -- 10
Offset, ItemLongLongX -- 11
}
#typev disk_c188 11 "%0[%!FUNC!] <-- %10!s!" //   LEVEL=TRACE_LEVEL_VERBOSE FLAGS=TRACE_IO FUNC=DiskTransfer
{
Status, ItemNTSTATUS -- 10
}
#typev disk_c240 12 "%0[%!FUNC!] request %10!p! of %11!S! waits behind %12!d! others" //   LEVEL=TRACE_LEVEL_INFORMATION FLAGS=TRACE_QUEUE FUNC=DiskQueue
{
Request, ItemPtr -- 10
Name, ItemWString -- 11
Waiting, ItemLong -- 12
}
#typev disk_c260 13 "%0[%!FUNC!] the queue is empty" //   LEVEL=TRACE_LEVEL_VERBOSE FLAGS=TRACE_QUEUE FUNC=DiskQueue
{
}
"#;

pub(super) fn record(recorder: &mut Recorder) {
    while recorder.goes_on() {
        let (time, random) = (recorder.time, &mut recorder.random);
        let event = said(random).guid(DRIVER).time(time).system_info(4 * (1 + random.below(30_u32)), 4);
        recorder.log(event);
    }
}

fn said(random: &mut Random) -> Message {
    match random.below(8_u8) {
        0..3 => message(10).arguments(payload().u32(0x1000 << random.below(5_u8)).u64(0x1000 * random.below(1 << 24))),
        3..6 => message(11).arguments(payload().u32(if random.below(10_u8) == 0 { 0xC000_0185 } else { 0 })),
        6 => {
            let request = 0xFFFF_D000_0000_0000 + 0x100 * random.below(64_u64);
            let name = format!("\\Device\\Harddisk{}", random.below(4_u8));
            message(12).arguments(payload().u64(request).wstr(&name).u32(random.below(32)))
        }
        _ => message(13),
    }
}
