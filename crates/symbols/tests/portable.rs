//! Lines of managed methods, from a real portable PDB and from small ones.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;
#[path = "common/portable.rs"]
mod portable;
#[path = "common/writer.rs"]
mod writer;

use common::{LIMIT, data};
use portable::Record::{Hidden, Line};
use portable::{Heap, SmallPortable, name, points, root, sample, tables};
use symbols::{MethodPlace, Pdb, PortablePdb, Readable, Reason, SourceLine};

fn open(bytes: Vec<u8>) -> Readable<PortablePdb> {
    PortablePdb::from_bytes("x.pdb", bytes, LIMIT)
}

fn place(token: u32, il_offset: u32) -> MethodPlace {
    MethodPlace { token, il_offset }
}

/// A line in short: the last part of the file, and the number.
fn shown(line: Option<&SourceLine>) -> String {
    line.map_or("-".to_owned(), |line| format!("{}:{}", line.file, line.line))
}

fn lines(bytes: Vec<u8>, asked: &[MethodPlace]) -> Vec<String> {
    open(bytes).unwrap().lines(asked).unwrap().iter().map(|line| shown(line.as_ref())).collect()
}

fn check(bytes: Vec<u8>, cases: &[(u32, u32, &str)]) {
    let asked: Vec<_> = cases.iter().map(|&(token, il_offset, _)| place(token, il_offset)).collect();
    for ((token, il_offset, expected), found) in cases.iter().zip(lines(bytes, &asked)) {
        assert_eq!(found, *expected, "{token:#x} {il_offset:#x}");
    }
}

/// What another decoder says, see `data/make_portable_golden`.
fn golden() -> Vec<(MethodPlace, String)> {
    let text = String::from_utf8(data("ClrLoader.lines")).unwrap();
    let row = |line: &str| {
        let [token, il_offset, file, number] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let place = place(u32::from_str_radix(token, 16).unwrap(), il_offset.parse().unwrap());
        (place, if file == "-" { "-".to_owned() } else { format!("{file}:{number}") })
    };
    text.lines().map(row).collect()
}

#[test]
fn lines_are_those_of_another_decoder_in_any_order() {
    let golden = golden();
    assert_eq!((golden.len(), golden.iter().filter(|(_, line)| line == "-").count()), (349, 19));
    let (asked, expected): (Vec<_>, Vec<_>) = golden.into_iter().unzip();
    assert_eq!(lines(data("ClrLoader.pdb"), &asked), expected);
    let reversed: Vec<_> = asked.iter().copied().rev().collect();
    let found: Vec<_> = lines(data("ClrLoader.pdb"), &reversed).into_iter().rev().collect();
    assert_eq!(found, expected);
    let twice = [&asked[..], &asked[..]].concat();
    assert_eq!(lines(data("ClrLoader.pdb"), &twice), [&expected[..], &expected[..]].concat());
    for (place, expected) in asked.into_iter().zip(expected) {
        assert_eq!(lines(data("ClrLoader.pdb"), &[place]), [expected]);
    }
}

