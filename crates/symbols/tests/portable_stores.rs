//! Portable PDBs are found in every layout and in assemblies, by their identity alone.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;
#[path = "common/portable.rs"]
mod portable;
#[path = "common/writer.rs"]
mod writer;

use base::guid::Guid;
use common::{LIMIT, put, write};
use portable::{SmallPortable, assembly, embedded, sample};
use symbols::{Found, MethodPlace, PdbId, PortablePdb, SymbolPath};
use tempfile::{TempDir, tempdir};

const PDB: &str = "ClrLoader.pdb";
const DLL: &str = "ClrLoader.dll";
const GUID: &str = "95F8F6B2AFBC45E4884CB4A5BF5ADDD2";

fn id() -> PdbId {
    PdbId { guid: "95f8f6b2-afbc-45e4-884c-b4a5bf5addd2".parse().unwrap(), age: 1 }
}

fn open(folder: &TempDir, assembly: Option<&str>, id: PdbId) -> Found<PortablePdb> {
    open_below(LIMIT, folder, assembly, id)
}

fn open_below(limit: u64, folder: &TempDir, assembly: Option<&str>, id: PdbId) -> Found<PortablePdb> {
    let path = SymbolPath::parse(&folder.path().display().to_string(), limit);
    path.open_portable(&format!(r"/_/obj\Release/{PDB}"), assembly, id)
}

/// The status, the file below the folder, and what is said of it.
fn status(folder: &TempDir, found: &Found<PortablePdb>) -> (&'static str, String, String) {
    let path = if let Found::Found(pdb) = found { Some(pdb.path()) } else { found.path() };
    let below = path.map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string().replace('\\', "/"));
    (found.word(), below.unwrap_or_default(), found.detail().unwrap_or_default().to_owned())
}

#[track_caller]
fn t(folder: &TempDir, found: &Found<PortablePdb>, word: &str, below: &str, detail: &str) {
    let expected = (word, below.to_owned(), detail.to_owned());
    assert_eq!(status(folder, found), expected);
}

#[test]
fn a_portable_pdb_is_found_in_every_layout() {
    let layouts = [
        PDB.to_owned(),
        format!("{PDB}/{GUID}FFFFFFFF/{PDB}"),
        format!("{PDB}/{GUID}1/{PDB}"),
        format!("cl/{PDB}/{GUID}FFFFFFFF/{PDB}"),
        format!("symbols/{PDB}"),
        format!("symbols/pdb/{PDB}/{GUID}1/{PDB}"),
        format!("{}/{}/{}", PDB.to_lowercase(), format!("{GUID}FFFFFFFF").to_lowercase(), PDB.to_lowercase()),
    ];
    for layout in layouts {
        let folder = tempdir().unwrap();
        put(PDB, &folder.path().join(&layout));
        t(&folder, &open(&folder, None, id()), "found", &layout, "");
        t(&folder, &open(&folder, Some(DLL), id()), "found", &layout, "");
    }
    let folder = tempdir().unwrap();
    put(PDB, &folder.path().join(format!("{PDB}/{GUID}2/{PDB}")));
    t(&folder, &open(&folder, None, id()), "not_found", "", "");
}

#[test]
fn another_age_or_guid_is_refused() {
    let folder = tempdir().unwrap();
    put(PDB, &folder.path().join(PDB));
    let mut guid = id().guid;
    guid.0[15] ^= 1;
    let others = [PdbId { age: 2, ..id() }, PdbId { age: 0, ..id() }, PdbId { age: u32::MAX, ..id() }];
    for id in [&others[..], &[PdbId { guid, age: 1 }]].concat() {
        t(&folder, &open(&folder, Some(DLL), id), "mismatch", PDB, &format!("{GUID}1"));
    }
    // Not even where the folder is called like the other one.
    let (lying, other) = (tempdir().unwrap(), PdbId { guid, age: 1 });
    let layout = format!("{PDB}/{}FFFFFFFF/{PDB}", other.folder().trim_end_matches('1'));
    put(PDB, &lying.path().join(&layout));
    t(&lying, &open(&lying, None, other), "mismatch", &layout, &format!("{GUID}1"));
    t(&folder, &open(&folder, Some(DLL), PdbId { guid: Guid::ZERO, age: 1 }), "no_id", "", "");
    let path = SymbolPath::parse(&folder.path().display().to_string(), LIMIT);
    assert_eq!(path.open_portable("a/", Some(DLL), id()).word(), "no_id");
}

#[test]
fn the_right_one_is_taken_of_several() {
    let folder = tempdir().unwrap();
    write(&folder.path().join(PDB), b"garbage");
    t(&folder, &open(&folder, None, id()), "unreadable", PDB, "neither a PDB nor an MSFZ");
    let old = format!("{PDB}/{GUID}1/{PDB}");
    let folder = tempdir().unwrap();
    write(&folder.path().join("symbols").join(PDB), &sample().bytes());
    put(PDB, &folder.path().join(&old));
    t(&folder, &open(&folder, None, id()), "found", &old, "");
    let new = format!("{PDB}/{GUID}FFFFFFFF/{PDB}");
    put(PDB, &folder.path().join(&new));
    t(&folder, &open(&folder, None, id()), "found", &new, "");
}

