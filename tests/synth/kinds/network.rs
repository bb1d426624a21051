//! A narrow manifest: what the kernel sends and receives, a dozen numbers in each event.

use super::Recorder;
use crate::synth::event::{Event, event64};
use crate::synth::payload::{Guid, Payload, guid, payload};
use crate::synth::session::Random;

/// Microsoft-Windows-Kernel-Network.
const NETWORK: Guid = guid("7dd42a49-5329-4832-8dfd-43d979153a88");
const CONNECTIONS: u32 = 60;

pub(super) fn record(recorder: &mut Recorder) {
    while recorder.goes_on() {
        let (time, random) = (recorder.time, &mut recorder.random);
        let connection = random.below(CONNECTIONS);
        let size = [52, 1460, 517, 4096, 8192][usize::from(random.below(5_u8))];
        let event = match random.below(8_u8) {
            0..3 => sent(time, connection, size, random),
            3..6 => received(time, connection, size),
            6 => datagram(time, connection, size, random),
            _ => connected(time, connection),
        };
        recorder.log(event);
    }
}

fn network(id: u16, task: u16, time: i64, connection: u32) -> Event {
    let opcode = u8::try_from(id).expect("opcodes are the ids");
    let event = event64(NETWORK, id, 0, time).task(task).opcode(opcode).channel(16).keyword(0x8000_0000_0000_0010);
    event.pid(pid(connection)).tid(8 + 4 * (connection % 23))
}

fn pid(connection: u32) -> u32 {
    1200 + 4 * (connection % 9)
}

/// PID, size, addresses and ports.
fn ends(connection: u32, size: u32) -> Payload {
    let [_, b, c, d] = (0x0A00_0000 + connection * 7).to_be_bytes();
    let body = payload().u32(pid(connection)).u32(size).bytes(&[93, b, c, d]).bytes(&[192, 168, 7, 23]);
    body.be16(443).be16(49_152 + u16::try_from(connection).expect("few connections"))
}

/// Data sent, with the times at which that began and ended in milliseconds.
fn sent(time: i64, connection: u32, size: u32, random: &mut Random) -> Event {
    let began = u32::try_from(time / 156_250).expect("a short recording");
    let body = ends(connection, size).u32(began).u32(began + random.below(3_u32)).u32(0).u32(0);
    network(10, 10, time, connection).payload(body)
}

fn received(time: i64, connection: u32, size: u32) -> Event {
    network(11, 10, time, connection).payload(ends(connection, size).u32(0).u32(0))
}

fn datagram(time: i64, connection: u32, size: u32, random: &mut Random) -> Event {
    let id = if random.below(2_u8) == 0 { 42 } else { 43 };
    network(id, 11, time, connection).payload(ends(connection, size).u32(0).u32(0))
}

/// Connection attempted.
fn connected(time: i64, connection: u32) -> Event {
    let options = ends(connection, 0).u16(1460).u16(1).u16(0).u16(1).u32(65_535).u16(8).u16(8);
    network(12, 10, time, connection).payload(options.u32(0).u32(0))
}
