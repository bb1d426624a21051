//! Real manifests that lie outside the repository; each test says so when they are not there.

#[path = "support/corpus.rs"]
mod corpus;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use corpus::corpus;
use schema::manifest::Manifest;
use schema::tmf::Tmf;
use schema::wpp::{ArgumentType, MessageTable};

/// The files of a folder in order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the entry can be read").path()).collect();
    files.sort();
    files
}

#[test]
fn gathered_manifests_read_with_few_rejections() {
    let Some(corpus) = corpus() else { return };
    let (mut read, mut events, mut doubtful, mut refused) = (0, 0, 0, Vec::new());
    let mut rejected = Vec::new();
    let start = Instant::now();
    for folder in ["manifests", "originals"] {
        for file in files(&corpus.join("../schemas-src").join(folder)) {
            let bytes = std::fs::read(&file).expect("the file can be read");
            let manifest = match Manifest::parse(&bytes, None) {
                Ok(manifest) => manifest,
                Err(fault) => {
                    refused.push(format!("{}: {fault}", file.display()));
                    continue;
                }
            };
            read += 1;
            let all = manifest.providers.iter().flat_map(|provider| &provider.events);
            events += all.clone().count();
            doubtful += all.filter(|event| event.trust.is_doubtful()).count();
            rejected.extend(manifest.rejected.iter().map(|f| format!("{}: {f}", file.display())));
        }
    }
    println!("{read} files, {events} events, {doubtful} doubtful, {} rejected, {:?}", rejected.len(), start.elapsed());
    println!("{}", rejected.join("\n"));
    assert_eq!(refused, Vec::<String>::new());
    // The rejected: 42 fields of lost structures, 3 opcodes that nothing declares, and a file without a provider.
    assert_eq!((read, events, doubtful, rejected.len()), (488, 37260, 263, 46));
}

#[test]
fn a_large_manifest_takes_little_time() {
    let Some(corpus) = corpus() else { return };
    let bytes = std::fs::read(corpus.join("tx-SystemEvents.man")).expect("the file can be read");
    let start = Instant::now();
    let manifest = Manifest::parse(&bytes, None).expect("the file is XML");
    let taken = start.elapsed();
    println!("{taken:?} for {} providers, {} rejected", manifest.providers.len(), manifest.rejected.len());
    assert!(taken < Duration::from_millis(500), "{taken:?}");
}

#[test]
fn tmf_files_import_without_a_rejected_line() {
    let Some(corpus) = corpus() else { return };
    let mut table = MessageTable::new();
    let (mut count, mut read, mut conflicts, mut rejected) = (0, 0, 0, Vec::new());
    for file in files(&corpus.join("tmf")) {
        let tmf = Tmf::parse(&std::fs::read(&file).expect("the file can be read"));
        rejected.extend(tmf.rejected.iter().map(|fault| format!("{}: {fault}", file.display())));
        let unknown = tmf.messages.iter().flat_map(|message| &message.arguments);
        rejected.extend(unknown.filter_map(|item| match &item.encoding {
            ArgumentType::Unknown(declared) => Some(format!("{}: unknown {declared}", file.display())),
            _ => None,
        }));
        count += 1;
        read += tmf.messages.len();
        conflicts += table.extend(tmf.messages);
    }
    assert_eq!(rejected, Vec::<String>::new());
    // 219 of the messages stand in two files, word for word.
    assert_eq!((count, read, table.len(), conflicts), (24, 874, 655, 0));
}

#[test]
fn events_are_named_as_performance_tools_name_them() {
    let Some(corpus) = corpus() else { return };
    let named = |file: &str, provider: &str, id: u16| {
        let bytes = std::fs::read(corpus.join(file)).expect("the file can be read");
        let manifest = Manifest::parse(&bytes, None).expect("the file is XML");
        let provider = manifest.providers.into_iter().find(|known| known.name == provider).expect("it is declared");
        let event = provider.events.into_iter().rfind(|event| event.id == id).expect("it is declared");
        event.schema.event_name.clone().expect("it has a name")
    };
    let clr = "../schemas-src/originals/perfview-ClrEtwAll.man";
    for (file, provider, id, expected) in [
        (clr, "Microsoft-Windows-DotNETRuntime", 1, "GC/Start"),
        (clr, "Microsoft-Windows-DotNETRuntime", 4, "GC/HeapStats"),
        (clr, "Microsoft-Windows-DotNETRuntime", 143, "Method/LoadVerbose"),
        (clr, "Microsoft-Windows-DotNETRuntime", 80, "Exception/Start"),
        ("tx-SystemEvents.man", "Microsoft-Windows-Kernel-Process", 1, "ProcessStart/Start"),
        ("tx-HTTP_Server.man", "Microsoft-Windows-HttpService", 1, "HTTP Request Trace Task/RecvReq"),
    ] {
        assert_eq!(named(file, provider, id), expected, "{provider} {id}");
    }
}
