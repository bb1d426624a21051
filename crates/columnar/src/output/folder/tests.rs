use std::collections::BTreeMap;

use base::progress::NoProgress;
use serde_json::json;

use super::*;
use crate::output::manifest::{
    CommitRecord, EventCounts, FORMAT_VERSION, InputEntry, LossCounts, MANIFEST_PATH, RunInfo,
};

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
    let files = system::files_below(folder).unwrap();
    files.iter().map(|(file, _)| system::relative(folder, file).unwrap()).collect()
}

/// The trace with all files of this attempt.
fn publish(staging: LocalFolder, if_exists: IfExists) -> Result<Published> {
    let published = publish_all(&staging, if_exists);
    drop(staging);
    published
}

fn publish_all(staging: &LocalFolder, if_exists: IfExists) -> Result<Published> {
    let own = |file: StagedFile| (file.attempt.as_deref() == Some(staging.attempt())).then(|| staging.own(&file.path));
    let files: Vec<StagedName> = staging.list()?.into_iter().filter_map(own).collect();
    staging.publish(&files, if_exists, &NoProgress)
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
    let attempt = staging.attempt();
    assert_eq!(
        tree(out),
        [
            ".etl2parquet-a/lock",
            &format!(".etl2parquet-a/parts/events/A/part-00000-00000.parquet.{attempt}.tmp"),
            &format!(".etl2parquet-a/parts/sidecar/manifest.json.{attempt}.tmp"),
        ]
    );
    assert_eq!(publish(staging, IfExists::Error).unwrap().folder, out.join("trace=a"));
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
    publish(stage(out, "a", "1"), IfExists::Error).unwrap();
    for refused in [IfExists::Error, IfExists::Skip] {
        let error = publish(stage(out, "a", "2"), refused).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.to_string().contains("--if-exists"), "{error}");
        assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("1", &PUBLISHED.map(String::from)[..]));
    }
    publish(stage(out, "a", "2"), IfExists::Replace).unwrap();
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("2", &PUBLISHED.map(String::from)[..]));
    publish(stage(out, "b", "3"), IfExists::Replace).unwrap();
    assert_eq!(content(out, "b"), "3");
}

#[test]
fn replacing_in_two_steps_gives_the_same_as_an_exchange() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    publish(stage(out, "a", "1"), IfExists::Error).unwrap();
    let staging = stage(out, "a", "2");
    let files = ["events/A/part-00000-00000.parquet", MANIFEST_PATH].map(|path| staging.own(path));
    publication::assemble(&staging.parts(), &staging.new_trace(), &files, &Disks::default(), &NoProgress).unwrap();
    publication::replace_in_two_steps(&staging.new_trace(), &staging.old(), &staging.target()).unwrap();
    assert_eq!(fs::read_to_string(out.join(".etl2parquet-a/old/events/A/part-00000-00000.parquet")).unwrap(), "1");
    drop(staging);
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("2", &PUBLISHED.map(String::from)[..]));
}

#[test]
fn a_rename_that_fails_half_way_brings_the_old_trace_back() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    publish(stage(out, "a", "1"), IfExists::Error).unwrap();
    let staging = stage(out, "a", "2");
    let replaced = publication::replace_in_two_steps(&staging.new_trace(), &staging.old(), &staging.target());
    assert_eq!(replaced.unwrap_err().kind(), ErrorKind::Output);
    drop(staging);
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("1", &PUBLISHED.map(String::from)[..]));
}

/// Makes the folders of a run that ended without cleaning up: each with a file that names its content.
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
        publish(stage(out.path(), "a", "next"), IfExists::Replace).unwrap();
        assert_eq!(content(out.path(), "a"), "next");
    };
    t(&[], None);
    t(&[(new, "n")], None);
    t(&[(new, "n"), (published, "p")], Some("p"));
    t(&[(new, "n"), (old, "p")], Some("p"));
    t(&[(old, "p"), (published, "n")], Some("n"));
}

