use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::output::manifest::{EventCounts, FORMAT_VERSION, InputEntry, LossCounts, MANIFEST_PATH, RunInfo};

fn stage(out: &Path, name: &str, content: &str) -> LocalFolder {
    let staging = LocalFolder::create(out, name).unwrap();
    staging.write("events/A/part-00000-00000.parquet", content.as_bytes()).unwrap();
    staging.write(MANIFEST_PATH, manifest(content).to_json().unwrap().as_bytes()).unwrap();
    staging
}

/// A manifest of a trace made from one input with this hash.
fn manifest(input_hash: &str) -> CommitRecord {
    CommitRecord {
        trace: "a".to_owned(),
        format_version: FORMAT_VERSION,
        tool_version: String::new(),
        options: json!({}),
        options_hash: "options".to_owned(),
        inputs: vec![InputEntry { source: "a.etl".to_owned(), size: 1, blake3: input_hash.to_owned() }],
        events: EventCounts::default(),
        decode: BTreeMap::new(),
        lost: LossCounts::default(),
        files: Vec::new(),
        run: RunInfo::default(),
    }
}

/// Every file below `folder`, `/`-separated and sorted.
fn tree(folder: &Path) -> Vec<String> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(next) = folders.pop() {
        list(&next, &mut folders, &mut files).unwrap();
    }
    let relative = |file: &PathBuf| file.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
    let mut names: Vec<_> = files.iter().map(relative).collect();
    names.sort();
    names
}

fn content(out: &Path, name: &str) -> String {
    fs::read_to_string(trace_folder(out, name).join("events/A/part-00000-00000.parquet")).unwrap()
}

const PUBLISHED: [&str; 2] = ["trace=a/events/A/part-00000-00000.parquet", "trace=a/sidecar/manifest.json"];

#[test]
fn a_trace_appears_whole_and_nothing_else_stays() {
    let out = tempfile::tempdir().unwrap();
    let out = &out.path().join("deep/out");
    let staging = stage(out, "a", "1");
    assert_eq!(
        tree(out),
        [
            ".etl2parquet-a/lock",
            ".etl2parquet-a/new/events/A/part-00000-00000.parquet.tmp",
            ".etl2parquet-a/new/sidecar/manifest.json.tmp",
        ]
    );
    assert_eq!(staging.commit(IfExists::Error).unwrap().folder, out.join("trace=a"));
    assert_eq!(tree(out), PUBLISHED);
    assert!(!out.join(".etl2parquet-a").exists());
}

#[test]
fn what_is_dropped_leaves_nothing() {
    let out = tempfile::tempdir().unwrap();
    drop(stage(out.path(), "a", "1"));
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn a_trace_that_is_there_is_replaced_only_on_request() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    stage(out, "a", "1").commit(IfExists::Error).unwrap();
    for refused in [IfExists::Error, IfExists::Skip] {
        let error = stage(out, "a", "2").commit(refused).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.to_string().contains("--if-exists"), "{error}");
        assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("1", &PUBLISHED.map(String::from)[..]));
    }
    stage(out, "a", "2").commit(IfExists::Replace).unwrap();
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("2", &PUBLISHED.map(String::from)[..]));
    stage(out, "b", "3").commit(IfExists::Replace).unwrap();
    assert_eq!(content(out, "b"), "3");
}

#[test]
fn replacing_in_two_steps_gives_the_same_as_an_exchange() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    stage(out, "a", "1").commit(IfExists::Error).unwrap();
    let staging = stage(out, "a", "2");
    unstage(&staging.root()).unwrap();
    staging.replace_in_two_steps(&staging.target()).unwrap();
    assert_eq!(fs::read_to_string(out.join(".etl2parquet-a/old/events/A/part-00000-00000.parquet")).unwrap(), "1");
    drop(staging);
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("2", &PUBLISHED.map(String::from)[..]));
}

#[test]
fn a_rename_that_fails_half_way_brings_the_old_trace_back() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    stage(out, "a", "1").commit(IfExists::Error).unwrap();
    let staging = stage(out, "a", "2");
    fs::remove_dir_all(staging.root()).unwrap();
    assert_eq!(staging.replace_in_two_steps(&staging.target()).unwrap_err().kind(), ErrorKind::Output);
    drop(staging);
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("1", &PUBLISHED.map(String::from)[..]));
}

