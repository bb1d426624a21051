//! Portable PDBs that are damaged are statuses, and take no more memory and time than the file is long.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;
#[path = "common/damage.rs"]
mod damage;
#[path = "common/portable.rs"]
mod portable;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use common::{LIMIT, data};
use damage::{Random, mutate};
use peak_alloc::PeakAlloc;
use portable::Record::{Document, Line};
use portable::{Heap, SmallPortable, assembly, embedded, name, points, root, sample, tables, unsigned};
use symbols::{Found, MethodPlace, PdbId, PortablePdb, Reason, SourceLine, SymbolPath};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// One test at a time, so that what is on the heap is of it alone.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

type Lines = Result<Vec<Option<SourceLine>>, Reason>;

/// Bytes that a place takes, and what is taken beside the file and its names.
const PLACE: usize = 64;
const ROOM: usize = 1 << 20;

/// What becomes of a file; no more than the limit, and some room for each place, is on the heap meanwhile.
fn tried(bytes: Vec<u8>, asked: &[MethodPlace], limit: u64) -> Lines {
    let (begin, len) = (Instant::now(), bytes.len());
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage().saturating_sub(len);
    let found = PortablePdb::from_bytes("x.pdb", bytes, limit).and_then(|pdb| pdb.lines(asked));
    let taken = HEAP.peak_usage().saturating_sub(before);
    assert!(taken <= usize::try_from(limit).unwrap() + asked.len() * PLACE + ROOM, "{taken} bytes");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    found
}

/// Places in the methods of the small one and of the real one.
fn places() -> Vec<MethodPlace> {
    let offsets = [0, 3, 9, 300, u32::MAX];
    (0x0600_0000..0x0600_0018).flat_map(|token| offsets.map(|il_offset| MethodPlace { token, il_offset })).collect()
}

/// A place in each of so many methods.
fn of_each(count: u32) -> Vec<MethodPlace> {
    (1..=count).map(|number| MethodPlace { token: 0x0600_0000 + number, il_offset: u32::MAX }).collect()
}

#[track_caller]
fn refused(found: Lines, reason: &str) {
    assert_eq!(found.unwrap_err(), Reason::Unreadable(reason.to_owned()));
}

const OVERLAP: &str = "methods of the portable PDB have parts of each other's sequence points";
const NAMES: &str = "the names of files in the portable PDB are longer than there can be";

/// A file of this heap, with documents and methods whose blobs have these indexes.
fn file(heap: Vec<u8>, names: &[u32], methods: &[(u32, u32)]) -> Vec<u8> {
    root(&[("#Pdb", vec![1; 32]), ("#~", tables(true, names, methods)), ("#Blob", heap)])
}

#[test]
fn methods_whose_points_overlap_are_refused() {
    let _alone = alone();
    // 200,000 blobs, each of which begins two bytes after the one before it, and is 16,372 bytes long: 3 GB of 400 kB. What says how long
    // one is, is a number in those before it.
    let count = 200_000_u32;
    let mut heap = Heap::new();
    let names = [name(&mut heap, b'/', &["a.cs"])];
    let first = u32::try_from(heap.0.len()).unwrap();
    heap.0.extend([0xBF, 0xF4].repeat(210_000));
    let methods: Vec<_> = (0..count).map(|number| (1, first + 2 * number)).collect();
    refused(tried(file(heap.0.clone(), &names, &methods), &of_each(count), LIMIT), OVERLAP);
    // One is not read in two ways, either.
    let twice: Vec<_> = (0..count).map(|number| (number % 2, first)).collect();
    let found = tried(file(heap.0, &names, &twice), &of_each(count), LIMIT);
    assert!(matches!(found, Err(Reason::Unreadable(_))), "{found:?}");
}

#[test]
fn a_blob_that_all_methods_share_is_decoded_once() {
    let _alone = alone();
    let (mut heap, count) = (Heap::new(), 200_000);
    let name = name(&mut heap, b'/', &["a.cs"]);
    let lines: Vec<_> = (0..200_000).map(|number| Line(number, number + 1)).collect();
    let shared = heap.add(&points(None, &lines));
    let bytes = file(heap.0, &[name], &vec![(1, shared); count as usize]);
    let found = tried(bytes, &of_each(count), LIMIT).unwrap();
    assert!(found.iter().flatten().all(|line| line.line == 200_000));
    assert_eq!(found.into_iter().flatten().count(), count as usize);
}

