//! Real manifests that lie outside the repository; each test says so when they are not there.

#[path = "support/corpus.rs"]
mod corpus;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use corpus::corpus;
use schema::manifest::Manifest;
use schema::model::{Field, FieldKind, Wire};
use schema::mof::Mof;
use schema::pack::Pack;
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

/// Real MOF against the built-in classes, which several sources agree on: the same values of the same types.
#[test]
fn gathered_mof_agrees_with_the_built_in_classes() {
    let Some(corpus) = corpus() else { return };
    let (mut events, mut rejected, mut unknown, mut differing) = (0, Vec::new(), Vec::new(), Vec::new());
    for file in ["aspnet.mof", "w3core.mof", "kernel-vista.mof"] {
        let path = corpus.join("../schemas-src/mof").join(file);
        let mof = Mof::parse(&std::fs::read(&path).expect("the file can be read"));
        rejected.extend(mof.rejected.iter().map(|fault| format!("{file}: {fault}")));
        for class in &mof.classes {
            for event in &class.events {
                events += 1;
                let place =
                    format!("{file}: {} version {}", event.schema.event_name.as_deref().unwrap_or("?"), event.version);
                let known = Pack::builtin().classic(&class.guid, event.opcode, event.version.into());
                let own = shown(&event.schema.fields);
                if known.is_empty() {
                    unknown.push(place);
                } else if !known.iter().any(|layout| shown(&layout.schema.fields) == own) {
                    differing.push(format!("{place}\n  {own}\n  {}", shown(&known[0].schema.fields)));
                }
            }
        }
    }
    println!("{}\n{}\n{}", rejected.join("\n"), unknown.join("\n"), differing.join("\n"));
    // Not built in are classes of IIS 6. Of the others 14 have booleans, which the manifest of IIS has in four bytes, and 14 are of
    // the kernel: of a class without a version, or corrected by what traces have.
    assert_eq!((events, rejected.len(), unknown.len(), differing.len()), (555, 0, 27, 28));
}

/// Names, encodings and counts of fields; what a value means is more than MOF says.
fn shown(fields: &[Field]) -> String {
    let one = |field: &Field| match &field.kind {
        // That a number of 64 bits is a time, the built-in classes know from elsewhere.
        FieldKind::Value { wire: Wire::Int64 | Wire::UInt64 | Wire::FileTime | Wire::TraceTime, .. } => {
            format!("{}:64/{:?}", field.name, field.count)
        }
        FieldKind::Value { wire, length, .. } => format!("{}:{wire:?}/{length:?}/{:?}", field.name, field.count),
        FieldKind::Struct(members) => format!("{}{{{}}}", field.name, shown(members)),
    };
    fields.iter().map(one).collect::<Vec<_>>().join(" ")
}