#[test]
fn what_a_run_was_removing_when_it_was_killed_goes_first() {
    let out = tempfile::tempdir().unwrap();
    interrupted(out.path(), &[(".etl2parquet-a/gone", "1")]);
    let staging = stage(out.path(), "a", "2");
    assert!(!out.path().join(".etl2parquet-a/gone").exists());
    publish(staging, IfExists::Error).unwrap();
    assert_eq!(content(out.path(), "a"), "2");
}

#[test]
fn two_runs_do_not_write_one_trace() {
    let out = tempfile::tempdir().unwrap();
    let first = stage(out.path(), "a", "1");
    let error = LocalFolder::create(out.path(), "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().contains("another run is writing this trace"), "{error}");
    let other = stage(out.path(), "b", "2");
    publish(other, IfExists::Error).unwrap();
    publish(first, IfExists::Error).unwrap();
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
                            assert!(staging.parts().root.is_dir());
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
    publish(stage(out, "a", "1"), IfExists::Error).unwrap();
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
fn a_file_that_is_not_named_is_not_published() {
    let out = tempfile::tempdir().unwrap();
    let staging = stage(out.path(), "a", "1");
    fs::write(staging.parts().root.join("stray.parquet"), "").unwrap();
    fs::create_dir(staging.new_trace()).unwrap();
    fs::write(staging.new_trace().join("stray.parquet"), "").unwrap();
    // Where a file was begun that is not wanted.
    fs::create_dir_all(staging.parts().root.join("events/B/C")).unwrap();
    fs::write(staging.parts().root.join("events/B/C/stray.parquet.tmp"), "").unwrap();
    publish(staging, IfExists::Error).unwrap();
    assert_eq!(tree(out.path()), PUBLISHED);
    assert_eq!(fs::read_dir(out.path().join("trace=a/events")).unwrap().count(), 1);
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
    for (name, found) in [("a", "a folder without our"), ("b", "something else"), ("c", "a damaged or foreign")] {
        for if_exists in [IfExists::Error, IfExists::Skip, IfExists::Replace] {
            let refused = check_absent(out, name, if_exists).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Output);
            assert!(refused.to_string().contains(found), "{refused}");
            let refused = publish(stage(out, name, "1"), if_exists).unwrap_err();
            assert!(refused.to_string().contains(found), "{refused}");
        }
    }
    assert_eq!(tree(out), ["trace=a/notes.txt", "trace=b", "trace=c/sidecar/manifest.json"]);
    // A trace of another version is one of ours.
    fs::write(out.join("trace=c").join(MANIFEST_PATH), r#"{"trace": "c", "format_version": 99}"#).unwrap();
    publish(stage(out, "c", "2"), IfExists::Replace).unwrap();
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

// Elsewhere the system ends the process, and some systems keep the name of an open lock until then.
#[cfg(unix)]
#[test]
fn a_registry_can_remove_what_is_in_work() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path();
    publish(stage(out, "a", "1"), IfExists::Error).unwrap();
    let cleanup = CleanupRegistry::default();
    let staging = LocalFolder::create_in(&cleanup, out, "a").unwrap();
    staging.write("events/A/part-00000-00000.parquet", b"2").unwrap();
    cleanup.abandon();
    assert_eq!(tree(out), PUBLISHED);
    assert!(!out.join(".etl2parquet-a").exists());
    assert_eq!(publish(staging, IfExists::Replace).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!((content(out, "a").as_str(), tree(out).as_slice()), ("1", &PUBLISHED.map(String::from)[..]));
    // Nothing begins any more.
    assert_eq!(LocalFolder::create_in(&cleanup, out, "b").unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(tree(out), PUBLISHED);
    // What is published is in nobody's cleanup.
    let cleanup = CleanupRegistry::default();
    let staging = LocalFolder::create_in(&cleanup, out, "b").unwrap();
    staging.write("events/A/part-00000-00000.parquet", b"3").unwrap();
    publish(staging, IfExists::Error).unwrap();
    cleanup.abandon();
    assert_eq!(content(out, "b"), "3");
}

// As above.
#[cfg(unix)]
#[test]
fn what_is_written_side_by_side_is_removed_together() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path();
    let cleanup = CleanupRegistry::default();
    let staged = ["a", "b", "c"].map(|name| {
        let staging = LocalFolder::create_in(&cleanup.beside(), out, name).unwrap();
        staging.write("events/A/part-00000-00000.parquet", b"1").unwrap();
        staging
    });
    let [a, b, c] = staged;
    publish(a, IfExists::Error).unwrap();
    cleanup.abandon();
    assert_eq!(fs::read_dir(out).unwrap().count(), 1, "the published one");
    for staging in [b, c] {
        assert_eq!(publish(staging, IfExists::Error).unwrap_err().kind(), ErrorKind::Interrupted);
    }
    let late = LocalFolder::create_in(&cleanup.beside(), out, "d");
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(fs::read_dir(out).unwrap().count(), 1);
}

#[test]
fn what_remains_of_a_replaced_trace_is_said() {
    let path = Path::new("out/.etl2parquet-a/old");
    assert_eq!(leftovers::remaining(path, Ok(())), None);
    let said = leftovers::remaining(path, Err(io::ErrorKind::PermissionDenied.into())).unwrap();
    assert!(said.starts_with("out/.etl2parquet-a/old: the replaced trace cannot be removed: "), "{said}");
}

#[test]
fn what_cannot_be_removed_of_a_replaced_trace_stands_aside() {
    let out = tempfile::tempdir().unwrap();
    publish(stage(out.path(), "a", "1"), IfExists::Error).unwrap();
    let staging = out.path().join(".etl2parquet-a");
    fs::create_dir(&staging).unwrap();
    // To remove a folder of this name fails.
    fs::write(staging.join("old"), "").unwrap();
    for content in ["2", "3"] {
        let published = publish(stage(out.path(), "a", content), IfExists::Replace).unwrap();
        let [warning] = &published.warnings[..] else { panic!("{:?}", published.warnings) };
        assert!(warning.contains("old-2: the replaced trace cannot be removed: "), "{warning}");
        assert_eq!(tree(&staging), ["old-2"]);
    }
    assert_eq!(self::content(out.path(), "a"), "3");
    fs::remove_file(staging.join("old-2")).unwrap();
    fs::create_dir(staging.join("old-3")).unwrap();
    let published = publish(stage(out.path(), "a", "4"), IfExists::Replace).unwrap();
    assert_eq!((published.warnings.len(), staging.exists()), (0, false));
}

#[cfg(target_os = "linux")]
#[test]
fn the_path_of_the_output_folder_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join(std::ffi::OsStr::from_bytes(b"out-\xff"));
    publish(stage(&out, "a", "1"), IfExists::Error).unwrap();
    assert_eq!(content(&out, "a"), "1");
}

/// The folder of a plan with one part of each attempt that has been kept, and the attempts.
fn planned(out: &Path) -> (PathBuf, Vec<StagedName>) {
    let plan = LocalFolder::create_plan(&CleanupRegistry::default(), out, "a", "0123").unwrap();
    let folder = plan.folder().to_owned();
    drop(plan);
    let worker = |number: usize| {
        let worker = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
        let path = format!("events/A/part-{number:05}-00000.parquet");
        let name = worker.write(&path, &[b'0' + u8::try_from(number).unwrap()]).unwrap();
        worker.keep();
        name
    };
    let parts = vec![worker(0), worker(1)];
    (folder, parts)
}

/// Publishes a plan with these parts.
fn publish_plan(folder: &Path, parts: &[StagedName], if_exists: IfExists) -> Result<Published> {
    let publisher = LocalFolder::open_plan_to_publish(&CleanupRegistry::default(), folder)?;
    let manifest = publisher.write(MANIFEST_PATH, manifest("1").to_json().unwrap().as_bytes())?;
    let files: Vec<_> = parts.iter().cloned().chain([manifest]).collect();
    publisher.publish(&files, if_exists, &NoProgress)
}

const PLANNED: [&str; 3] = [
    "trace=a/events/A/part-00000-00000.parquet",
    "trace=a/events/A/part-00001-00000.parquet",
    "trace=a/sidecar/manifest.json",
];

#[test]
fn workers_on_one_plan_do_not_meet_and_one_publishes() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    assert_eq!(folder, out.path().join(".etl2parquet-a.plan-0123"));
    // Another attempt at the same part, one that failed, and one that is still at work when the trace is published.
    let twice = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    twice.write(&parts[1].path, b"other").unwrap();
    twice.keep();
    drop(twice);
    let failed = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    failed.write(&parts[0].path, b"failed").unwrap();
    drop(failed);
    let late = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    let mut growing = late.create(&parts[0].path).unwrap();
    growing.release();
    assert_eq!(late.list().unwrap().len(), 4);
    assert_eq!(late.read(&parts[1], 0..1).unwrap(), b"1");
    publish_plan(&folder, &parts, IfExists::Error).unwrap();
    assert!(growing.append(b"late").is_err());
    assert!(late.create("events/B/part-00000-00000.parquet").is_err());
    drop(late);
    assert_eq!(tree(out.path()), PLANNED);
    assert!(!folder.exists());
    assert!(LocalFolder::open_plan(&CleanupRegistry::default(), &folder).is_err());
    assert!(LocalFolder::open_plan_to_publish(&CleanupRegistry::default(), &folder).is_err());
    assert!(!folder.exists());
}

#[test]
fn a_part_that_is_missing_keeps_a_plan_from_being_published() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let missing = StagedName { attempt: "0".to_owned(), ..parts[0].clone() };
    let error = publish_plan(&folder, &[missing, parts[1].clone()], IfExists::Error).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().contains("expected a finished file, found none"), "{error}");
    publish_plan(&folder, &parts, IfExists::Error).unwrap();
    assert_eq!(tree(out.path()), PLANNED);
}