#[test]
fn many_places_of_one_method_take_one_pass() {
    let _alone = alone();
    let mut heap = Heap::new();
    let name = name(&mut heap, b'/', &["a.cs"]);
    let lines: Vec<_> = (0..200_000).map(|number| Line(2 * number, number + 1)).collect();
    let points = heap.add(&points(None, &lines));
    let asked: Vec<_> = (0..400_000).rev().map(|il_offset| MethodPlace { token: 0x0600_0001, il_offset }).collect();
    let found = tried(file(heap.0, &[name], &[(1, points)]), &asked, LIMIT).unwrap();
    let lines = found.iter().flatten().map(|line| line.line);
    assert!(lines.eq((0..400_000).rev().map(|il_offset| il_offset / 2 + 1)));
}

#[test]
fn names_that_are_longer_than_there_can_be_are_refused() {
    let _alone = alone();
    let t = |heap: Vec<u8>, names: &[u32], limit: u64| {
        let count = u32::try_from(names.len()).unwrap();
        let mut heap = Heap(heap);
        let points = heap.add(&points(None, &[Line(0, 1)]));
        let methods: Vec<_> = (1..=count).map(|document| (document, points)).collect();
        tried(file(heap.0, names, &methods), &of_each(count), limit)
    };
    // A megabyte, ten thousand times in one name: 10 GB.
    let mut heap = Heap::new();
    let part = heap.add(&vec![b'a'; 1 << 20]);
    let long = heap.add(&[&b"/"[..], &unsigned(part).repeat(10_000)].concat());
    refused(t(heap.0.clone(), &[long], LIMIT), NAMES);
    // A megabyte, once.
    let once = heap.add(&[&b"/"[..], &unsigned(part)].concat());
    refused(t(heap.0, &[once], LIMIT), NAMES);
    // A part of 90 kB in each of a thousand.
    let mut heap = Heap::new();
    let part = heap.add(&vec![b'a'; 90_000]);
    let once = heap.add(&[&b"/"[..], &unsigned(part)].concat());
    refused(t(heap.0, &vec![once; 1000], LIMIT), NAMES);
    // No bytes, 20,000 times in each of 100,000 names.
    let mut heap = Heap::new();
    let empty = heap.add(&[0].repeat(20_000));
    refused(t(heap.0, &vec![empty; 100_000], 1 << 30), NAMES);
    // Bytes that are shown as three each.
    let mut heap = Heap::new();
    let part = heap.add(&vec![0xFF; 90_000]);
    let names: Vec<u32> = (0..300).map(|_| heap.add(&[&b"/"[..], &unsigned(part)].concat())).collect();
    refused(t(heap.0, &names, LIMIT), NAMES);
    // What there is room for is still read.
    let mut heap = Heap::new();
    let slashes = heap.add(&[vec![b'/'], [0].repeat(90_000)].concat());
    let found = t(heap.0, &[slashes], LIMIT).unwrap();
    assert_eq!(found[0].as_ref().unwrap().file.len(), 89_999);
}

#[test]
fn a_method_of_a_million_files_names_those_that_are_asked_for() {
    let _alone = alone();
    let mut heap = Heap::new();
    let names: Vec<u32> = (0..1000).map(|_| name(&mut heap, 0, &["some/file/of/a/name/that/is/long.cs"])).collect();
    let documents = (0..1_000_000).map(|number| Document(number % 1000 + 1));
    let records: Vec<_> = [Line(0, 1)].into_iter().chain(documents).chain([Line(5, 2)]).collect();
    let points = heap.add(&points(Some(1), &records));
    let found = tried(file(heap.0, &names, &[(0, points)]), &of_each(1), LIMIT).unwrap();
    assert_eq!(found[0].as_ref().unwrap().line, 2);
}

#[test]
fn what_is_claimed_takes_no_memory() {
    let _alone = alone();
    let all = u32::MAX.to_le_bytes();
    let streams = sample().streams();
    let tables = |at: usize, value: &[u8]| {
        let mut streams = streams.clone();
        streams[1].1[at..at + value.len()].copy_from_slice(value);
        root(&streams)
    };
    // Counts of documents, of methods; both; tables of every number.
    for bytes in [tables(24, &all), tables(28, &all), tables(24, &[255; 8]), tables(14, &[255; 2])] {
        let found = tried(bytes, &places(), 4 << 30);
        assert!(matches!(found, Err(Reason::Unreadable(_))), "{found:?}");
    }
    // The length of the version, and of each stream, and where it lies; more streams than there are.
    let plain = root(&streams);
    let at = |name: &[u8]| plain.windows(name.len()).position(|bytes| bytes == name).unwrap();
    for at in [12, at(b"#Pdb") - 4, at(b"#Pdb") - 8, at(b"#~") - 4, at(b"#~") - 8, at(b"#Blob") - 4, at(b"#Blob") - 8] {
        for value in [u32::MAX, 1 << 31, 0x7FFF_FFFF, u32::try_from(plain.len()).unwrap() + 1] {
            let mut bytes = plain.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let found = tried(bytes, &places(), 4 << 30);
            assert!(matches!(found, Err(Reason::Unreadable(_))), "{at} {value:#x} {found:?}");
        }
    }
    let mut bytes = b"BSJB\x01\0\x01\0\0\0\0\0\x04\0\0\0PDB\0\0\0\xFF\xFF".to_vec();
    bytes.extend(vec![0; 12 * 0xFFFE]);
    refused(tried(bytes, &places(), LIMIT), "the root of the portable PDB is cut off");
}

