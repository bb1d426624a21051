//! What symbol servers send is kept as debuggers keep it, if it is what was asked for.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use base::remote::memory::{Fault, MemoryObjects};
use base::remote::{Stop, install};
use common::{LIMIT, data};
use symbols::{Module, PdbId, SymbolPath};
use tempfile::{TempDir, tempdir};

const PDB: &str = "run_code_on_dllmain_amd64.pdb";
const DLL: &str = "run_code_on_dllmain_amd64.dll";
const KEY: &str = "426541D845BF499D99B49655E343F8471";
const SERVER: &str = "https://symbols.example/store";

/// A server, for one test at a time, and a folder for what it sends.
struct Lab {
    server: Arc<MemoryObjects>,
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Lab {
    fn new() -> Lab {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let server = Arc::new(MemoryObjects::default());
        install(Arc::clone(&server) as Arc<_>);
        Lab { server, folder: tempdir().unwrap(), _turn: turn }
    }

    fn has(&self, path: &str, content: &[u8]) {
        self.server.set(&format!("{SERVER}/{path}"), content);
    }

    fn path(&self) -> SymbolPath {
        SymbolPath::parse(&format!("srv*{}*{SERVER}", self.folder.path().display()), LIMIT)
    }

    /// Asks for the PDB; returns its status, and how many requests it took.
    fn fetched(&self, path: &SymbolPath, module: &Module) -> (String, u64) {
        let before = self.server.counts().0;
        path.fetch(module, &Stop::default());
        let requests = self.server.counts().0 - before;
        let found = match path.identify(module) {
            symbols::Found::Found((name, id)) => {
                let found = path.open(&name, id);
                found.detail().map_or(found.word().to_owned(), |detail| format!("{}: {detail}", found.word()))
            }
            other => other.word().to_owned(),
        };
        (found, requests)
    }

    #[track_caller]
    fn t(&self, module: &Module, status: &str, requests: u64, kept: &[&str]) {
        assert_eq!(self.fetched(&self.path(), module), (status.to_owned(), requests));
        assert_eq!(files(self.folder.path()), kept);
    }
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, below: &str, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else {
                found.push(name);
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, "", &mut found);
    found.sort();
    found
}

fn id() -> PdbId {
    PdbId { guid: "426541d8-45bf-499d-99b4-9655e343f847".parse().unwrap(), age: 1 }
}

fn merged() -> Module {
    Module { pdb: Some((format!(r"D:\a\{PDB}"), id())), ..Module::default() }
}

/// The fields of the header of a binary by which it is known.
fn unmerged() -> Module {
    let bytes = data(DLL);
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let pe = u32_at(0x3C) as usize;
    let (time_stamp, size) = (Some(u32_at(pe + 8)), Some(u32_at(pe + 24 + 56)));
    Module { file_name: DLL.to_owned(), time_stamp, size, pdb: None }
}

fn absent(place: &str) -> String {
    format!("{place}/symbols-example-store.absent")
}

#[test]
fn a_file_is_asked_for_once_and_kept() {
    let lab = Lab::new();
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    let kept = format!("{PDB}/{KEY}/{PDB}");
    lab.t(&merged(), "found", 1, &[&kept]);
    lab.t(&merged(), "found", 0, &[&kept]);
    assert_eq!(fs::read(lab.folder.path().join(&kept)).unwrap(), data(PDB));
    let plain = lab.folder.path().join("plain");
    fs::write(&plain, []).unwrap();
    let rights = |path: &Path| fs::metadata(path).unwrap().permissions();
    assert_eq!(rights(&lab.folder.path().join(&kept)), rights(&plain), "others may share the folder");
    // A folder of debuggers that is asked by nobody else.
    let path = SymbolPath::parse(&lab.folder.path().display().to_string(), LIMIT);
    assert_eq!(path.open(PDB, id()).word(), "found");
}

#[test]
fn a_compressed_pdb_lies_in_a_folder_of_its_own() {
    let lab = Lab::new();
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data("run_code_on_dllmain_amd64.msfz"));
    lab.t(&merged(), "found", 1, &[&format!("{PDB}/{KEY}/msfz0/{PDB}")]);
    lab.t(&merged(), "found", 0, &[&format!("{PDB}/{KEY}/msfz0/{PDB}")]);
}

