//! Damaged files are statuses, and take no memory that the caller does not allow.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;
#[path = "common/damage.rs"]
mod damage;
#[path = "common/writer.rs"]
mod writer;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use common::{LIMIT, data};
use damage::{Random, mutate};
use peak_alloc::PeakAlloc;
use symbols::{Pdb, Reason, Symbol};
use writer::{PAGE, msf, msfz, sample, u32s};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test at a time, so that what is on the heap is of it alone.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const ADDRESSES: [u32; 12] =
    [0x1000, 0x1008, 0x1014, 0x1015, 0x1040, 0x1080, 0x1100, 0x1140, 0x1200, 0x2000, 0x3000, 0xFFFF_FFFF];

/// What becomes of a file; no more than the limit is on the heap meanwhile, and some room for what is made of the streams.
fn tried(bytes: Vec<u8>, limit: u64) -> Result<Vec<Option<Symbol>>, Reason> {
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let found = Pdb::from_bytes("x.pdb", bytes, limit).and_then(|mut pdb| pdb.resolve(&ADDRESSES, true));
    let taken = HEAP.peak_usage().saturating_sub(before);
    assert!(taken <= usize::try_from(limit.min(LIMIT)).unwrap() + ROOM, "{taken} bytes");
    found
}

/// Bytes that are taken beside the streams: records that are made of them, and the decoder of Zstandard.
const ROOM: usize = 12 << 20;

/// A PDB of 1 kB that claims streams and a directory of any size.
fn claims(directory: u32, pages: &[u32], sizes: &[u32]) -> Vec<u8> {
    let mut head = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0".to_vec();
    head.extend(u32s(&[512, 1, u32::MAX, directory, 0]));
    head.extend(u32s(pages));
    head.resize(PAGE, 0);
    let mut table = u32s(&[2]);
    table.extend(u32s(&[u32::try_from(sizes.len()).unwrap()]));
    table.extend(u32s(sizes));
    table.resize(PAGE, 0);
    [head, table].concat()
}

#[test]
fn ten_gigabytes_claimed_in_a_kilobyte_take_none() {
    let _alone = alone();
    let all = u32::MAX - 1;
    for bytes in [
        claims(all, &[1], &[]),
        claims(1024, &[1, 1, 1], &[all, all, all]),
        claims(512, &[1], &[all; 100]),
        claims(512, &[1], &[0, 0x4000_0000, 0, 1]),
        claims(8, &[u32::MAX], &[]),
        msfz_claims(all, 1, all),
        msfz_claims(1024, all, all),
        msfz_claims(all, all, 0),
    ] {
        assert!(bytes.len() <= 1024);
        let found = tried(bytes, 4 << 30);
        assert!(matches!(found, Err(Reason::Unreadable(_))), "{found:?}");
    }
}

fn msfz_claims(directory: u32, streams: u32, chunks: u32) -> Vec<u8> {
    let mut head = b"Microsoft MSFZ Container\r\n\x1aALD\0\0".to_vec();
    head.extend(u32s(&[0, 0, 80, 0, 80, 0, streams, 0, directory, directory, chunks, chunks.wrapping_mul(20)]));
    head.resize(1024, 0xFF);
    head
}

#[test]
fn what_takes_more_than_the_limit_is_refused() {
    let _alone = alone();
    for name in ["attach_amd64.pdb", "attach_amd64.msfz"] {
        let words: Vec<bool> = [1 << 14, 1 << 17, 1 << 22].map(|limit| tried(data(name), limit).is_ok()).to_vec();
        assert_eq!(words, [false, false, true], "{name}");
    }
}

#[test]
fn a_small_part_that_unpacks_to_gigabytes_is_refused() {
    let _alone = alone();
    let zeros = zstd::encode_all(&vec![0; 64 << 20][..], 19).unwrap();
    let mut file = msfz(&[vec![], vec![]]);
    let directory_at = u32::try_from(file.len()).unwrap();
    file.extend(&zeros);
    let head =
        u32s(&[0, 0, directory_at, 0, directory_at, 0, 1, 1, u32::try_from(zeros.len()).unwrap(), 64 << 20, 0, 0]);
    file[32..80].copy_from_slice(&head);
    let found = tried(file, 1 << 20);
    assert!(matches!(found, Err(Reason::Unreadable(_))), "{found:?}");
}

#[test]
fn a_million_functions_within_one_another_are_refused() {
    let _alone = alone();
    let mut pdb = sample();
    let site = (0x1001, &[3, 0, 4, 0x3F, 0][..]);
    for (depth, is_read) in [(256, true), (257, false), (20_000, false)] {
        pdb.modules[0].symbols.clear();
        pdb.modules[0].procedure(0, 0x40, "f", &vec![site; depth]);
        let found = tried(pdb.msf(), LIMIT);
        assert_eq!(found.is_ok(), is_read, "{depth}");
        if let Ok(found) = found {
            assert_eq!(found[0].as_ref().unwrap().inlined.len(), depth);
        }
    }
}

#[test]
fn no_mutation_of_a_small_pdb_stops_the_program_or_fills_memory() {
    let _alone = alone();
    let mut moved = sample();
    moved.omap = Some([vec![(0x1000, 0x1000)], vec![(0x1000, 0x1000)]]);
    let files = [sample().msf(), msfz(&sample().streams()), moved.msf()];
    let (mut random, mut read) = (Random(0x9E37_79B9_7F4A_7C15), 0);
    let begin = Instant::now();
    for number in 0..20_000 {
        let mut bytes = files[number % files.len()].clone();
        mutate(&mut bytes, &mut random);
        read += usize::from(tried(bytes, 1 << 20).is_ok());
    }
    assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", begin.elapsed());
    // Most of what is damaged is still read: what is asked for lies elsewhere.
    assert_eq!(read, 15_726);
}

#[test]
fn no_mutation_of_real_streams_stops_the_program() {
    let _alone = alone();
    let file = data("run_code_on_dllmain_amd64.pdb");
    let mut random = Random(7);
    for _ in 0..200 {
        let mut bytes = file.clone();
        (0..50).for_each(|_| mutate(&mut bytes, &mut random));
        let _ = tried(bytes, LIMIT);
    }
}

#[test]
fn every_prefix_of_a_small_pdb_is_a_status() {
    let _alone = alone();
    for file in [sample().msf(), msfz(&sample().streams())] {
        for end in 0..file.len() - PAGE {
            let found = tried(file[..end].to_vec(), LIMIT);
            assert!(found.is_err() || end > file.len() / 2, "{end}");
        }
    }
}

#[test]
fn streams_that_are_empty_or_cut_are_statuses() {
    let _alone = alone();
    let streams = sample().streams();
    for number in 0..streams.len() {
        for len in 0..streams[number].len() {
            let mut cut = streams.clone();
            cut[number].truncate(len);
            let _ = tried(msf(&cut), LIMIT);
        }
    }
}
