//! Holds the source of all crates to its own plan: dependencies point one way, no two files need each other, and no file grows
//! past reading size. And commands of cargo to the lock file.
//!
//! The sources are read as text. That is coarser than a compiler and quite enough: paths say where they lead, and
//! rustfmt keeps the shape of items predictable. What is used without being named, as a method is, is not seen.

mod commands;
mod modules;
mod paths;
mod text;

use std::collections::BTreeSet;

use modules::{FIRST, Source, Tree, Use, circles};
use text::without_tables;

/// The rooms in the order of the pipeline, those of a crate but the first with its name: each may use those before it, none behind
/// it. Between crates the compiler sees to that, too; the memory map and the fuzz crate have no rooms.
const ORDER: [&str; 82] = [
    "base/error",
    "base/address",
    "base/guid",
    "base/sid",
    "base/suggest",
    "base/words",
    "base/calendar",
    "base/clock",
    "base/readable",
    "base/names",
    "base/remote",
    "base/progress",
    "base/resources",
    "base/settings",
    "base/sizes",
    "base/listing",
    "base/disk",
    "etl/layout",
    "etl/input",
    "etl/buffer",
    "etl/event",
    "etl/session",
    "etl/reader",
    "symbols/bytes",
    "symbols/found",
    "symbols/identity",
    "symbols/image",
    "symbols/container",
    "symbols/portable",
    "symbols/symbol",
    "symbols/debug",
    "symbols/pdb",
    "symbols/search",
    "columnar/columns",
    "columnar/chunks",
    "columnar/output",
    "columnar/dataset",
    "schema",
    "conversion/decode",
    "conversion/table",
    "conversion/survey",
    "conversion/plan",
    "conversion/dimensions",
    "conversion/stacks",
    "conversion/convert",
    "conversion/views",
    "conversion/sidecar",
    "conversion/commit",
    "conversion/inspect",
    "conversion/job",
    "batch",
    "published",
    "published/verify",
    "published/on_cpu",
    "published/frames",
    "published/off_cpu",
    "published/symbols",
    "published/describe",
    "published/report",
    "compaction",
    "export",
    "export/profile",
    "export/paths",
    "export/pairs",
    "export/folded",
    "export/speedscope",
    "export/pprof",
    "export/firefox",
    "export/pcapng",
    "export/standards",
    "export/timeline",
    "export/perfetto",
    "export/write",
    "cloud/failure",
    "cloud/profile",
    "cloud/stores",
    "cloud/waiting",
    "cloud/web",
    "cloud/client",
    "cli",
    "etl2parquet_native",
    "etl2parquet_duckdb",
];

/// Lines of code that one file may hold, not counting blank lines, comments, tests and constant tables.
const MAX_LINES_OF_CODE: usize = 400;

#[test]
fn dependencies_point_one_way() {
    let tree = Tree::read();
    let (uses, lost) = tree.uses();
    let rank = |file: &str| {
        let file = file.strip_suffix(".rs").unwrap_or(file);
        ORDER
            .iter()
            .rposition(|&room| file.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let mut faults = BTreeSet::new();
    // The fuzz crate takes in the trace writer of the tests.
    let lost = lost.into_iter().filter(|path| !path.contains(" crate::synth"));
    faults.extend(lost.map(|path| format!("{path} leads to no file")));
    let has_rooms = |source: &&Source| !["spill", "schemas", "etl2parquet_fuzz"].contains(&source.of());
    let with_place = tree.sources.iter().filter(has_rooms);
    let nowhere = with_place.filter(|source| !source.is_root() && rank(&source.name).is_none());
    faults.extend(nowhere.map(|source| format!("{}: `{}` has no place in ORDER", source.name, source.room())));
    let ranks = |one: &Use| Some((rank(&one.used)?, rank(&one.user)?));
    let backwards = uses.iter().filter(|one| ranks(one).is_some_and(|(used, user)| used > user));
    faults.extend(backwards.map(|one| format!("{} uses {}, which comes later ({})", one.user, one.used, one.path)));
    assert!(faults.is_empty(), "{}", Vec::from_iter(faults).join("\n"));
}

#[test]
fn no_two_files_need_each_other() {
    let (uses, _) = Tree::read().uses();
    let shown = circles(&uses).into_iter().map(|circle| {
        let lines = circle.iter().map(|one| format!("  {} uses {} ({})", one.user, one.used, one.path));
        format!("circle:\n{}", lines.collect::<Vec<_>>().join("\n"))
    });
    let shown: Vec<String> = shown.collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn a_mod_rs_hands_on_names_and_defines_nothing() {
    let tree = Tree::read();
    let of_product = tree.sources.iter().filter(|source| !source.name.starts_with("etl2parquet_fuzz/"));
    let defining = of_product.filter(|source| source.is_folder() && !source.definitions().is_empty());
    let shown: Vec<String> = defining.map(|source| format!("{}: {:?}", source.name, source.definitions())).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn no_file_outgrows_its_reader() {
    let mut faults = Vec::new();
    for source in Tree::read().sources {
        let lines = without_tables(&source.code).lines().count();
        if lines > MAX_LINES_OF_CODE {
            faults.push(format!("{}: {lines} lines of code, at most {MAX_LINES_OF_CODE}", source.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Types that the documentation shows.
const MAX_PUBLIC_TYPES: usize = 68;

#[test]
fn the_public_face_is_small() {
    let tree = Tree::read();
    let root = tree.source(&[FIRST.to_owned()]).expect("src/lib.rs exists");
    // All that it imports it hands on: the rooms themselves are hidden.
    let types = root.imported_types();
    assert!(types.contains("ConvertOptions") && types.contains("SessionRow"), "{types:?}");
    assert!(types.len() <= MAX_PUBLIC_TYPES, "{} types: {types:?}", types.len());
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).expect("it is readable");
    let mut lines = text.lines().zip(text.lines().skip(1));
    let shown =
        lines.find(|(before, line)| line.starts_with("pub mod") && line.ends_with(';') && *before != "#[doc(hidden)]");
    assert_eq!(shown, None, "a room is hidden from the documentation");
}