/// Makes the folders of a run that ended without cleaning up: each of them holding a file that tells its content.
fn interrupted(out: &Path, folders: &[(&str, &str)]) {
    for (folder, content) in folders {
        let events = out.join(folder).join("events/A");
        fs::create_dir_all(&events).unwrap();
        fs::write(events.join("part-00000-00000.parquet"), content).unwrap();
        fs::create_dir_all(out.join(folder).join("sidecar")).unwrap();
        fs::write(out.join(folder).join(MANIFEST_PATH), manifest(content).to_json().unwrap()).unwrap();
    }
    fs::create_dir_all(out.join(".etl2parquet-a")).unwrap();
    fs::write(out.join(".etl2parquet-a/lock"), "").unwrap();
}

#[test]
fn the_next_run_repairs_what_a_killed_one_left() {
    let (new, old, published) = (".etl2parquet-a/new", ".etl2parquet-a/old", "trace=a");
    let t = |folders: &[(&str, &str)], expected: Option<&str>| {
        let out = tempfile::tempdir().unwrap();
        interrupted(out.path(), folders);
        drop(LocalFolder::create(out.path(), "a").unwrap());
        let expected_tree: Vec<&str> = expected.iter().flat_map(|_| PUBLISHED).collect();
        assert_eq!(tree(out.path()), expected_tree, "{folders:?}");
        if let Some(expected) = expected {
            assert_eq!(content(out.path(), "a"), expected, "{folders:?}");
        }
        stage(out.path(), "a", "next").commit(IfExists::Replace).unwrap();
        assert_eq!(content(out.path(), "a"), "next");
    };
    t(&[], None);
    t(&[(new, "n")], None);
    t(&[(new, "n"), (published, "p")], Some("p"));
    t(&[(new, "n"), (old, "p")], Some("p"));
    t(&[(old, "p"), (published, "n")], Some("n"));
}