#[test]
fn a_binary_tells_which_pdb_is_meant() {
    let (lab, module) = (Lab::new(), unmerged());
    let key = format!("{:08X}{:x}", module.time_stamp.unwrap(), module.size.unwrap());
    lab.has(&format!("{DLL}/{key}/{DLL}"), &data(DLL));
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    let kept = [format!("{DLL}/{key}/{DLL}"), format!("{PDB}/{KEY}/{PDB}")];
    lab.t(&module, "found", 2, &[&kept[0], &kept[1]]);
    lab.t(&module, "found", 0, &[&kept[0], &kept[1]]);
}

#[test]
fn what_a_server_has_not_is_not_asked_for_again_on_the_same_day() {
    let lab = Lab::new();
    let mark = absent(&format!("{PDB}/{KEY}"));
    // As it is, and packed.
    lab.t(&merged(), "not_found", 2, &[&mark]);
    lab.t(&merged(), "not_found", 0, &[&mark]);
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    let file = fs::File::options().write(true).open(lab.folder.path().join(&mark)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(25 * 60 * 60)).unwrap();
    lab.t(&merged(), "found", 1, &[&format!("{PDB}/{KEY}/{PDB}"), &mark]);
}

#[test]
fn what_is_not_the_file_is_not_kept() {
    let expected = "unreadable: the server sent another file than the one that was asked for";
    for content in [b"<html>Log in</html>".to_vec(), data("run_code_on_dllmain_x86.pdb"), Vec::new()] {
        let lab = Lab::new();
        lab.has(&format!("{PDB}/{KEY}/{PDB}"), &content);
        lab.t(&merged(), expected, 1, &[]);
    }
    let lab = Lab::new();
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    lab.server.fail_after(0, Fault::CutShort);
    lab.t(&merged(), "unreadable: the server does not answer", 1, &[]);
    lab.server.heal();
    lab.t(&merged(), "found", 1, &[&format!("{PDB}/{KEY}/{PDB}")]);
}

#[test]
fn a_server_that_does_not_answer_is_asked_once() {
    let (lab, path) = (Lab::new(), Lab::path);
    let path = path(&lab);
    lab.server.fail_after(0, Fault::NetworkGone);
    assert_eq!(lab.fetched(&path, &merged()), ("unreadable: the server does not answer".to_owned(), 1));
    assert_eq!(lab.fetched(&path, &unmerged()), ("unreadable".to_owned(), 0));
    assert_eq!(path.troubles(), [format!("{SERVER} is not asked any more: 503 Slow Down")]);
    assert_eq!(files(lab.folder.path()), Vec::<String>::new());
}

#[test]
fn a_server_that_stops_answering_is_given_up() {
    let lab = Lab::new();
    let path = lab.path();
    let of_age = |age| Module { pdb: Some((PDB.to_owned(), PdbId { age, ..id() })), ..Module::default() };
    lab.server.fail_after(2, Fault::NetworkGone);
    let requests: Vec<_> = (1..8).map(|age| lab.fetched(&path, &of_age(age)).1).collect();
    // One that has none, as it is and packed; three that fail; and then no more.
    assert_eq!(requests, [2, 1, 1, 1, 0, 0, 0]);
    assert_eq!(path.troubles().len(), 1);
}

#[test]
fn what_killed_runs_have_left_is_removed_after_a_day() {
    let lab = Lab::new();
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    for (name, hours) in [(".etl2parquet-a.part", 25), (".etl2parquet-b.part", 23), ("other.part", 25)] {
        let file = fs::File::create(lab.folder.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 60 * 60)).unwrap();
    }
    lab.t(&merged(), "found", 1, &[".etl2parquet-b.part", "other.part", &format!("{PDB}/{KEY}/{PDB}")]);
}

#[test]
fn what_is_forbidden_is_asked_for_again_in_the_next_run() {
    let lab = Lab::new();
    lab.server.fail_after(0, Fault::Forbidden);
    lab.t(&merged(), "not_found", 2, &[]);
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    lab.t(&merged(), "found", 1, &[&format!("{PDB}/{KEY}/{PDB}")]);
}