#[test]
fn lines_are_those_of_the_statements() {
    // The statements of https://github.com/pythonnet/clr-loader, netfx_loader, that begin at these offsets.
    let statements = [
        (0x0600_0001, 0, "ClrLoader.cs", 18, "if (ptr == IntPtr.Zero)"),
        (0x0600_0001, 13, "ClrLoader.cs", 19, "return null;"),
        (0x0600_0001, 15, "ClrLoader.cs", 21, "int len = 0;"),
        (0x0600_0001, 19, "ClrLoader.cs", 23, "len++;"),
        (0x0600_0001, 23, "ClrLoader.cs", 22, "while (Marshal.ReadByte(ptr, len) != 0)"),
        (0x0600_0001, 48, "ClrLoader.cs", 28, "return Encoding.UTF8.GetString(bytes);"),
        (0x0600_0002, 7, "ClrLoader.cs", 36, "_domains.Add(new DomainData(AppDomain.CurrentDomain));"),
        (0x0600_0005, 102, "ClrLoader.cs", 98, "return domainData.GetFunctor(assemblyPath, typeName, function);"),
        (0x0600_0007, 20, "ClrLoader.cs", 129, "domainData.Dispose();"),
        (0x0600_0009, 6, "ClrLoader.cs", 14, "static List<DomainData> _domains = new List<DomainData>();"),
        (0x0600_0010, 0, "DomainData.cs", 40, "public AppDomain Domain { get; }"),
        (0x0600_0013, 8, "DomainData.cs", 71, "throw new InvalidOperationException(\"Domain is already disposed\");"),
        (0x0600_0013, 311, "DomainData.cs", 104, "return result;"),
        (0x0600_0014, 43, "DomainData.cs", 117, "_disposed = true;"),
        (0x0600_0015, 0, "DomainData.cs", 66, "private static readonly object _lockObj = new object();"),
        (0x0600_0017, 19, "DomainData.cs", 61, "return Assembly.LoadFrom(assemblyPath);"),
    ];
    let asked: Vec<_> = statements.iter().map(|&(token, il_offset, ..)| place(token, il_offset)).collect();
    for (statement, found) in statements.iter().zip(lines(data("ClrLoader.pdb"), &asked)) {
        let (.., file, line, text) = statement;
        assert!(found.ends_with(&format!("/netfx_loader/{file}:{line}")), "{found}, not {line}: {text}");
    }
}

#[test]
fn the_identity_is_the_one_that_the_assembly_names() {
    let dll = data("ClrLoader.dll");
    let at = dll.windows(4).position(|bytes| bytes == b"RSDS").unwrap();
    let pdb = open(data("ClrLoader.pdb")).unwrap();
    assert_eq!(pdb.id().guid.0, dll[at + 4..at + 20]);
    assert_eq!(pdb.id().age.to_le_bytes(), dll[at + 20..at + 24]);
    assert_eq!(pdb.id().folder(), "95F8F6B2AFBC45E4884CB4A5BF5ADDD21");
    assert_eq!(pdb.path().to_str(), Some("x.pdb"));
}

#[test]
fn tokens_that_are_no_methods_have_no_lines() {
    let tokens = [0, 0x0600_0000, 0x0600_0018, 0x06FF_FFFF, 0x0A00_0001, 0x0200_0001, 0x2B00_0001, 1, u32::MAX];
    assert_eq!(lines(data("ClrLoader.pdb"), &tokens.map(|token| place(token, 0))), ["-"; 9]);
    assert_eq!(lines(data("ClrLoader.pdb"), &[]), [""; 0]);
    assert_eq!(lines(data("ClrLoader.pdb"), &[place(0x0600_0017, u32::MAX)]).len(), 1);
}

#[test]
fn each_place_has_the_line_that_the_rules_say() {
    let cases = [
        (0x0600_0001, 0, "/src/a.cs:10"),
        (0x0600_0001, 3, "/src/a.cs:10"),
        (0x0600_0001, 4, "/src/a.cs:12"),
        (0x0600_0001, 8, "/src/a.cs:12"),
        // Hidden, and behind that an earlier line.
        (0x0600_0001, 9, "-"),
        (0x0600_0001, 19, "-"),
        (0x0600_0001, 20, "/src/a.cs:11"),
        (0x0600_0001, u32::MAX, "/src/a.cs:11"),
        (0x0600_0002, 0, "-"),
        // Of several files, and from an offset on.
        (0x0600_0003, 1, "-"),
        (0x0600_0003, 2, r"C:\src\b.cs:100000"),
        (0x0600_0003, 7, "/src/a.cs:7"),
        (0x0600_0003, 299, "/src/a.cs:7"),
        (0x0600_0003, 300, r"C:\src\b.cs:8"),
        // The same points in two files.
        (0x0600_0004, 3, "/src/a.cs:6"),
        (0x0600_0005, 3, r"C:\src\b.cs:6"),
        // Numbers of four bytes, and a name without separators.
        (0x0600_0006, 0, "-"),
        (0x0600_0006, 1, "c.cs:268435455"),
        (0x0600_0006, 0x1FFF_FFFE, "c.cs:268435455"),
        (0x0600_0006, 0x1FFF_FFFF, "c.cs:1"),
    ];
    check(sample().bytes(), &cases);
    check(SmallPortable { has_wide_indexes: true, ..sample() }.bytes(), &cases);
}

