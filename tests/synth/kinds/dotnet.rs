//! .NET and kernel: methods that are compiled, allocations, samples and context switches, most of them with a stack.

use super::Recorder;
use crate::synth::bulk::{context_switch, sample};
use crate::synth::event::{Event, event64};
use crate::synth::items::Item;
use crate::synth::kernel::perfinfo64;
use crate::synth::payload::{Guid, guid, len16, payload};
use crate::synth::session::Random;

/// Microsoft-Windows-DotNETRuntime.
const RUNTIME: Guid = guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4");
const PID: u32 = 4812;
const STACKS: usize = 400;

pub(super) fn record(recorder: &mut Recorder) {
    let stacks: Vec<Vec<u64>> = (0..STACKS).map(|_| stack(&mut recorder.random)).collect();
    let mut running = 0;
    while recorder.goes_on() {
        let time = recorder.time;
        let any = usize::from(recorder.random.below(400_u16)) % stacks.len();
        // Few stacks are frequent.
        let stack = &stacks[any * usize::from(recorder.random.below(100_u8)) / 100];
        match recorder.random.below(16_u8) {
            0..4 => {
                let switch = context_switch(time, &mut running, &mut recorder.random);
                recorder.log(switch);
                recorder.log(stack_walk(time, running, stack));
            }
            4..8 => {
                let sample = sample(time, running, &mut recorder.random);
                recorder.log(sample);
                recorder.log(stack_walk(time, running, stack));
            }
            8..12 => {
                let tick = allocation_tick(time, &mut recorder.random);
                recorder.log(tick.tid(running).item(Item::stack64(0, stack)));
            }
            12..14 => {
                let load = method_load(time, &mut recorder.random);
                recorder.log(load.tid(running));
            }
            _ => {
                let map = native_map(time, &mut recorder.random);
                recorder.log(map.tid(running));
            }
        }
    }
}

/// From 8 to 39 frames out of 2,000; those of a thread's start are the same in all stacks.
fn stack(random: &mut Random) -> Vec<u64> {
    let own = 4 + random.below(32_u64);
    let frames = (0..own).map(|_| 0x7FFB_2000_0000 + 0x53 * random.below(2000_u64));
    frames.chain([0x7FFB_9870_1234, 0x7FFB_9870_5678, 0x7FFB_9A00_9ABC, 0xFFFF_F800_1234_5678]).collect()
}

/// Stack of an event of the same time: hook 1820, its time, process, thread, frames.
fn stack_walk(time: i64, thread: u32, stack: &[u64]) -> crate::synth::Kernel {
    let head = payload().i64(time).u32(PID).u32(thread);
    perfinfo64(0x1820, time + 20).payload(stack.iter().fold(head, |body, &frame| body.u64(frame)))
}

fn runtime(id: u16, version: u8, time: i64, keyword: u64) -> Event {
    event64(RUNTIME, id, version, time).pid(PID).keyword(keyword)
}

/// GCAllocationTick, version 3.
fn allocation_tick(time: i64, random: &mut Random) -> Event {
    let amount = 0x1_9000 + 8 * random.below(0x1000_u32);
    let kind = u32::from(random.below(20_u8) == 0);
    let number = random.below(150_u64);
    let body = payload().u32(amount).u32(kind).u16(9).u64(amount.into()).u64(0x7FFB_1000_0000 + 0x78 * number);
    let body = body.wstr(&type_name(number)).u32(random.below(4)).u64(0x1C0_0000_0000 + 0x18 * random.below(1 << 28));
    runtime(10, 3, time, 1).level(5).task(1).opcode(11).payload(body)
}

/// MethodLoadVerbose, version 1.
fn method_load(time: i64, random: &mut Random) -> Event {
    let token = random.below(20_000_u32);
    let number = u64::from(token);
    let size = 0x20 + random.below(0x800_u32);
    let body = payload().u64(0x7FFB_3000_0000 + 0x28 * number).u64(0x7FFB_3300_0000 + 0x1000 * (number % 40));
    let body = body.u64(0x7FFB_4000_0000 + 0x40 * number).u32(size).u32(0x0600_0000 + token).u32(1);
    let body = body.wstr(&type_name(number % 900)).wstr(&format!("Method{}", number % 3000));
    let body = body.wstr("instance void  (int32,class System.String)").u16(9);
    runtime(143, 1, time, 0x10).task(9).opcode(37).payload(body)
}

/// MethodILToNativeMap, version 0.
fn native_map(time: i64, random: &mut Random) -> Event {
    let entries = 2 + random.below(14_u32);
    let head = payload().u64(0x7FFB_3000_0000 + 0x28 * random.below(20_000_u64)).u64(0).u8(0);
    let head = head.u16(len16(entries as usize));
    let offsets = (0..entries).fold(head, |body, entry| body.u32(entry * 7));
    let offsets = (0..entries).fold(offsets, |body, entry| body.u32(entry * 16 + random.below(16_u32)));
    runtime(190, 0, time, 0x20_0000).level(5).task(9).opcode(87).payload(offsets.u16(9))
}

fn type_name(number: u64) -> String {
    format!("Synth.Shop.Orders.Handler{number}`1[System.Collections.Generic.List`1[System.Int32]]")
}
