//! What happens in the recording, scene by scene.

use std::ops::RangeInclusive;

use crate::apps::{self, Line, Query};
use crate::kernel::{self, BACKUP, DiskRequest, Process, RESIDENT};
use crate::recording::{CPUS, LENGTH, MASKS, MILLISECOND, Recording, START};
use crate::synth::header::{group_masks, rundown_complete};
use crate::synth::{Guid, Random, T0, guid};

const SHOP: &Process = &RESIDENT[5];
const STOCK: &Process = &RESIDENT[6];

/// The recording, always the same.
pub fn record() -> Recording {
    let mut recording = Recording::default();
    let mut random = Random::new(20_260_302);
    rundown(&mut recording, 3, T0 + MILLISECOND);
    let mut slices = Vec::new();
    (0..CPUS).for_each(|cpu| processor(&mut recording, &mut random, &mut slices, cpu));
    backup(&mut recording);
    disk(&mut recording, &mut random);
    name_resolution(&mut recording, &mut random);
    orders(&mut recording, &mut random);
    stock(&mut recording, &mut random);
    till(&mut recording);
    rundown(&mut recording, 4, T0 + LENGTH - 5 * MILLISECOND);
    recording
}

/// An activity id: its kind and number in the first two groups.
fn activity(kind: u16, number: u32) -> Guid {
    let mut id = guid("00000000-0000-4e7a-8b21-5d3c9f60a188");
    id[..4].copy_from_slice(&number.to_le_bytes());
    id[4..6].copy_from_slice(&kind.to_le_bytes());
    id
}

/// What exists at the start (opcode 3) or at the end (opcode 4), all logged on CPU 0.
fn rundown(to: &mut Recording, opcode: u8, start: i64) {
    let mut time = start;
    for process in &RESIDENT {
        time += 40;
        to.add("kernel Process, rundown", 0, time, process.event(opcode, time));
        for thread in 0..process.threads.len() {
            time += 15;
            to.add("kernel Thread, rundown", 0, time, process.thread(opcode, thread, time));
        }
        for image in 0..process.images.len() {
            time += 20;
            to.add("kernel Image, rundown", 0, time, process.image(opcode, image, time));
        }
    }
    if opcode == 3 {
        to.add("kernel EventTrace, in data buffers", 0, time + 5, rundown_complete(time + 5));
    } else {
        to.add("kernel EventTrace, in data buffers", 0, time + 5, group_masks(0x0020, time + 5, MASKS));
    }
}

/// A thread and the time during which it runs on one of the processors.
type Slice = (u32, RangeInclusive<i64>);

/// Context switches between the idle thread and others, and a sample of every slice that lasts over a millisecond. A thread runs
/// nowhere else meanwhile: `slices` are those of the processors before.
fn processor(to: &mut Recording, random: &mut Random, slices: &mut Vec<Slice>, cpu: u16) {
    let threads: Vec<u32> = RESIDENT.iter().flat_map(|p| (0..p.threads.len()).map(|n| p.tid(n))).collect();
    let mut time = T0 + 10 * MILLISECOND;
    while time < T0 + LENGTH - 500 * MILLISECOND {
        let wanted = pick(random, threads.len());
        let waited = random.below(30_u32);
        let slice = 2_000 + i64::from(random.below(300_000_u32));
        let runs =
            |thread: &u32| slices.iter().any(|(other, ran)| other == thread && overlap(ran, &(time..=time + slice)));
        let thread = *threads
            .iter()
            .chain(&threads)
            .skip(wanted)
            .find(|thread| !runs(thread))
            .expect("more threads than processors");
        slices.push((thread, time..=time + slice));
        to.add("kernel Thread, context switch", cpu, time, kernel::context_switch(time, 0, thread, waited));
        if slice > MILLISECOND {
            let (tick, address) = (time + MILLISECOND, 0x7FFB_1234_0000 + 0x10 * random.below(0x1000_u64));
            to.add("kernel PerfInfo, sampled profile", cpu, tick, kernel::sample(tick, address, thread));
        }
        time += slice;
        to.add("kernel Thread, context switch", cpu, time, kernel::context_switch(time, thread, 0, 0));
        time += 10_000 + i64::from(random.below(4_000_000_u32));
    }
}