#[test]
fn a_publication_that_was_killed_is_taken_up_wherever_it_ended() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path();
    // With and without a trace that is replaced.
    for replaced in [false, true] {
        for killed_after in 0..3 {
            let _ = fs::remove_dir_all(trace_folder(out, "a"));
            if replaced {
                publish(stage(out, "a", "before"), IfExists::Error).unwrap();
            }
            let (folder, parts) = planned(out);
            let publisher = LocalFolder::open_plan_to_publish(&CleanupRegistry::default(), &folder).unwrap();
            let manifest = publisher.write(MANIFEST_PATH, manifest("1").to_json().unwrap().as_bytes()).unwrap();
            let files: Vec<_> = parts.iter().cloned().chain([manifest]).collect();
            let (new, target) = (publisher.new_trace(), publisher.target());
            // What has been taken; then all; then the rename.
            if killed_after == 0 {
                publication::assemble(&publisher.parts(), &new, &files[..1], &Disks::default(), &NoProgress).unwrap();
            } else {
                publication::assemble(&publisher.parts(), &new, &files, &Disks::default(), &NoProgress).unwrap();
            }
            if killed_after > 1 && replaced {
                publication::replace(&new, &publisher.old(), &target).unwrap();
            } else if killed_after > 1 {
                publication::rename_no_replace(&new, &target).unwrap();
            }
            drop(publisher);
            if killed_after > 1 {
                LocalFolder::discard_plan(&folder).unwrap();
            } else {
                publish_plan(&folder, &parts, IfExists::Replace).unwrap();
            }
            assert_eq!(tree(out), PLANNED, "{replaced}, {killed_after}");
            assert!(!folder.exists());
        }
    }
}