#[test]
fn every_length_count_and_offset_may_be_wrong() {
    let _alone = alone();
    let odd = [0, 1, 2, 0x7F, 0x80, 0xBF, 0xC0, 0xDF, 0xE0, 0xFF];
    let mut read = 0;
    for small in [sample(), SmallPortable { has_wide_indexes: true, ..sample() }] {
        let plain = small.bytes();
        for at in 0..plain.len() {
            for value in odd {
                let mut bytes = plain.clone();
                bytes[at] = value;
                read += usize::from(tried(bytes.clone(), &places(), 1 << 20).is_ok());
                let end = bytes.len().min(at + 4);
                bytes[at..end].fill(value);
                read += usize::from(tried(bytes, &places(), 1 << 20).is_ok());
            }
        }
    }
    // Much of what is wrong is read by nobody.
    assert_eq!(read, 8372);
}

#[test]
fn every_prefix_is_a_status() {
    let _alone = alone();
    let (small, real) = (sample().bytes(), data("ClrLoader.pdb"));
    for file in [small, real] {
        for end in 0..file.len() {
            let found = PortablePdb::from_bytes("x.pdb", file[..end].to_vec(), LIMIT);
            assert!(found.is_err(), "{end}");
        }
    }
    // Of an assembly, too.
    let folder = tempfile::tempdir().unwrap();
    let path = SymbolPath::parse(&folder.path().display().to_string(), LIMIT);
    let id = PdbId { guid: base::guid::Guid([3; 16]), age: 1 };
    let file = assembly(&[(17, embedded(&sample().bytes()))]);
    for end in 0..=file.len() {
        common::write(&folder.path().join("a.dll"), &file[..end]);
        let found = path.open_portable("a.pdb", Some("a.dll"), id);
        assert_eq!(matches!(found, Found::Found(_)), end == file.len(), "{end} {found:?}");
    }
}

#[test]
fn no_mutation_stops_the_program_or_fills_memory() {
    let _alone = alone();
    let wide = SmallPortable { has_wide_indexes: true, ..sample() };
    let files = [sample().bytes(), wide.bytes(), data("ClrLoader.pdb")];
    let (mut random, mut read, asked) = (Random(0x9E37_79B9_7F4A_7C15), 0, places());
    for number in 0..30_000 {
        let mut bytes = files[number % files.len()].clone();
        mutate(&mut bytes, &mut random);
        read += usize::from(tried(bytes, &asked, 1 << 20).is_ok());
    }
    // Much of what is damaged is still read: what is asked for lies elsewhere.
    assert_eq!(read, 13_414);
}

#[test]
fn a_small_assembly_that_unpacks_to_much_more_than_it_says_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut zeros = packed_zeros();
    let mut packed = b"MPDB".to_vec();
    packed.extend((1_u32 << 20).to_le_bytes());
    packed.append(&mut zeros);
    common::write(&folder.path().join("a.dll"), &assembly(&[(17, packed)]));
    let path = SymbolPath::parse(&folder.path().display().to_string(), 4 << 20);
    let id = PdbId { guid: base::guid::Guid([3; 16]), age: 1 };
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let found = path.open_portable("a.pdb", Some("a.dll"), id);
    let taken = HEAP.peak_usage().saturating_sub(before);
    assert_eq!(found.detail(), Some("the portable PDB in the binary is damaged"));
    assert!(taken < 8 << 20, "{taken} bytes");
}

/// Many zeros, packed with the fixed code of Deflate.
fn packed_zeros() -> Vec<u8> {
    // The literal 0, then again and again 258 bytes as the one before them.
    let mut bits: Vec<bool> = vec![true, true, false];
    bits.extend([0, 0, 1, 1, 0, 0, 0, 0].map(|bit| bit == 1));
    for _ in 0..(64 << 20) / 258 {
        bits.extend([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0].map(|bit| bit == 1));
    }
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect()
}