/// Whether two times have a moment in common.
fn overlap(a: &RangeInclusive<i64>, b: &RangeInclusive<i64>) -> bool {
    a.start() <= b.end() && b.start() <= a.end()
}

/// A process that starts on CPU 1 and ends on CPU 3.
fn backup(to: &mut Recording) {
    let (start, end) = (T0 + 4_000 * MILLISECOND, T0 + 9_000 * MILLISECOND);
    to.add("kernel Process, start and end", 1, start, BACKUP.event(1, start));
    for (thread, delay) in [(0, 300), (1, 40_000)] {
        to.add("kernel Thread, start and end", 1, start + delay, BACKUP.thread(1, thread, start + delay));
        to.add("kernel Thread, start and end", 3, end - delay, BACKUP.thread(2, thread, end - delay));
    }
    for (image, delay) in [(0, 700), (1, 1_600), (2, 2_500)] {
        to.add("kernel Image, load and unload", 1, start + delay, BACKUP.image(0x0A, image, start + delay));
        to.add("kernel Image, load and unload", 3, end - delay, BACKUP.image(2, image, end - delay));
    }
    to.add("kernel Process, start and end", 3, end, BACKUP.event(2, end));
}

/// The backup writes two blocks for each that it reads; the shop reads now and then.
fn disk(to: &mut Recording, random: &mut Random) {
    for n in 0..60 {
        let time = T0 + (4_100 + 80 * n) * MILLISECOND;
        request(to, random, &DiskRequest { write: n % 3 != 0, thread: BACKUP.tid(1), process: BACKUP.pid }, time);
    }
    for n in 0..20 {
        let time = T0 + (200 + 570 * n) * MILLISECOND;
        request(to, random, &DiskRequest { write: false, thread: SHOP.tid(0), process: SHOP.pid }, time);
    }
}

/// The request begins on one CPU and is completed on another.
fn request(to: &mut Recording, random: &mut Random, request: &DiskRequest, time: i64) {
    let (irp, ticks) = (0xFFFF_9A04_1000_0010 + 0x100 * random.below(64_u64), 800 + random.below(60_000_u32));
    let end = time + i64::from(ticks);
    let (from, on) = (random.below(CPUS), random.below(CPUS));
    let (bytes, offset) = (0x1000 << random.below(5_u8), 0x1000 * random.below(1_u64 << 26));
    to.add("kernel DiskIo, start", from, time, request.start(time, irp));
    to.add("kernel DiskIo, end", on, end, request.end(end, irp, bytes, offset, ticks.into()));
}

/// Names as their DNS type, status and answer; 9003: no such name.
const NAMES: [(&str, u32, u32, &str); 6] = [
    ("pay.example.com", 1, 0, "::ffff:203.0.113.17;"),
    ("pay.example.com", 28, 0, "2001:db8::17;"),
    ("stock.example.net", 1, 0, "type: 5 edge.example.net;::ffff:198.51.100.4;::ffff:198.51.100.5;"),
    ("missing.example.org", 1, 9003, ""),
    ("xn--grn-ioa.example", 1, 0, "::ffff:192.0.2.80;"),
    ("time.example.com", 1, 0, "::ffff:203.0.113.123;"),
];

/// The shop asks for two names of [`NAMES`] at a time, seven times.
fn name_resolution(to: &mut Recording, random: &mut Random) {
    let start = T0 + 50 * MILLISECOND;
    to.add("DNS client", 0, start, apps::dns_server(start, 1320, RESIDENT[3].tid(0)));
    for number in 0..14_u32 {
        let (name, kind, status, results) = NAMES[number as usize % NAMES.len()];
        let (client, client_thread) = (SHOP.pid, SHOP.tid(0));
        let query = Query { name, kind, status, results, client, client_thread, activity: activity(1, number) };
        let resolver = RESIDENT[3].tid(1 + number as usize % 2);
        let time = T0 + (100 + 800 * i64::from(number / 2)) * MILLISECOND + 3_000 * i64::from(number % 2);
        let answer = time + 60_000 + i64::from(random.below(300_000_u32));
        let (client_cpu, resolver_cpu) = (random.below(CPUS), random.below(CPUS));
        to.add("DNS client", client_cpu, time, query.called(time));
        to.add("DNS client", resolver_cpu, time + 900, query.on_network(time + 900, resolver));
        to.add("DNS client", resolver_cpu, time + 1_500, query.sent(time + 1_500, resolver));
        to.add("DNS client", resolver_cpu, answer, query.received(answer, resolver));
        if status == 9003 {
            to.add("DNS client", resolver_cpu, answer + 200, query.name_error(answer + 200, resolver));
        }
        to.add("DNS client", client_cpu, answer + 1_100, query.completed(answer + 1_100));
    }
}

