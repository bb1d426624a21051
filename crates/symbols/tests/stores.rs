//! Files are found in every layout, by their identity alone.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{LIMIT, data, put, write};
use symbols::{Found, Module, PdbId, SymbolPath};
use tempfile::{TempDir, tempdir};

const PDB: &str = "run_code_on_dllmain_amd64.pdb";
const DLL: &str = "run_code_on_dllmain_amd64.dll";
const FOLDER: &str = "426541D845BF499D99B49655E343F8471";

fn id() -> PdbId {
    symbols::Pdb::from_bytes(PDB, data(PDB), LIMIT).unwrap().id()
}

fn open(path: &Path, name: &str, id: PdbId) -> Found<PathBuf> {
    match SymbolPath::parse(&path.display().to_string(), LIMIT).open(name, id) {
        Found::Found(pdb) => {
            assert_eq!(pdb.id(), id);
            Found::Found(pdb.path().to_owned())
        }
        Found::NotFound => Found::NotFound,
        Found::NoId => Found::NoId,
        Found::Mismatch { path, found } => Found::Mismatch { path, found },
        Found::Unreadable { path, reason } => Found::Unreadable { path, reason },
        Found::Unsupported { path, reason } => Found::Unsupported { path, reason },
    }
}

/// The status, and the file below the folder.
fn status(folder: &TempDir, name: &str, id: PdbId) -> (&'static str, String) {
    let found = open(folder.path(), name, id);
    let path = found.path().map(Path::to_owned).or_else(|| open(folder.path(), name, id).found());
    let below = path.map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string().replace('\\', "/"));
    (found.word(), below.unwrap_or_default())
}

#[test]
fn a_pdb_is_found_in_every_layout() {
    let key = id().folder();
    let layouts = [
        PDB.to_owned(),
        format!("{PDB}/{key}/{PDB}"),
        format!("ru/{PDB}/{key}/{PDB}"),
        format!("symbols/{PDB}"),
        format!("symbols/{PDB}/{key}/{PDB}"),
        format!("pdb/{PDB}"),
        format!("symbols/pdb/{PDB}"),
        format!("{PDB}/{key}/msfz0/{PDB}"),
        format!("{}/{}/{}", PDB.to_uppercase(), key.to_lowercase(), "Run_Code_On_DllMain_amd64.PDB"),
        format!("Symbols/PDB/{}", PDB.to_uppercase()),
    ];
    for layout in layouts {
        let folder = tempdir().unwrap();
        put(PDB, &folder.path().join(&layout));
        assert_eq!(status(&folder, PDB, id()), ("found", layout.clone()));
        assert_eq!(status(&folder, &format!(r"D:\a\{PDB}"), id()), ("found", layout.clone()));
        assert_eq!(status(&folder, "other.pdb", id()), ("not_found", String::new()));
    }
}

#[test]
fn an_msfz_lies_beside_a_pdb_or_in_its_place() {
    let (folder, key) = (tempdir().unwrap(), id().folder());
    let layout = format!("{PDB}/{key}/msfz0/{PDB}");
    put("run_code_on_dllmain_amd64.msfz", &folder.path().join(&layout));
    assert_eq!(status(&folder, PDB, id()), ("found", layout));
    let plain = format!("{PDB}/{key}/{PDB}");
    put("run_code_on_dllmain_amd64.msfz", &folder.path().join(&plain));
    assert_eq!(status(&folder, PDB, id()), ("found", plain));
}