#[test]
fn a_plan_is_published_by_one_process_at_a_time() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let first = LocalFolder::open_plan_to_publish(&CleanupRegistry::default(), &folder).unwrap();
    assert!(publish_plan(&folder, &parts, IfExists::Error).is_err());
    drop(first);
    publish_plan(&folder, &parts, IfExists::Error).unwrap();
}

#[test]
fn the_first_of_two_reports_stands() {
    let out = tempfile::tempdir().unwrap();
    let (folder, _) = planned(out.path());
    let [first, second] = [(); 2].map(|()| LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap());
    assert!(first.files().put_first("report-00000.json", &[b"first"]).unwrap());
    assert!(!second.files().put_first("report-00000.json", &[b"second"]).unwrap());
    assert_eq!(fs::read(folder.join("report-00000.json")).unwrap(), b"first");
    drop((first, second));
    LocalFolder::discard_plan(&folder).unwrap();
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
}

#[test]
fn a_published_plan_that_was_killed_while_it_was_removed_goes_whatever_is_left_of_it() {
    let out = tempfile::tempdir().unwrap();
    for left in 0..4 {
        let (folder, _) = planned(out.path());
        fs::write(folder.join("lock"), "").unwrap();
        fs::write(folder.join("job.json"), "").unwrap();
        if left < 3 {
            fs::rename(folder.join("parts"), folder.join("gone")).unwrap();
        }
        if left < 2 {
            fs::remove_dir_all(folder.join("gone")).unwrap();
            fs::remove_file(folder.join("job.json")).unwrap();
        }
        if left < 1 {
            fs::remove_file(folder.join("lock")).unwrap();
        }
        assert_eq!(LocalFolder::open_plan_to_publish(&CleanupRegistry::default(), &folder).is_ok(), left == 3);
        LocalFolder::discard_plan(&folder).unwrap();
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "{left}");
        LocalFolder::discard_plan(&folder).unwrap();
    }
}