#[test]
fn methods_that_share_their_points_are_of_their_own_files() {
    // One blob for both, as compilers write it: the heap is as short as what stands in it.
    let mut heap = Heap::new();
    let names = [name(&mut heap, b'/', &["a.cs"]), name(&mut heap, b'/', &["b.cs"])];
    let same = heap.add(&points(None, &[Line(0, 5), Line(3, 6)]));
    let methods: Vec<_> = (0..1000).map(|number| (number % 2 + 1, same)).collect();
    let (pdb, tables) = (vec![1; 32], tables(false, &names, &methods));
    let bytes = root(&[("#Pdb", pdb), ("#~", tables), ("#Blob", heap.0)]);
    let asked: Vec<_> = (0..1000).map(|number| place(0x0600_0001 + number, 3)).collect();
    let expected: Vec<_> = ["a.cs:6", "b.cs:6"].into_iter().cycle().take(1000).collect();
    assert_eq!(lines(bytes, &asked), expected);
}

#[test]
fn of_two_faults_the_same_one_is_told_in_any_order() {
    // The same points in a file whose name lies outside, and in one that there is not.
    let mut heap = Heap::new();
    let same = heap.add(&points(None, &[Line(0, 5)]));
    let tables = tables(false, &[0xFFFF], &[(1, same), (2, same)]);
    let pdb = open(root(&[("#Pdb", vec![1; 32]), ("#~", tables), ("#Blob", heap.0)])).unwrap();
    let asked = [place(0x0600_0001, 3), place(0x0600_0002, 3)];
    for asked in [asked, [asked[1], asked[0]]] {
        let reason = pdb.lines(&asked).unwrap_err().to_string();
        assert_eq!(reason, "the name of a file in the portable PDB is damaged");
    }
}

#[test]
fn more_than_65535_files_have_wide_numbers() {
    let mut heap = Heap::new();
    let (first, last) = (name(&mut heap, b'/', &["a.cs"]), name(&mut heap, b'/', &["b.cs"]));
    let mut names = vec![first; 0xFFFF];
    names.push(last);
    let methods = [(0x1_0000, heap.add(&points(None, &[Line(0, 6)])))];
    let bytes = root(&[("#~", tables(false, &names, &methods)), ("#Blob", heap.0), ("#Pdb", vec![1; 32])]);
    assert_eq!(lines(bytes, &[place(0x0600_0001, 0)]), ["b.cs:6"]);
}

#[test]
fn points_may_say_little() {
    let bytes = |points: &[u8]| SmallPortable { methods: vec![(1, points.to_vec())], ..sample() }.bytes();
    let t = |points: &[u8], expected: &str| check(bytes(points), &[(0x0600_0001, 8, expected)]);
    // Nothing but the signature; a document at the end; a line that stands for none, written out.
    t(&[0], "-");
    t(&[0, 0, 0, 5, 7, 1, 0, 2], "/src/a.cs:7");
    t(&[&[0, 0, 0, 5][..], &portable::unsigned(0x00FE_EFEE), &[1]].concat(), "-");
    t(&points(None, &[Hidden(0), Hidden(3), Line(9, 2)]), "-");
}

#[test]
fn points_that_are_damaged_are_told() {
    let t = |points: &[u8], expected: &str| {
        let pdb = open(SmallPortable { methods: vec![(1, points.to_vec())], ..sample() }.bytes()).unwrap();
        assert_eq!(pdb.lines(&[place(0x0600_0001, 8)]).unwrap_err().to_string(), expected, "{points:?}");
        assert_eq!(pdb.lines(&[place(0x0600_0002, 8)]).unwrap(), [None], "nobody asks for that method");
    };
    let damaged = "the sequence points of a method in the portable PDB are damaged";
    let line = [0, 0, 0, 5, 7, 1];
    t(&line[..5], damaged);
    // Line 7, and 8 before that; an offset, and a line, of 2^29; the document 0; no number.
    t(&[&line[..], &[1, 0, 5, 0x71, 0]].concat(), damaged);
    t(&[&line[..], &[0xDF, 0xFF, 0xFF, 0xFF], &line, &[1, 0, 0]].concat(), damaged);
    t(&[&[0, 0, 0, 5, 0xDF, 0xFF, 0xFF, 0xFF, 1][..], &[1, 0, 5, 2, 0]].concat(), damaged);
    t(&[&line[..], &[0, 0]].concat(), damaged);
    t(&[0xFF; 8], damaged);
    // A document that there is not.
    t(&[&line[..], &[0, 9, 1, 0, 5, 2, 0]].concat(), "a method lies in a file that the portable PDB has not");
}

