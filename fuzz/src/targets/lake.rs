//! Lakes, and traces that come to them, that somebody changed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use compaction::{By, Request, compact};
use etl2parquet::{CleanupRegistry, Error, ErrorKind, NoProgress};
use published::verify::{FindingKind, verify_all};

use super::report::honest;
use super::stored::{Files, change, folder_in_memory, read_all, write_all};
use crate::bytes::Bytes;
use crate::digest::Digest;

const MANIFEST: &str = "sidecar/manifest.json";

/// Two names that fall into one bucket: what is left of it when the first one goes is read from the lake, tables without rows among it.
const NAMES: [&str; 2] = ["t01", "t02"];

/// The lakes that come about without a change.
struct Honest {
    /// Of one trace.
    new: Files,
    /// Of two, and what is left of it without one.
    both: Files,
    left: Files,
}

fn request(lake: &Path, outputs: Vec<PathBuf>, forget: &[&str]) -> Request {
    let forget = forget.iter().map(|name| (*name).to_owned()).collect();
    Request { outputs, lake: lake.to_owned(), by: Some(By::None), forget, ..Request::default() }
}

fn run(request: &Request) -> Result<Files, Error> {
    compact(request, &CleanupRegistry::default(), &NoProgress).map(|_| read_all(&request.lake))
}

/// The example under another name.
fn renamed(name: &str) -> Files {
    let mut files = honest().clone();
    let manifest = files.get_mut(MANIFEST).expect("lake: there is a manifest");
    let mut value: serde_json::Value = serde_json::from_slice(manifest).expect("lake: the manifest is JSON");
    value["trace"] = name.into();
    // Without the hash at its end, which would be another one.
    *manifest = value.to_string().into_bytes();
    files
}

fn lakes() -> &'static Honest {
    static HONEST: OnceLock<Honest> = OnceLock::new();
    HONEST.get_or_init(|| {
        let folder = folder_in_memory();
        let (new, lake) = (folder.path().join("new"), folder.path().join("lake"));
        let out = NAMES.map(|name| folder.path().join(format!("out/trace={name}")));
        NAMES.iter().zip(&out).for_each(|(name, out)| write_all(out, &renamed(name)));
        let made = |request: &Request| run(request).expect("lake: nothing is wrong");
        let first = made(&request(&new, out[..1].to_vec(), &[]));
        let both = made(&request(&lake, out.to_vec(), &[]));
        Honest { new: first, both, left: made(&request(&lake, Vec::new(), &NAMES[..1])) }
    })
}

/// Changes one file of a trace and compacts it, or one of a lake and has it forget a trace.
///
/// Oracles: an error that blames the files, or the lake that comes about without the change; of a changed manifest of a trace one that
/// is whole.
pub fn lake_stored(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let (honest, is_of_lake) = (lakes(), bytes.below(2) == 0);
    let mut files = if is_of_lake { honest.both.clone() } else { renamed(NAMES[0]) };
    let names: Vec<String> = files.keys().cloned().collect();
    let name = bytes.pick(&names).clone();
    change(files.get_mut(&name).expect("it is there"), &mut bytes);
    let folder = folder_in_memory();
    let (lake, out) = (folder.path().join("lake"), folder.path().join(format!("out/trace={}", NAMES[0])));
    write_all(if is_of_lake { &lake } else { &out }, &files);
    let (request, expected) = if is_of_lake {
        (request(&lake, Vec::new(), &NAMES[..1]), &honest.left)
    } else {
        (request(&lake, vec![out], &[]), &honest.new)
    };
    let outcome = match run(&request) {
        Ok(found) if name == MANIFEST => {
            let verified = verify_all(&[lake], false, &NoProgress).expect("lake: it can be read");
            let is_whole = verified.findings.iter().all(|finding| finding.kind == FindingKind::Schema);
            assert!(is_whole, "lake: {:?}", verified.findings);
            if found == *expected { "the same" } else { "another" }
        }
        Ok(found) => {
            // Of two buckets one is left alone, and so is what lies in it.
            let is_same = expected.iter().all(|(path, content)| *path == name || found.get(path) == Some(content));
            assert!(is_same, "lake: {name} was changed, and with it the lake");
            "the same"
        }
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Output | ErrorKind::Usage), "lake: {name} is at fault: {error}");
            "refused"
        }
    };
    digest.add(outcome);
    digest.count(if is_of_lake { "lake" } else { "trace" }, outcome);
}