const CUSTOMERS: [&str; 5] = ["Ada", "Grace", "Søren", "李雷", "Zoë 🦊"];
const GOODS: [Line; 4] = [("tea-100", 2, 4.5), ("mug-blue", 1, 12.0), ("honey", 3, 6.25), ("käse", 1, 8.75)];

/// Forty checkouts; each has its own activity, caused by that of the day.
fn orders(to: &mut Recording, random: &mut Random) {
    let day = activity(2, 0);
    for number in 0..40_u32 {
        let order = 70_000 + u64::from(number);
        let thread = SHOP.tid(1 + number as usize % 2);
        let start = T0 + (150 + 280 * i64::from(number)) * MILLISECOND;
        let milliseconds = 20 + random.below(150_u32);
        let stop = start + i64::from(milliseconds) * MILLISECOND;
        let (cpu, id) = (random.below(CPUS), activity(2, 1 + number));
        let begun = apps::checkout_start(start, order, id, day).pid(SHOP.pid).tid(thread);
        to.add("Example.Shop.Checkout", cpu, start, begun);
        let lines = &GOODS[..pick(random, GOODS.len() + 1)];
        let shelves: Vec<u16> = (0..random.below(4_u16)).map(|n| 10 * n + 1).collect();
        let placed = apps::order_placed(
            stop - 500,
            order,
            CUSTOMERS[number as usize % CUSTOMERS.len()],
            lines,
            &shelves,
            number % 4 == 0,
        );
        to.add("Example.Shop.Checkout", cpu, stop - 500, placed.pid(SHOP.pid).tid(thread).activity(id));
        let result = if lines.is_empty() { 0x8007_0057 } else { 0 };
        let done = apps::checkout_stop(stop, order, id, result, milliseconds).pid(SHOP.pid).tid(thread);
        to.add("Example.Shop.Checkout", cpu, stop, done);
    }
}

/// Seventy counts of the stock; of every ninth little is left.
fn stock(to: &mut Recording, random: &mut Random) {
    for number in 0..70_u32 {
        let time = T0 + (300 + 160 * i64::from(number)) * MILLISECOND;
        let (cpu, sku) = (random.below(CPUS), GOODS[number as usize % GOODS.len()].0);
        let levels = [40 - i32::try_from(number).expect("small"), 12, random.below(9_u8).into()];
        let level = apps::stock_level(time, sku, levels, START + (time - T0)).pid(STOCK.pid).tid(STOCK.tid(1));
        to.add("Example.Shop.Inventory", cpu, time, level);
        if number % 9 == 8 {
            let low = apps::stock_low(time + 700, sku, 3).pid(STOCK.pid).tid(STOCK.tid(1));
            to.add("Example.Shop.Inventory", cpu, time + 700, low);
        }
    }
}

/// The till's driver: twelve messages, every other with a text.
fn till(to: &mut Recording) {
    for number in 0..12_u32 {
        let time = T0 + (400 + 950 * i64::from(number)) * MILLISECOND;
        let what = if number % 2 == 0 { Ok(1 + number % 3) } else { Err("Thank you for your visit") };
        to.add("WPP messages", 3, time, apps::till_message(time, SHOP.tid(0), what));
    }
}

/// An index below `length`.
fn pick(random: &mut Random, length: usize) -> usize {
    usize::from(random.below(u16::try_from(length).expect("a short list")))
}