#[test]
fn another_age_or_guid_is_refused() {
    let folder = tempdir().unwrap();
    put(PDB, &folder.path().join(PDB));
    let right = id();
    let mut guid = right.guid;
    guid.0[15] ^= 1;
    for id in [PdbId { age: right.age + 1, ..right }, PdbId { guid, ..right }, PdbId { age: 0, ..right }] {
        assert_eq!(status(&folder, PDB, id), ("mismatch", PDB.to_owned()));
        let found = open(folder.path(), PDB, id);
        assert_eq!(found.detail(), Some(right.folder().as_str()));
        // Not even where the folder is called like the other one.
        let lying = tempdir().unwrap();
        let layout = format!("{PDB}/{}/{PDB}", id.folder());
        put(PDB, &lying.path().join(&layout));
        assert_eq!(status(&lying, PDB, id), ("mismatch", layout));
    }
    assert_eq!(status(&folder, PDB, PdbId { guid: base::guid::Guid::ZERO, age: 0 }).0, "no_id");
}

#[test]
fn of_two_files_of_one_name_the_right_one_is_taken() {
    let folder = tempdir().unwrap();
    put("run_code_on_dllmain_x86.pdb", &folder.path().join(PDB));
    assert_eq!(status(&folder, PDB, id()), ("mismatch", PDB.to_owned()));
    let layout = format!("ru/{PDB}/{}/{PDB}", id().folder());
    write(&folder.path().join("symbols").join(PDB), b"garbage");
    assert_eq!(status(&folder, PDB, id()), ("unreadable", format!("symbols/{PDB}")));
    put(PDB, &folder.path().join("symbols").join(&layout));
    assert_eq!(status(&folder, PDB, id()), ("found", format!("symbols/{layout}")));
    // In the next element, too.
    let first = tempdir().unwrap();
    put("run_code_on_dllmain_x86.pdb", &first.path().join(PDB));
    let both = format!("{};;cache*{}", first.path().display(), folder.path().display());
    assert_eq!(SymbolPath::parse(&both, LIMIT).open(PDB, id()).word(), "found");
}

/// A cabinet of one file that is stored as it is.
fn cabinet(name: &str, bytes: &[u8]) -> Vec<u8> {
    let blocks: Vec<&[u8]> = bytes.chunks(0x8000).collect();
    let files_at = 36 + 8;
    let data_at = files_at + 16 + name.len() + 1;
    let size = data_at + bytes.len() + 8 * blocks.len();
    let mut cab = Vec::new();
    let u32s = |cab: &mut Vec<u8>, values: &[usize]| {
        values.iter().for_each(|&value| cab.extend(u32::try_from(value).unwrap().to_le_bytes()));
    };
    let u16s = |cab: &mut Vec<u8>, values: &[usize]| {
        values.iter().for_each(|&value| cab.extend(u16::try_from(value).unwrap().to_le_bytes()));
    };
    cab.extend(b"MSCF");
    u32s(&mut cab, &[0, size, 0, files_at, 0]);
    cab.extend([3, 1]);
    u16s(&mut cab, &[1, 1, 0, 0, 0]);
    u32s(&mut cab, &[data_at]);
    u16s(&mut cab, &[blocks.len(), 0]);
    u32s(&mut cab, &[bytes.len(), 0]);
    u16s(&mut cab, &[0, 0, 0, 0x20]);
    cab.extend(name.as_bytes());
    cab.push(0);
    for block in blocks {
        u32s(&mut cab, &[0]);
        u16s(&mut cab, &[block.len(), block.len()]);
        cab.extend(block);
    }
    cab
}

#[test]
fn a_cabinet_stands_for_the_file_that_it_holds() {
    let packed = "run_code_on_dllmain_amd64.pd_";
    for layout in [packed.to_owned(), format!("{PDB}/{}/{packed}", id().folder())] {
        let folder = tempdir().unwrap();
        write(&folder.path().join(&layout), &cabinet(PDB, &data(PDB)));
        assert_eq!(status(&folder, PDB, id()), ("found", layout.clone()));
        let small = SymbolPath::parse(&folder.path().display().to_string(), 1 << 19);
        assert_eq!(small.open(PDB, id()).word(), "unreadable");
        write(&folder.path().join(&layout), b"MSCF");
        assert_eq!(status(&folder, PDB, id()), ("unreadable", layout));
    }
}

