//! Times, names and identities.

use base::calendar;
use base::clock::{Clock, ClockAnchor, ClockKind, ClockParameters, FileTime, Ticks, UnixNanos};
use base::names::{self, Claim, NameFrom, Naming, Right};
use base::sid::Sid;
use etl2parquet::Guid;

use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;

/// The clock of a header event, and times by it.
///
/// Oracles: monotone; each time is that of the fraction in exact arithmetic of 128 bits.
pub fn clock(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let parameters = ClockParameters {
        clock_type: bytes.u8().into(),
        perf_frequency: bytes.i64(),
        cpu_mhz: bytes.u32(),
        start_time: FileTime(bytes.i64()),
        boot_time: FileTime(bytes.i64()),
        first_ticks: Ticks(bytes.i64()),
        timer_resolution: bytes.u32(),
        os_build: bytes.u32(),
        is_private: bytes.u8() & 1 == 1,
    };
    let anchor = *bytes.pick(&[ClockAnchor::Start, ClockAnchor::Boot]);
    let clock = Clock::new(parameters, anchor);
    let mut ticks: Vec<i64> = (0..8).map(|_| bytes.i64()).collect();
    ticks.extend([i64::MIN, -1, 0, 1, i64::MAX, parameters.first_ticks.0]);
    ticks.sort_unstable();
    let times: Vec<i64> = ticks.iter().map(|&ticks| clock.to_unix(Ticks(ticks)).0).collect();
    for (&ticks, &time) in ticks.iter().zip(&times) {
        assert_eq!(time, exact(&clock, ticks), "clock: tick {ticks} of {clock:?}");
        let status = clock.convert(Ticks(ticks)).1;
        assert_eq!(status, clock.status_of(Ticks(ticks), clock.to_unix(Ticks(ticks))), "clock: one status");
        let error = clock.double_formula().map(|formula| formula.error_ns(Ticks(ticks), UnixNanos(time)));
        digest.add((time, status.map(|status| status.name()), error));
    }
    oracle::monotone(times);
    digest.add((clock.quality(), clock.resolution_ns(), clock.boot_anchor_ns().map(|time| time.0)));
    digest.add((clock.declared_type_ignored(), clock.counter_span_ns(bytes.u64())));
}

/// The time of a tick, by the description of the clocks alone.
fn exact(clock: &Clock, ticks: i64) -> i64 {
    let parameters = clock.parameters();
    let file_time = |FileTime(time): FileTime| (i128::from(time) - 116_444_736_000_000_000) * 100;
    let (anchor_ticks, anchor_ns) = match (clock.kind(), clock.anchor()) {
        (ClockKind::SystemTime, _) => (parameters.first_ticks.0, file_time(FileTime(parameters.first_ticks.0))),
        (_, ClockAnchor::Start) => (parameters.first_ticks.0, file_time(parameters.start_time)),
        (_, ClockAnchor::Boot) => (0, file_time(parameters.boot_time)),
    };
    let (ns, per) = match clock.kind() {
        ClockKind::Qpc => (1_000_000_000, i128::from(parameters.perf_frequency)),
        ClockKind::SystemTime => (100, 1),
        ClockKind::CpuCycle => (1000, i128::from(parameters.cpu_mhz)),
    };
    // Without a usable frequency a tick counts as a nanosecond.
    let (ns, per) = if per > 0 { (ns, per) } else { (1, 1) };
    let distance = i128::from(ticks) - i128::from(anchor_ticks);
    let time = anchor_ns + (distance * ns).div_euclid(per);
    i64::try_from(time).unwrap_or(if time < 0 { i64::MIN } else { i64::MAX })
}

/// Names of traces, datasets and events.
///
/// Oracles: names unique; each is safe on every system; what is safe and not cut stays as it is.
pub fn folder_names(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let texts: Vec<String> = (0..=bytes.below(12)).map(|_| bytes.text()).collect();
    let namings: Vec<Naming<'_>> = texts.iter().map(|text| naming(text, &mut bytes)).collect();
    let datasets = names::dataset_names(&namings);
    oracle::unique(&datasets);
    let suffixed: Vec<(String, String)> = texts.iter().map(|text| (text.clone(), bytes.below(4).to_string())).collect();
    let events = names::event_names(&suffixed);
    oracle::unique(&events);
    let traces: Vec<String> = texts
        .iter()
        .flat_map(|text| [NameFrom::Stem, NameFrom::Path].map(|from| names::trace_name(text, from)))
        .collect();
    for name in datasets.iter().chain(&events).chain(&traces) {
        safe(name);
    }
    for text in &texts {
        let once = names::safe_name(text);
        safe(&once);
        // What was cut is longer than what is not, by its hash.
        assert!(once.len() > 120 || names::safe_name(&once) == once, "names: {once:?} is safe and stays as it is");
    }
    digest.add((datasets, events, traces));
}

fn naming<'a>(text: &'a str, bytes: &mut Bytes<'_>) -> Naming<'a> {
    let choice = bytes.u8();
    let guid = (choice & 1 == 0).then(|| Guid::from_parts(u32::from(bytes.u8() & 3), 0, 0, u64::from(choice >> 6)));
    let right = [Right::Claimed, Right::Registered, Right::Own][usize::from(choice >> 1) % 3];
    let claim = Claim { right, events: u64::from(choice >> 5) };
    Naming { guid, name: (choice & 8 == 0).then_some(text), claim, is_anothers: choice & 16 != 0 }
}

/// Whether any system takes a name for that of one file, by the rules of Windows, globs and `key=value` folders.
fn safe(name: &str) {
    let is_special = |c: char| c.is_control() || "{}[]*?\\/:\"<>|%=".contains(c);
    assert!(!name.contains(is_special), "names: {name:?} has a character of a meaning");
    assert!(!name.ends_with(['.', ' ']), "names: {name:?} ends as no name may");
    assert!(name.len() <= 200, "names: {name:?} is too long");
    let stem = name.split('.').next().unwrap_or_default().to_uppercase();
    let reserved = ["CON", "PRN", "AUX", "NUL", "COM1", "LPT9", "CONIN$", "CONOUT$"];
    assert!(!reserved.contains(&stem.trim_end()), "names: {name:?} is a device");
}

/// Times and identities as people write them.
///
/// Oracle: read-back equality.
pub fn texts(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let ns = bytes.i64();
    oracle::same(&calendar::parse_rfc3339(&calendar::rfc3339(ns)), &Some(ns));
    digest.add(calendar::rfc3339_seconds(i128::from(bytes.i64()) * i128::from(bytes.i64())));
    let guid = Guid(bytes.array());
    oracle::same(&guid.to_string().parse::<Guid>().ok(), &Some(guid));
    oracle::same(&Guid::from_text_order(guid.to_text_order()), &guid);
    let text = String::from_utf8_lossy(bytes.rest());
    digest.add(calendar::parse_rfc3339(&text));
    digest.add(text.parse::<Guid>().ok().map(|guid| guid.0));
    let sid = Sid::read(bytes.rest());
    assert!(sid.as_ref().is_none_or(|sid| sid.size() <= bytes.rest().len()), "sid: it lies within its bytes");
    digest.add(sid.map(|sid| sid.to_string()));
}
