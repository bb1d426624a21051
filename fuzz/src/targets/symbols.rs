//! Files of symbols: a PDB in either container, a portable PDB, and the binary that names it.

use std::fs;

use schema::symbol_file;
use schema::tmf::Tmf;
use symbols::{Found, MethodPlace, Module, Pdb, PdbId, PortablePdb, Symbol, SymbolPath};

use crate::digest::Digest;
use crate::oracle;

/// Bytes that a PDB may take in memory.
const LIMIT: u64 = 4 << 20;

/// Addresses that are asked for besides those that the input ends with.
const ADDRESSES: [u32; 12] =
    [0, 0x1000, 0x1008, 0x1010, 0x1014, 0x1040, 0x1080, 0x1100, 0x1140, 0x1200, 0x3000, 0xFFFF_FFFF];

/// A PDB or an MSFZ, and addresses.
///
/// Oracles: functions are the same with lines and without, alone and among others; an address lies in its function; no more functions
/// are inlined in one another than are followed.
pub fn pdb(input: &[u8], digest: &mut Digest) {
    let opened = Pdb::from_bytes("input.pdb", input.to_vec(), LIMIT);
    digest.count("pdb", if opened.is_ok() { "opened" } else { "refused" });
    let Ok(mut pdb) = opened else { return };
    digest.add(pdb.id());
    let tail = input[input.len().saturating_sub(32)..].as_chunks::<4>().0;
    let mut addresses: Vec<u32> = tail.iter().map(|bytes| u32::from_le_bytes(*bytes) & 0x3FFF).collect();
    addresses.extend(ADDRESSES);
    addresses.sort_unstable();
    addresses.dedup();
    let (plain, lines) = (pdb.resolve(&addresses, false), pdb.resolve(&addresses, true));
    digest.add_shown(&lines);
    let Ok(plain) = plain else { return };
    for (&address, symbol) in addresses.iter().zip(&plain) {
        if let Some(Symbol { start, size: Some(size), .. }) = symbol {
            assert!(address.wrapping_sub(*start) < *size, "pdb: {address:#x} lies in {start:#x}+{size:#x}");
        }
        if let Ok(alone) = pdb.resolve(&[address], false) {
            oracle::same(&alone.first(), &Some(symbol));
        }
    }
    for (plain, full) in plain.iter().zip(lines.into_iter().flatten()) {
        assert!(full.as_ref().is_none_or(|symbol| symbol.inlined.len() <= 256), "pdb: too deep");
        let bare = full.map(|symbol| Symbol { file: None, line: None, inlined: Vec::new(), ..symbol });
        oracle::same(&bare, plain);
    }
}

/// The WPP messages of a PDB or an MSFZ.
///
/// Oracles: the text is that of a TMF file, with no more messages than there are annotations, and is the same each time.
pub fn pdb_messages(input: &[u8], digest: &mut Digest) {
    let Ok(pdb) = Pdb::from_bytes("input.pdb", input.to_vec(), LIMIT) else {
        return digest.count("pdb_messages", "refused");
    };
    let found = symbol_file::messages(&pdb);
    digest.count("pdb_messages", if found.is_ok() { "read" } else { "damaged" });
    oracle::same(&symbol_file::messages(&pdb), &found);
    let Ok(text) = found else { return };
    let mut annotations = 0;
    let counted = pdb.annotations("TMF:", |_| annotations += 1);
    assert!(counted.is_ok(), "pdb_messages: what was read is read again");
    let tmf = Tmf::parse(&text);
    assert!(tmf.messages.len() <= annotations, "pdb_messages: {} of {annotations}", tmf.messages.len());
    digest.add((annotations, tmf.messages.len(), tmf.rejected.len()));
    digest.add(text);
}

/// A binary of which the trace has the time stamp and the size.
///
/// Oracle: it is found by its own identity, and never by another.
pub fn pe(input: &[u8], digest: &mut Digest) {
    let number = |at: usize| {
        input.get(at..at.checked_add(4)?).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    };
    let at = number(60).map_or(0, |at| at as usize);
    let (time_stamp, size) = (number(at.saturating_add(8)), number(at.saturating_add(80)));
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    fs::write(folder.path().join("input.dll"), input).expect("the input fits on the disk");
    let path = SymbolPath::parse(&folder.path().display().to_string(), LIMIT);
    let module = |time_stamp| Module { file_name: "input.dll".to_owned(), time_stamp, size, pdb: None };
    let found = path.identify(&module(time_stamp));
    digest.count("pe", found.word());
    if let Found::Found(found) = &found {
        digest.add(found);
    }
    let other = time_stamp.map(|time_stamp| time_stamp.wrapping_add(1));
    assert!(!matches!(path.identify(&module(other)), Found::Found(_)), "pe: found by the identity of another");
}

/// A portable PDB, or an assembly that holds one, and places in its methods.
///
/// Oracles: a place has the same line alone, among others, and in any order; offsets beyond the last point have the line of that; an
/// assembly's PDB is found by its own identity alone.
pub fn portable_pdb(input: &[u8], digest: &mut Digest) {
    let opened = if input.starts_with(b"MZ") { embedded(input) } else { plain(input) };
    digest.count("portable_pdb", if opened.is_some() { "opened" } else { "refused" });
    let Some(pdb) = opened else { return };
    digest.add(pdb.id());
    let tail = input[input.len().saturating_sub(32)..].as_chunks::<4>().0;
    let tail = tail.iter().map(|&[method, a, b, _]| MethodPlace {
        token: 0x0600_0000 | u32::from(method),
        il_offset: u16::from_le_bytes([a, b]).into(),
    });
    let all = (0x0600_0000..=0x0600_0008)
        .flat_map(|token| (0..12).chain([20, 300, u32::MAX]).map(move |il_offset| MethodPlace { token, il_offset }));
    let places: Vec<MethodPlace> = all.chain(tail).collect();
    let found = pdb.lines(&places);
    digest.add_shown(&found);
    let backwards: Vec<MethodPlace> = places.iter().copied().rev().collect();
    let backwards = pdb.lines(&backwards).map(|lines| lines.into_iter().rev().collect());
    oracle::same(&backwards, &found);
    let Ok(found) = found else { return };
    digest.count("portable_pdb", if found.iter().any(Option::is_some) { "lines" } else { "no lines" });
    for (place, line) in places.into_iter().zip(found) {
        let alone = pdb.lines(&[place]);
        oracle::same(&alone, &Ok(vec![line]));
    }
    let ends = |il_offset| (1..9).map(move |number| MethodPlace { token: 0x0600_0000 + number, il_offset });
    let (last, beyond): (Vec<_>, Vec<_>) = (ends(1 << 29).collect(), ends(u32::MAX).collect());
    oracle::same(&pdb.lines(&beyond), &pdb.lines(&last));
}

fn plain(input: &[u8]) -> Option<PortablePdb> {
    PortablePdb::from_bytes("input.pdb", input.to_vec(), LIMIT).ok()
}

/// The portable PDB in an assembly.
fn embedded(input: &[u8]) -> Option<PortablePdb> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    fs::write(folder.path().join("input.dll"), input).expect("the input fits on the disk");
    let path = SymbolPath::parse(&folder.path().display().to_string(), LIMIT);
    // That of the seed.
    let id = PdbId { guid: base::guid::Guid([3; 16]), age: 1 };
    let found = path.open_portable("input.pdb", Some("input.dll"), id).found()?;
    oracle::same(&found.id(), &id);
    let other = PdbId { age: 2, ..id };
    assert!(path.open_portable("input.pdb", Some("input.dll"), other).found().is_none(), "portable_pdb: another age");
    Some(found)
}