#[test]
fn a_pointer_leads_to_the_file_or_says_why_there_is_none() {
    let (folder, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
    let target = put(PDB, &elsewhere.path().join("x.pdb"));
    let pointer = format!("{PDB}/{}/file.ptr", id().folder());
    let cases = [
        (format!("PATH:{}", target.display()), "found"),
        (format!("{}\r\n", target.display()), "found"),
        ("MSG: no longer kept".to_owned(), "unreadable"),
        (r"PATH:\\server\share\x.pdb".to_owned(), "unsupported"),
        ("PATH:there_is_none".to_owned(), "unreadable"),
    ];
    for (text, expected) in cases {
        write(&folder.path().join(&pointer), text.as_bytes());
        let found = open(folder.path(), PDB, id());
        assert_eq!(found.word(), expected, "{text}");
        if expected == "found" {
            assert_eq!(found.found(), Some(target.clone()));
        }
    }
}

#[test]
fn a_folder_full_of_garbage_is_a_status() {
    let folder = tempdir().unwrap();
    let key = id().folder();
    fs::create_dir_all(folder.path().join(PDB).join(&key).join(PDB)).unwrap();
    for (number, bytes) in
        [&b""[..], b"MZ", b"BSJB", b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", &[0xFF; 5000]].iter().enumerate()
    {
        write(&folder.path().join(format!("{number}.pdb")), bytes);
        write(&folder.path().join(format!("{number}.pdb_")), bytes);
    }
    let words: Vec<_> = (0..5).map(|number| status(&folder, &format!("{number}.pdb"), id()).0).collect();
    assert_eq!(words, ["unreadable", "unreadable", "unsupported", "unreadable", "unreadable"]);
    assert_eq!(status(&folder, PDB, id()).0, "unreadable");
    for name in ["", "..", "a/..", r"c:\", "\0", "*"] {
        let word = open(folder.path(), name, id()).word();
        assert!(["no_id", "not_found"].contains(&word), "{name:?}: {word}");
    }
}

#[test]
fn a_zip_archive_has_what_folders_have() {
    let folder = tempdir().unwrap();
    let zip = folder.path().join("trace.etl.zip");
    let member = format!("symbols/{PDB}/{}/{PDB}", id().folder());
    write(&zip, &stored_zip(&[("trace.etl", b"none"), (&member, &data(PDB))]));
    let path = SymbolPath::parse(&zip.display().to_string(), LIMIT);
    let pdb = path.open(PDB, id()).found().unwrap();
    assert_eq!(pdb.path(), zip.join(&member));
    assert_eq!(path.open("other.pdb", id()).word(), "not_found");
    assert_eq!(path.open(PDB, PdbId { age: 9, ..id() }).word(), "mismatch");
    write(&zip, b"PK\x03\x04 nothing");
    assert_eq!(SymbolPath::parse(&zip.display().to_string(), LIMIT).open(PDB, id()).word(), "unreadable");
}

/// A zip archive of files that are stored as they are.
fn stored_zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    for (name, bytes) in files {
        let at = len(&zip);
        let mut fields = vec![0; 8];
        fields.extend(crc32(bytes).to_le_bytes());
        fields.extend(len(bytes));
        fields.extend(len(bytes));
        fields.extend(&len(name.as_bytes())[..2]);
        fields.extend([0, 0]);
        zip.extend(b"PK\x03\x04\x0a\0");
        zip.extend(&fields);
        zip.extend(name.as_bytes());
        zip.extend(*bytes);
        directory.extend(b"PK\x01\x02\x0a\0\x0a\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(at);
        directory.extend(name.as_bytes());
    }
    let at = len(&zip);
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06\0\0\0\0");
    let count = &u32::try_from(files.len()).unwrap().to_le_bytes()[..2];
    zip.extend([count, count].concat());
    zip.extend(len(&directory));
    zip.extend(at);
    zip.extend([0, 0]);
    zip
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
    };
    !bytes.iter().fold(u32::MAX, step)
}

#[test]
fn servers_are_named_and_not_asked() {
    let path = SymbolPath::parse(
        "srv*https://a/b;SRV*c:\\x*HTTP://c;symsrv*symsrv.dll*d*https://a/b;cache*e;https://f; ;srv**https://g",
        LIMIT,
    );
    assert_eq!(path.servers(), ["https://a/b", "HTTP://c", "https://f", "https://g"]);
    assert_eq!(path.open(PDB, id()).word(), "not_found");
}

#[test]
fn local_parts_of_every_element_are_searched() {
    let folder = tempdir().unwrap();
    put(PDB, &folder.path().join(PDB).join(id().folder()).join(PDB));
    let shown = folder.path().display();
    for text in [
        format!("{shown}"),
        format!("srv*{shown}"),
        format!("srv*{shown}*https://server"),
        format!("srv*nowhere*{shown}*https://server"),
        format!("symsrv*symsrv.dll*{shown}"),
        format!("Cache*{shown};srv*https://server"),
    ] {
        assert_eq!(SymbolPath::parse(&text, LIMIT).open(PDB, id()).word(), "found", "{text}");
    }
}

#[test]
fn a_binary_tells_the_identity_of_its_pdb() {
    let (time_stamp, size) = (header(&data(DLL), 8), header(&data(DLL), 80));
    let module = |time_stamp, size| Module { file_name: format!(r"C:\x\{DLL}"), time_stamp, size, pdb: None };
    let right = module(Some(time_stamp), Some(size));
    let key = format!("{time_stamp:08X}{size:x}");
    for layout in [DLL.to_owned(), format!("{DLL}/{key}/{DLL}"), format!("dll/{DLL}"), format!("ru/{DLL}/{key}/{DLL}")]
    {
        let folder = tempdir().unwrap();
        put(DLL, &folder.path().join(&layout));
        let path = SymbolPath::parse(&folder.path().display().to_string(), LIMIT);
        assert_eq!(path.identify(&right), Found::Found((PDB.to_owned(), id())), "{layout}");
        let other = path.identify(&module(Some(time_stamp + 1), Some(size)));
        // A store has nothing in the folder of the other one.
        let expected = if layout.contains(&key) { ("not_found", None) } else { ("mismatch", Some(key.as_str())) };
        assert_eq!((other.word(), other.detail()), expected, "{layout}");
        assert_eq!(path.identify(&module(None, Some(size))), Found::NoId);
        assert_eq!(path.identify(&module(Some(0), Some(size))), Found::NoId);
    }
    let known = Module { pdb: Some((r"D:\b\a.pdb".to_owned(), id())), ..right };
    let nowhere = SymbolPath::parse("", LIMIT);
    assert_eq!(nowhere.identify(&known), Found::Found(("a.pdb".to_owned(), id())));
}

/// A number of the headers of a binary.
fn header(binary: &[u8], offset: usize) -> u32 {
    let number = |at: usize| u32::from_le_bytes(binary[at..at + 4].try_into().unwrap());
    number(usize::try_from(number(60)).unwrap() + offset)
}

#[test]
fn every_binary_leads_to_its_pdb() {
    for binary in common::BINARIES {
        let folder = tempdir().unwrap();
        put(binary, &folder.path().join(binary));
        put(&common::pdb_of(binary), &folder.path().join(common::pdb_of(binary)));
        let bytes = data(binary);
        let (time_stamp, size) = (Some(header(&bytes, 8)), Some(header(&bytes, 80)));
        let path = SymbolPath::parse(&folder.path().display().to_string(), LIMIT);
        let module = Module { file_name: binary.to_owned(), time_stamp, size, pdb: None };
        let (name, id) = path.identify(&module).found().unwrap();
        assert_eq!((name.as_str(), path.open(&name, id).word()), (&*common::pdb_of(binary), "found"));
    }
}

#[test]
fn the_folder_of_a_store_is_that_of_microsoft() {
    assert_eq!(id().folder(), FOLDER);
}
