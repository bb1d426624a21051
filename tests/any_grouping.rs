//! Whatever events of whatever providers are put together in traces, the files of a provider bind as one table.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use base::progress::NoProgress;
use etl2parquet::Guid;
use published::{compare, published};
use schema::pack::Pack;
use support::Sandbox;
use synth::{OnDisk as _, Payload, Random, T0, buffer, event64, header, payload, trace};

/// An event that the pack knows.
#[derive(Clone, Copy)]
struct Known {
    provider: Guid,
    id: u16,
    version: u8,
}

/// One of several.
fn any<'a, T>(random: &mut Random, of: &'a [T]) -> &'a T {
    &of[usize::from(random.below(u16::try_from(of.len()).unwrap()))]
}

/// Some events of one provider.
fn some_events(random: &mut Random) -> Vec<Known> {
    let pack = Pack::builtin();
    let providers: Vec<Guid> = pack.providers().collect();
    let provider = *any(random, &providers);
    let layouts = pack.provider(&provider).unwrap().all();
    let count = 1 + random.below(12_u64);
    let one = |_| {
        let layout = any(random, layouts);
        Known { provider, id: layout.id, version: u8::try_from(layout.version).unwrap_or(0) }
    };
    (0..count).map(one).collect()
}

/// Zeros mostly, so that counts and texts are empty and many layouts fit; sometimes anything.
fn body(random: &mut Random) -> Payload {
    let length = *any(random, &[0, 4, 8, 16, 40, 100]);
    let is_wild = random.below(4_u64) == 0;
    let bytes: Vec<u8> = (0..length).map(|_| if is_wild { random.below(255_u8) } else { 0 }).collect();
    payload().bytes(&bytes)
}

fn guid(provider: &Guid) -> synth::Guid {
    let text: &'static str = Box::leak(provider.to_string().into_boxed_str());
    synth::guid(text)
}

/// Events of some providers, in any grouping into some traces, converted with any of these options.
fn check(seed: u64) {
    let random = &mut Random::new(seed);
    let known: Vec<Known> = (0..3).flat_map(|_| some_events(random)).collect();
    let traces = 2 + random.below(3_u64);
    let sandbox = Sandbox::new();
    for number in 0..traces {
        let events: Vec<Vec<u8>> = (0..=random.below(20_u8))
            .map(|at| {
                let event = any(random, &known);
                let time = T0 + 1 + i64::from(at);
                event64(guid(&event.provider), event.id, event.version, time).payload(body(random)).on_disk()
            })
            .collect();
        let bytes = trace(header().buffer_size(0x10000)).buffer(buffer(0x10000).sequence(1).events(events)).to_bytes();
        sandbox.file(&format!("in/t{number}x.etl"), &bytes);
    }
    let options = any(random, &["", "--layout event", "--columns declared"]);
    sandbox.t(&format!("convert in -q -o out --threads 2 {options}"), 0);
    let found = published(&[sandbox.path("out")]).unwrap();
    assert_eq!(found.len() as u64, traces);
    let mismatches: Vec<String> =
        compare(&found, &NoProgress).unwrap().mismatches().iter().map(ToString::to_string).collect();
    assert!(mismatches.is_empty(), "seed {seed} {options}:\n{}", mismatches.join("\n"));
}

#[test]
fn files_of_a_provider_bind_in_any_grouping() {
    for seed in 1..=40 {
        println!("seed {seed}");
        check(seed);
    }
}