#[test]
fn two_runs_do_not_write_one_trace() {
    let out = tempfile::tempdir().unwrap();
    let first = stage(out.path(), "a", "1");
    let error = LocalFolder::create(out.path(), "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().contains("another run is writing this trace"), "{error}");
    let other = stage(out.path(), "b", "2");
    other.commit(IfExists::Error).unwrap();
    first.commit(IfExists::Error).unwrap();
    assert_eq!(content(out.path(), "a"), "1");
    drop(LocalFolder::create(out.path(), "a").unwrap());
}

#[test]
fn many_threads_fight_for_one_trace_and_never_share_it() {
    let out = tempfile::tempdir().unwrap();
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    match LocalFolder::create(out.path(), "a") {
                        Ok(staging) => {
                            assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                            assert!(staging.root().is_dir());
                            inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        }
                        Err(error) => assert!(error.to_string().contains("another run"), "{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn skip_needs_the_same_input_format_and_options() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let ask = |hashes: &[&str], version, options: &str| {
        let hashes: Vec<_> = hashes.iter().map(|&hash| hash.to_owned()).collect();
        is_current(out, "a", &hashes, version, options).map_err(|error| error.to_string())
    };
    assert_eq!(ask(&["1"], FORMAT_VERSION, "options"), Ok(false));
    stage(out, "a", "1").commit(IfExists::Error).unwrap();
    assert_eq!(ask(&["1"], FORMAT_VERSION, "options"), Ok(true));
    let refused = |answer: Result<bool, String>, why: &str| {
        let error = answer.unwrap_err();
        assert!(error.contains(why) && error.contains("--if-exists replace"), "{error}");
    };
    refused(ask(&["2"], FORMAT_VERSION, "options"), "from other input");
    refused(ask(&["1", "1"], FORMAT_VERSION, "options"), "from other input");
    refused(ask(&["1"], FORMAT_VERSION + 1, "options"), "with another format version");
    refused(ask(&["1"], FORMAT_VERSION, "others"), "with other options");
    fs::remove_file(trace_folder(out, "a").join(MANIFEST_PATH)).unwrap();
    refused(ask(&["1"], FORMAT_VERSION, "options"), "cannot read the manifest");
}

#[test]
fn output_failures_name_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = LocalFolder::create(&file, "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().contains("file"), "{error}");
    for name in ["", "a/b", "a=b", "a\0"] {
        assert_eq!(LocalFolder::create(folder.path(), name).unwrap_err().kind(), ErrorKind::Internal, "{name:?}");
    }
}

#[test]
fn a_file_that_is_not_staged_is_not_published() {
    let out = tempfile::tempdir().unwrap();
    let staging = stage(out.path(), "a", "1");
    fs::write(staging.root().join("stray.parquet"), "").unwrap();
    assert_eq!(staging.commit(IfExists::Error).unwrap_err().kind(), ErrorKind::Internal);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn what_is_no_trace_of_ours_is_never_replaced() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    let users = out.join("trace=a/notes.txt");
    fs::create_dir(out.join("trace=a")).unwrap();
    fs::write(&users, "mine").unwrap();
    fs::write(out.join("trace=b"), "mine").unwrap();
    fs::create_dir_all(out.join("trace=c/sidecar")).unwrap();
    fs::write(out.join("trace=c").join(MANIFEST_PATH), "{\"name\": \"another program's\"}").unwrap();
    for (name, found) in [("a", "a folder without our"), ("b", "something else"), ("c", "a folder without our")] {
        for if_exists in [IfExists::Error, IfExists::Skip, IfExists::Replace] {
            let refused = check_absent(out, name, if_exists).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Output);
            assert!(refused.to_string().contains(found), "{refused}");
            let refused = stage(out, name, "1").commit(if_exists).unwrap_err();
            assert!(refused.to_string().contains(found), "{refused}");
        }
    }
    assert_eq!(tree(out), ["trace=a/notes.txt", "trace=b", "trace=c/sidecar/manifest.json"]);
    // A trace of another version is one of ours.
    fs::write(out.join("trace=c").join(MANIFEST_PATH), r#"{"trace": "c", "format_version": 99}"#).unwrap();
    stage(out, "c", "2").commit(IfExists::Replace).unwrap();
    assert_eq!(content(out, "c"), "2");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_staging_folder_is_not_followed() {
    let out = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), out.path().join(".etl2parquet-a")).unwrap();
    let error = LocalFolder::create(out.path(), "a").unwrap_err();
    assert!(error.to_string().contains("found a link"), "{error}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // Nor one in the place of the lock.
    fs::create_dir(out.path().join(".etl2parquet-b")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("x"), out.path().join(".etl2parquet-b/lock")).unwrap();
    assert_eq!(LocalFolder::create(out.path(), "b").unwrap_err().kind(), ErrorKind::Output);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_cannot_be_opened_leaves_no_folder() {
    // The path of the folder is just short enough for the system, that of the lock in it is not.
    const PATH_MAX: usize = 4096;
    let root = tempfile::tempdir().unwrap();
    let mut out = root.path().to_owned();
    while out.as_os_str().len() + 220 < PATH_MAX {
        out.push("x".repeat(200));
    }
    let left = PATH_MAX - 2 - "/.etl2parquet-a".len() - out.as_os_str().len();
    out.push("y".repeat(left - 1));
    let error = LocalFolder::create(&out, "a").unwrap_err();
    assert!(error.to_string().contains("cannot create the lock file"), "{error}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn folders_that_were_made_for_nothing_go() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("there/deep/out");
    fs::create_dir(root.path().join("there")).unwrap();
    drop(stage(&out, "a", "1"));
    assert_eq!(fs::read_dir(root.path().join("there")).unwrap().count(), 0);
    fs::create_dir_all(&out).unwrap();
    drop(stage(&out, "a", "1"));
    assert!(out.is_dir());
}

#[test]
fn who_has_custody_can_remove_what_is_in_work() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path();
    let custody = Custody::default();
    custody.abandon();
    stage(out, "a", "1").commit(IfExists::Error).unwrap();
    let staging = LocalFolder::create_in(&custody, out, "a").unwrap();
    staging.write("events/A/part-00000-00000.parquet", b"2").unwrap();
    custody.abandon();
    assert_eq!(tree(out), PUBLISHED);
    assert!(!out.join(".etl2parquet-a").exists());
    assert_eq!(staging.commit(IfExists::Replace).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("1", &PUBLISHED.map(String::from)[..]));
    // What is published is in nobody's custody.
    let staging = LocalFolder::create_in(&custody, out, "b").unwrap();
    staging.write("events/A/part-00000-00000.parquet", b"3").unwrap();
    staging.commit(IfExists::Error).unwrap();
    custody.abandon();
    assert_eq!(content(out, "b"), "3");
}

#[test]
fn what_remains_of_a_replaced_trace_is_said() {
    let path = Path::new("out/.etl2parquet-a/old");
    assert_eq!(leftover(path, Ok(())), None);
    let said = leftover(path, Err(io::ErrorKind::PermissionDenied.into())).unwrap();
    assert!(said.starts_with("out/.etl2parquet-a/old: the replaced trace cannot be removed: "), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_path_of_the_output_folder_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join(std::ffi::OsStr::from_bytes(b"out-\xff"));
    stage(&out, "a", "1").commit(IfExists::Error).unwrap();
    assert_eq!(content(&out, "a"), "1");
}