#[test]
fn a_plan_that_is_being_published_is_not_removed() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let publisher = LocalFolder::open_plan_to_publish(&CleanupRegistry::default(), &folder).unwrap();
    assert!(LocalFolder::discard_plan(&folder).is_err());
    drop(publisher);
    publish_plan(&folder, &parts, IfExists::Error).unwrap();
}

#[test]
fn who_was_abandoned_vouches_for_nothing_and_begins_nothing() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let cleanup = CleanupRegistry::default();
    let worker = LocalFolder::open_plan(&cleanup, &folder).unwrap();
    worker.write("events/A/part-00002-00000.parquet", b"2").unwrap();
    cleanup.abandon();
    let ends = [
        worker.vouch_first("report-00002.json", b"report", &NoProgress).map(drop),
        worker.files().put_first("segments-00000", &[b""]).map(drop),
        worker.files().put("plan.json", b""),
        worker.create("events/A/part-00002-00001.parquet").map(drop),
    ];
    assert!(ends.into_iter().all(|end| end.unwrap_err().kind() == ErrorKind::Interrupted));
    drop(worker);
    let reader = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    assert_eq!(reader.list().unwrap().len(), parts.len());
    assert!(!folder.join("report-00002.json").exists());
}

#[test]
fn files_stay_where_a_report_that_names_them_is_there() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let work = |content: &[u8]| {
        let cleanup = CleanupRegistry::default();
        let worker = LocalFolder::open_plan(&cleanup, &folder).unwrap();
        worker.write("events/A/part-00002-00000.parquet", content).unwrap();
        let is_first = worker.vouch_first("report-00002.json", content, &NoProgress).unwrap();
        // Who has to end at once now must leave them, too.
        cleanup.abandon();
        (is_first, worker.own("events/A/part-00002-00000.parquet"))
    };
    let (is_first, kept) = work(b"first");
    assert!(is_first);
    let (is_first, removed) = work(b"second");
    assert!(!is_first);
    let reader = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    assert_eq!(reader.read(&kept, 0..5).unwrap(), b"first");
    assert!(reader.read(&removed, 0..6).is_err());
    assert_eq!(reader.list().unwrap().len(), parts.len() + 1);
}

