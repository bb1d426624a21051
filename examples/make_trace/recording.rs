//! The committed example: twelve seconds of a small shop on a machine with four CPUs.

use std::collections::BTreeMap;

use crate::synth::header::{build_lab, debug_id, group_masks, last_dropped, partition_info};
use crate::synth::{FREQUENCY, Header, OnDisk, Session, T0, TimeZone, Trace, guid, header, trace};

pub const CPUS: u16 = 4;
const BUFFER: u32 = 0x2000;
/// 2026-03-02T09:00:00Z as FILETIME, at tick [`T0`].
pub const START: i64 = 134_169_156_000_000_000;
/// Ticks of the whole recording.
pub const LENGTH: i64 = 12 * FREQUENCY;
pub const MILLISECOND: i64 = FREQUENCY / 1000;
/// Three events are lost on this CPU at this time.
const LOSS: (u16, i64) = (2, T0 + 6_200 * MILLISECOND);
/// The groups of kernel events that the session asked for.
pub const MASKS: [u32; 8] = [0x0000_0317, 0x0000_0002, 0, 0, 0, 0, 0, 0];

/// Time, CPU, what it is, bytes.
type Entry = (i64, u16, &'static str, Vec<u8>);

/// Events as they happen, not in order yet.
#[derive(Default)]
pub struct Recording {
    events: Vec<Entry>,
}

impl Recording {
    pub fn add(&mut self, kind: &'static str, cpu: u16, time: i64, event: impl OnDisk) {
        self.events.push((time, cpu, kind, event.on_disk()));
    }

    /// How many events of each kind the data buffers hold.
    pub fn contents(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (_, _, kind, _) in &self.events {
            *counts.entry(*kind).or_default() += 1;
        }
        counts
    }

    /// The file.
    pub fn trace(mut self) -> Trace {
        self.events.sort_by_key(|event| event.0);
        let (before, after) = self.events.split_at(self.events.partition_point(|event| event.0 <= LOSS.1));
        let mut session = Session::new(CPUS, BUFFER as usize);
        log_all(&mut session, before);
        session.lose_events(LOSS.0, LOSS.1);
        log_all(&mut session, after);
        let pdb = guid("4b1d2f90-7a35-4c68-9e01-d2f7b8a5c366");
        trace(logfile_header())
            .header_event(group_masks(0x0005, T0, MASKS))
            .header_event(partition_info(T0, 0, 0, [0; 16], [0; 16]))
            .header_event(build_lab(T0, "26100.1.amd64fre.ge_release.240331-1435"))
            .header_event(debug_id(T0, pdb, 1, "till.pdb"))
            .header_event(last_dropped(T0, &[0, 0, LOSS.1, 0]))
            .buffers(session.finish(T0 + LENGTH))
    }
}

fn log_all(session: &mut Session, events: &[Entry]) {
    for (time, cpu, _, bytes) in events {
        session.log(*cpu, *time, bytes);
    }
}

fn logfile_header() -> Header {
    let zone = TimeZone {
        bias: -60,
        standard_name: "@tzres.dll,-322".to_owned(),
        standard_date: [0, 10, 0, 5, 3, 0, 0, 0],
        daylight_name: "@tzres.dll,-321".to_owned(),
        daylight_date: [0, 3, 0, 5, 2, 0, 0, 0],
        daylight_bias: -60,
        ..TimeZone::default()
    };
    let header = header().session("etl2parquet example").file("C:\\Traces\\example.etl").time_zone(zone);
    let header = header.buffer_size(BUFFER).processors(CPUS.into()).cpu_mhz(2904).pid(4120).tid(4124);
    let header = header.start_time(START).end_time(START + LENGTH).boot_time(START - 3 * 3600 * 10_000_000);
    header.log_file_mode(0x0200_0001).maximum_file_size(64).events_lost(3).name_words([10, 7])
}