#[test]
fn names_of_traces_reach_no_other_place() {
    let lab = Lab::new();
    for name in ["a?b.pdb", "a#b.pdb", "..", "a%2Fb.pdb", "a\n.pdb"] {
        let module = Module { pdb: Some((name.to_owned(), id())), ..Module::default() };
        assert_eq!(lab.fetched(&lab.path(), &module).1, 0, "{name}");
    }
    assert_eq!(files(lab.folder.path()), Vec::<String>::new());
}

#[test]
fn a_server_needs_a_folder() {
    let _lab = Lab::new();
    let t = |text: &str, asks: bool, troubles: &[&str]| {
        let path = SymbolPath::parse(text, LIMIT);
        let found = path.troubles();
        assert_eq!(
            (path.asks_servers(), found.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
            (asks, troubles),
            "{text}"
        );
    };
    t("srv*a*https://h/x", true, &[]);
    t("cache*a;srv*https://h/x;https://h/y", true, &[]);
    t("srv*a*b*s3://bucket/x", true, &[]);
    t("a;b", false, &[]);
    let hint = "https://h/x is not asked: no folder to keep its files in: write srv*FOLDER*https://h/x";
    t("srv*https://h/x", false, &[hint]);
    t("a;https://h/x", false, &[hint]);
    t("srv*https://me:secret@h/x", false, &[hint]);
    t("srv*https://h/x?sig=secret", false, &[hint]);
    let reason =
        "https://h/x is not asked: expected an address without user, query or fragment, found one that has some";
    t("srv*a*https://me:secret@h/x", false, &[reason]);
}

#[test]
fn many_threads_ask_for_each_file_once() {
    let lab = Lab::new();
    lab.has(&format!("{PDB}/{KEY}/{PDB}"), &data(PDB));
    let path = lab.path();
    let of_age = |age| Module { pdb: Some((PDB.to_owned(), PdbId { age, ..id() })), ..Module::default() };
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (1..=20).for_each(|age| path.fetch(&of_age(age), &Stop::default())));
        }
    });
    // One that is there, 19 that are not.
    assert_eq!(lab.server.counts().0, 1 + 19 * 2);
    assert_eq!(path.open(PDB, id()).word(), "found");
}

const PORTABLE: &str = "ClrLoader.pdb";
const PORTABLE_KEY: &str = "95F8F6B2AFBC45E4884CB4A5BF5ADDD2FFFFFFFF";

#[test]
fn a_portable_pdb_is_asked_for_by_its_own_key() {
    let id = PdbId { guid: "95f8f6b2-afbc-45e4-884c-b4a5bf5addd2".parse().unwrap(), age: 1 };
    let key = format!("{PORTABLE}/{PORTABLE_KEY}/{PORTABLE}");
    let t = |lab: &Lab, id: PdbId, word: &str, requests: u64, kept: &[&str]| {
        let (path, before) = (lab.path(), lab.server.counts().0);
        path.fetch_portable(&format!("/_/obj/{PORTABLE}"), id, &Stop::default());
        let found = path.open_portable(PORTABLE, None, id);
        assert_eq!((found.word(), lab.server.counts().0 - before), (word, requests));
        assert_eq!(files(lab.folder.path()), kept);
    };
    let lab = Lab::new();
    // Under the key of others nobody asks for it.
    lab.has(&format!("{PORTABLE}/{}/{PORTABLE}", id.folder()), &data(PORTABLE));
    let mark = absent(&format!("{PORTABLE}/{PORTABLE_KEY}"));
    t(&lab, id, "not_found", 2, &[&mark]);
    t(&lab, PdbId { age: 2, ..id }, "not_found", 0, &[&mark]);
    fs::remove_file(lab.folder.path().join(mark)).unwrap();
    lab.has(&key, &data(PORTABLE));
    t(&lab, id, "found", 1, &[&key]);
    t(&lab, id, "found", 0, &[&key]);
    assert_eq!(fs::read(lab.folder.path().join(&key)).unwrap(), data(PORTABLE));
    drop(lab);
    for content in [b"<html>Log in</html>".to_vec(), data(PDB), data("ClrLoader.dll"), data(PORTABLE)[..99].to_vec()] {
        let lab = Lab::new();
        lab.has(&key, &content);
        t(&lab, id, "unreadable", 1, &[]);
    }
}