#[test]
fn files_of_other_kinds_are_told_apart() {
    let windows = "a Windows PDB, of which lines of managed code are not read";
    let streams = sample().streams();
    let without = |gone: &str| root(&streams.iter().filter(|(name, _)| *name != gone).cloned().collect::<Vec<_>>());
    let mut types = streams.clone();
    types[1].1[8] = 1;
    let cases: [(Vec<u8>, Reason); 9] = [
        (writer::sample().msf(), Reason::Unsupported(windows.to_owned())),
        (writer::msfz(&writer::sample().streams()), Reason::Unsupported(windows.to_owned())),
        (data("ClrLoader.dll"), Reason::Unreadable("a program, not a PDB".to_owned())),
        (b"".to_vec(), Reason::Unreadable("neither a PDB nor an MSFZ".to_owned())),
        (b"BSJB".to_vec(), Reason::Unreadable("the root of the portable PDB is cut off".to_owned())),
        (without("#Pdb"), Reason::Unsupported("metadata of .NET that is no portable PDB".to_owned())),
        (without("#~"), Reason::Unsupported("a portable PDB without compressed tables".to_owned())),
        (root(&types), Reason::Unsupported("a portable PDB that has tables of types, too".to_owned())),
        (sample().bytes()[..200].to_vec(), Reason::Unreadable("a stream of the portable PDB is cut off".to_owned())),
    ];
    for (bytes, expected) in cases {
        assert_eq!(open(bytes).unwrap_err(), expected);
    }
    // One without names and points has methods all the same.
    let pdb = open(without("#Blob")).unwrap();
    assert_eq!(pdb.lines(&[place(0x0600_0002, 0)]).unwrap(), [None]);
    let outside = "sequence points lie outside of the portable PDB";
    assert_eq!(pdb.lines(&[place(0x0600_0001, 0)]).unwrap_err().to_string(), outside);
    let native = Pdb::from_bytes("x.pdb", data("ClrLoader.pdb"), LIMIT).unwrap_err();
    assert_eq!(native, Reason::Unsupported("a portable PDB, which has no native functions".to_owned()));
}

#[test]
fn a_file_is_in_memory_as_a_whole_or_refused() {
    let (bytes, folder) = (data("ClrLoader.pdb"), tempfile::tempdir().unwrap());
    let path = common::put("ClrLoader.pdb", &folder.path().join("a.pdb"));
    let len = bytes.len() as u64;
    let expected = Reason::Unreadable(format!("takes more than {} bytes of memory", len - 1));
    assert_eq!(PortablePdb::from_bytes("x.pdb", bytes, len - 1).unwrap_err(), expected);
    assert_eq!(PortablePdb::open(&path, len - 1).unwrap_err(), expected);
    let pdb = PortablePdb::open(&path, len).unwrap();
    assert_eq!(pdb.path(), path);
    // There is no room for the name of the file.
    assert!(matches!(pdb.lines(&[place(0x0600_0001, 0)]), Err(Reason::Unreadable(_))));
    let pdb = PortablePdb::open(&path, LIMIT).unwrap();
    let found = pdb.lines(&[place(0x0600_0001, 0)]).unwrap();
    assert!(shown(found[0].as_ref()).ends_with("/netfx_loader/ClrLoader.cs:18"));
    assert!(matches!(PortablePdb::open(folder.path(), LIMIT), Err(Reason::Unreadable(_))));
}