#[test]
fn files_go_where_their_report_cannot_be_written() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let worker = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    worker.write("events/A/part-00002-00000.parquet", b"2").unwrap();
    assert!(worker.vouch_first("gone/report-00002.json", b"report", &NoProgress).is_err());
    drop(worker);
    let reader = LocalFolder::open_plan(&CleanupRegistry::default(), &folder).unwrap();
    assert_eq!(reader.list().unwrap().len(), parts.len());
}

#[test]
fn a_plan_that_fails_leaves_nothing_half_written() {
    let out = tempfile::tempdir().unwrap();
    let begin = |cleanup: &CleanupRegistry| {
        let plan = LocalFolder::create_plan(cleanup, out.path(), "a", "0123").unwrap();
        plan.files().put_first("segments-00000", &[b"whole"]).unwrap();
        fs::write(plan.folder().join(format!("survey.json.{}.tmp", plan.attempt())), "half").unwrap();
        plan
    };
    let whole = [".etl2parquet-a.plan-0123/segments-00000"];
    drop(begin(&CleanupRegistry::default()));
    assert_eq!(tree(out.path()), whole);
    let cleanup = CleanupRegistry::default();
    let plan = begin(&cleanup);
    cleanup.abandon();
    assert_eq!(tree(out.path()), whole);
    drop(plan);
}

#[test]
fn who_has_to_end_the_process_waits_for_a_staging_folder_to_be_handed_over() {
    let out = tempfile::tempdir().unwrap();
    let cleanup = CleanupRegistry::default();
    let mut kept = cleanup.hand_over();
    let folder = out.path().join(".etl2parquet-a");
    fs::create_dir(&folder).unwrap();
    std::thread::scope(|scope| {
        let (ended, end) = std::sync::mpsc::channel();
        let cleanup = &cleanup;
        scope.spawn(move || {
            cleanup.abandon();
            ended.send(()).unwrap();
        });
        assert!(end.recv_timeout(std::time::Duration::from_millis(50)).is_err());
        kept.take_in(CleanupTarget::All(folder.clone()));
        drop(kept);
        end.recv().unwrap();
    });
    assert!(!folder.exists());
}

#[test]
fn a_registry_of_an_attempt_removes_its_files_alone() {
    let out = tempfile::tempdir().unwrap();
    let (folder, parts) = planned(out.path());
    let cleanup = CleanupRegistry::default();
    let worker = LocalFolder::open_plan(&cleanup, &folder).unwrap();
    worker.write("events/A/part-00002-00000.parquet", b"2").unwrap();
    cleanup.abandon();
    let left: Vec<_> = worker.list().unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(left, [parts[0].path.as_str(), &parts[1].path]);
}

#[test]
fn what_is_no_folder_of_a_plan_is_refused() {
    let out = tempfile::tempdir().unwrap();
    for name in ["a", ".etl2parquet-a", ".etl2parquet-.plan-1", ".etl2parquet-a.plan-1"] {
        fs::create_dir(out.path().join(name)).unwrap();
        let error = LocalFolder::open_plan(&CleanupRegistry::default(), &out.path().join(name)).unwrap_err();
        assert!(error.to_string().contains("expected the folder of a plan"), "{error}");
    }
}

/// Asks to stop from the given question on.
struct StopAt(std::sync::atomic::AtomicUsize);

impl Progress for StopAt {
    fn advance(&self, _amount: u64) {}

    fn is_cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_publication_stops_when_it_is_asked_to_and_leaves_nothing() {
    let out = tempfile::tempdir().unwrap();
    let mut stops = 0;
    loop {
        let staging = stage(out.path(), "a", "1");
        let files = ["events/A/part-00000-00000.parquet", MANIFEST_PATH].map(|path| staging.own(path));
        let published = staging.publish(&files, IfExists::Error, &StopAt(stops.into()));
        drop(staging);
        match published {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
        }
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
        stops += 1;
    }
    // For the answers about both files and four folders, when each file is named, and before the rename.
    assert!(stops >= 9, "{stops}");
    assert_eq!(tree(out.path()), PUBLISHED);
}
