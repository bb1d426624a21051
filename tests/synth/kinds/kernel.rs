//! The kernel's events of a machine that starts or stops: images, files, threads, disks.

use super::Recorder;
use crate::synth::bulk::{disk_io, thread_start};
use crate::synth::kernel::{Kernel, perfinfo64, system64};
use crate::synth::payload::payload;
use crate::synth::session::Random;

pub(super) fn record(recorder: &mut Recorder) {
    while recorder.goes_on() {
        let (time, random) = (recorder.time, &mut recorder.random);
        let thread = 4 * random.below(300_u32);
        let event = match random.below(16_u8) {
            0..3 => image(time, random),
            3..5 => file_create(time, thread, random),
            5..9 => file_transfer(time, thread, random),
            9..13 => file_operation_end(time, random),
            13 => file_name(time, random),
            14 => disk_io(time, thread, random),
            _ => thread_start(time, thread, random),
        };
        recorder.log(event);
    }
}

fn path(number: u64) -> String {
    format!("\\Device\\HarddiskVolume3\\Windows\\System32\\part{:02}\\module{number:04}.dll", number % 40)
}

/// Image load or unload, version 3.
fn image(time: i64, random: &mut Random) -> Kernel {
    let stamp = random.below(900_u32);
    let number = u64::from(stamp);
    let base = 0x7FFB_0000_0000 + 0x10_0000 * number;
    let body = payload().u64(base).u64(0x1_0000 + 0x1000 * (number % 64)).u32(800 + 4 * random.below(90_u32));
    let body = body.u32(0x1234 + stamp).u32(0x6000_0000 + stamp).u8(12).u8(1).u16(0).u64(base).zeros(16);
    system64(if random.below(3_u8) == 0 { 0x1402 } else { 0x140A }, time).version(3).payload(body.wstr(&path(number)))
}

fn irp(random: &mut Random) -> u64 {
    0xFFFF_D000_0000_0000 + 0x100 * random.below(200_u64)
}

fn file_object(number: u64) -> u64 {
    0xFFFF_C000_0000_0000 + 0x60 * number
}

/// FileIo create, version 3.
fn file_create(time: i64, thread: u32, random: &mut Random) -> Kernel {
    let number = random.below(2000_u64);
    let body = payload().u64(irp(random)).u64(file_object(number)).u32(thread).u32(0x0100_0060).u32(0x80).u32(5);
    perfinfo64(0x0440, time).version(3).payload(body.wstr(&path(number)))
}

/// FileIo read or write, version 3.
fn file_transfer(time: i64, thread: u32, random: &mut Random) -> Kernel {
    let number = random.below(2000_u64);
    let body = payload().u64(0x1000 * random.below(1 << 12)).u64(irp(random)).u64(file_object(number));
    let body = body.u64(0xFFFF_B000_0000_0000 + 0x40 * number).u32(thread).u32(0x1000 << random.below(5_u8));
    perfinfo64(0x0443 + random.below(2_u16), time).version(3).payload(body.u32(0x0006_0900))
}

/// FileIo operation end, version 3.
fn file_operation_end(time: i64, random: &mut Random) -> Kernel {
    let status = if random.below(12_u8) == 0 { 0xC000_0034 } else { 0 };
    let body = payload().u64(irp(random)).u64(0x1000 << random.below(5_u8)).u32(status);
    perfinfo64(0x044C, time).version(3).payload(body)
}

/// FileIo name at the session's end.
fn file_name(time: i64, random: &mut Random) -> Kernel {
    let number = random.below(2000_u64);
    perfinfo64(0x0424, time).payload(payload().u64(file_object(number)).wstr(&path(number)))
}