#[test]
fn a_windows_pdb_in_its_place_is_of_a_kind_that_is_not_read() {
    // Its GUID is 1, and its age 3.
    let windows = |age| PdbId { guid: Guid([1; 16]), age };
    let detail = "a Windows PDB, of which lines of managed code are not read";
    for bytes in [writer::sample().msf(), writer::msfz(&writer::sample().streams())] {
        let folder = tempdir().unwrap();
        write(&folder.path().join(PDB), &bytes);
        t(&folder, &open(&folder, None, windows(3)), "unsupported", PDB, detail);
        t(&folder, &open(&folder, None, windows(1)), "mismatch", PDB, &windows(3).folder());
        let stored = tempdir().unwrap();
        let layout = format!("{PDB}/{}/{PDB}", windows(3).folder());
        write(&stored.path().join(&layout), &bytes);
        t(&stored, &open(&stored, Some(DLL), windows(3)), "unsupported", &layout, detail);
        t(&stored, &open(&stored, Some(DLL), windows(1)), "not_found", "", "");
    }
    let folder = tempdir().unwrap();
    write(&folder.path().join(PDB), &writer::sample().msf()[..600]);
    assert_eq!(open(&folder, None, windows(3)).word(), "unreadable");
}

/// The identity of the small one.
fn small() -> PdbId {
    PdbId { guid: Guid([3; 16]), age: 1 }
}

#[test]
fn a_pdb_lies_in_the_assembly_itself() {
    let folder = tempdir().unwrap();
    let codeview = [&b"RSDS"[..], &[3; 16], &[1, 0, 0, 0], b"ClrLoader.pdb\0"].concat();
    let bytes = assembly(&[(2, codeview.clone()), (16, vec![]), (17, embedded(&sample().bytes()))]);
    write(&folder.path().join("symbols").join(DLL.to_uppercase()), &bytes);
    let layout = format!("symbols/{}", DLL.to_uppercase());
    let found = open(&folder, Some(&format!(r"C:\app\{DLL}")), small());
    t(&folder, &found, "found", &layout, "");
    let pdb = found.found().unwrap();
    assert_eq!(pdb.id(), small());
    let line = pdb.lines(&[MethodPlace { token: 0x0600_0001, il_offset: 5 }]).unwrap().remove(0).unwrap();
    assert_eq!((&*line.file, line.line), ("/src/a.cs", 12));
    // That of another build; nobody names the assembly; a file of its own comes first.
    t(&folder, &open(&folder, Some(DLL), id()), "mismatch", &layout, &small().folder());
    t(&folder, &open(&folder, Some(DLL), PdbId { age: 2, ..small() }), "mismatch", &layout, &small().folder());
    t(&folder, &open(&folder, None, small()), "not_found", "", "");
    t(&folder, &open(&folder, Some(".."), small()), "not_found", "", "");
    // Beside a file of another build.
    put(PDB, &folder.path().join(PDB));
    t(&folder, &open(&folder, Some(DLL), small()), "found", &layout, "");
    write(&folder.path().join("symbols").join(PDB), &sample().bytes());
    t(&folder, &open(&folder, Some(DLL), small()), "found", &format!("symbols/{PDB}"), "");
    // One that only names its PDB says nothing.
    let folder = tempdir().unwrap();
    write(&folder.path().join(DLL), &assembly(&[(2, codeview)]));
    t(&folder, &open(&folder, Some(DLL), small()), "not_found", "", "");
    put(DLL, &folder.path().join(DLL));
    t(&folder, &open(&folder, Some(DLL), id()), "not_found", "", "");
}

#[test]
fn an_assembly_that_is_damaged_is_told() {
    let pdb = SmallPortable { methods: vec![(1, vec![0; 1000]); 3], ..sample() }.bytes();
    let packed = embedded(&pdb);
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut packed = packed.clone();
        change(&mut packed);
        assembly(&[(17, packed)])
    };
    let claim = |len: u32| with(&|packed| packed[4..8].copy_from_slice(&len.to_le_bytes()));
    let whole = with(&|_| ());
    let len = u32::try_from(pdb.len()).unwrap();
    let damaged = "the portable PDB in the binary is damaged";
    let too_long = format!("takes more than {LIMIT} bytes of memory, unpacked");
    let cases = [
        (whole[..whole.len() - 1].to_vec(), "the portable PDB in the binary is cut off"),
        (with(&|packed| packed[0] = b'N'), damaged),
        (with(&|packed| packed.truncate(7)), damaged),
        (with(&|packed| packed.truncate(100)), damaged),
        (with(&|packed| packed[8] = 7), damaged),
        (claim(len - 1), damaged),
        (claim(len + 1), damaged),
        (claim(u32::MAX), &too_long),
        (assembly(&[(17, embedded(b"MZ"))]), "a program, not a PDB"),
        (b"garbage".to_vec(), "no program of Windows"),
    ];
    for (bytes, detail) in cases {
        let folder = tempdir().unwrap();
        write(&folder.path().join(DLL), &bytes);
        t(&folder, &open(&folder, Some(DLL), small()), "unreadable", DLL, detail);
    }
    let folder = tempdir().unwrap();
    write(&folder.path().join(DLL), &whole);
    let most = (pdb.len() + packed.len()) as u64;
    assert_eq!(open_below(most, &folder, Some(DLL), small()).word(), "found");
    let too_long = format!("takes more than {} bytes of memory, unpacked", most - 1);
    t(&folder, &open_below(most - 1, &folder, Some(DLL), small()), "unreadable", DLL, &too_long);
}
