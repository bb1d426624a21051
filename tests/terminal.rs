//! What people type and see: files of options, dry runs, colours, `inspect` of many traces, completions, man pages.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::fs;

use serde_json::{Value, json};
use support::Sandbox;
use synth::*;

/// A trace with events that nothing describes beside its header event.
fn with(events: i64, head: Header) -> Vec<u8> {
    let data = (0..events).map(|n| perfinfo64(0x0F99, T0 + n * 10_000_000).payload([1]));
    trace(head).buffer(buffer(0x1000).sequence(1).events(data)).to_bytes()
}

#[test]
fn a_file_gives_options_and_the_command_line_wins() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &with(3, header()));
    let config =
        "log-format = 'json'\n[convert]\noutput = 'lake'\nif-exists = 'skip'\nfail-on = ['damage', 'disorder']\n";
    sandbox.file("etl.toml", config.as_bytes());
    let ran = sandbox.t("convert a.etl --config etl.toml", 0);
    assert!(ran.err.lines().all(|line| line.starts_with("{\"timestamp\":")), "{}", ran.err);
    let manifest = |path: &str| -> Value { serde_json::from_slice(&fs::read(sandbox.path(path)).unwrap()).unwrap() };
    let options = &manifest("lake/trace=a/sidecar/manifest.json")["run"]["options"];
    assert_eq!((&options["if_exists"], &options["fail_on"]), (&json!("skip"), &json!(["disorder", "damage"])));
    sandbox.t("--config=etl.toml convert a.etl -o other --if-exists replace --log-format text", 0);
    let options = &manifest("other/trace=a/sidecar/manifest.json")["run"]["options"];
    assert_eq!(options["if_exists"], "replace");
    // What is wrong in it is reported whatever command is used.
    sandbox.file("bad.toml", b"[convert]\nthreads = 2\nif-exist = 'skip'\n");
    let refused = sandbox.t("inspect a.etl --config bad.toml", 2);
    assert_eq!(refused.err, "error: bad.toml: if-exist is no option of convert; did you mean if-exists? (line 3)\n");
    let refused = sandbox.t("inspect a.etl --config none.toml", 2);
    assert!(refused.err.starts_with("error: none.toml: cannot read the configuration: "), "{}", refused.err);
}

#[test]
fn a_dry_run_says_what_would_be_written() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &with(9, header()));
    let ran = sandbox.t("convert a.etl -o out --dry-run --summary s.json", 0);
    let lines: Vec<&str> = ran.err.lines().take(3).collect();
    assert_eq!(
        lines,
        [
            "  DATASET            EVENTS  COLUMNS  PARTITIONS  ESTIMATED",
            "  Kernel-PerfInfo         9       39           1   7.65 KiB",
            "  Kernel-EventTrace       1       65           1  12.70 KiB",
        ]
    );
    assert!(ran.err.contains("  estimated  20.35 KiB in 1 partition\n"), "{}", ran.err);
    let summary: Value = serde_json::from_slice(&fs::read(sandbox.path("s.json")).unwrap()).unwrap();
    let result = &summary["traces"][0]["result"];
    let datasets = json!([
        {"dataset": "Kernel-PerfInfo", "rows": 9, "columns": 39, "partitions": 1, "estimated_bytes": 7835},
        {"dataset": "Kernel-EventTrace", "rows": 1, "columns": 65, "partitions": 1, "estimated_bytes": 13_003},
    ]);
    assert_eq!((&result["datasets"], &result["partitions"]), (&datasets, &json!(1)));
    assert!(!sandbox.path("out").exists());
}

#[test]
fn of_many_traces_inspect_prints_a_line_each() {
    let sandbox = Sandbox::new();
    sandbox.file("in/a.etl", &with(3, header()));
    sandbox.file("in/b.etl", &with(2, header().events_lost(7)));
    sandbox.file("in/c.etl", &with(1, header().not_closed()));
    sandbox.file("in/d.etl", b"no trace");
    let ran = sandbox.t("inspect in", 4);
    let expected = "  TRACE      SIZE  SPAN  EVENTS  LOST      DECODABLE  MOST EVENTS
  a      8.00 KiB   2 s       4  -             25.0%  Kernel-PerfInfo, Kernel-EventTrace
  b      8.00 KiB   1 s       3  7 events      33.3%  Kernel-PerfInfo, Kernel-EventTrace
  c      8.00 KiB  0 ns       2  unknown       50.0%  Kernel-EventTrace, Kernel-PerfInfo
";
    assert_eq!(ran.out, expected);
    assert!(ran.err.contains("in/d.etl") || ran.err.contains("in\\d.etl"), "{}", ran.err);
    // Pages of each are what -v shows.
    assert_eq!(sandbox.t("inspect in -v", 4).out.matches("\nSession\n").count(), 3);
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &with(3, header()));
    let plain = sandbox.t("inspect a.etl", 0).out;
    assert!(!plain.contains('\u{1b}') && plain.contains("\nProviders (2)\n"), "{plain}");
    let coloured = sandbox.t("inspect a.etl --color always", 0).out;
    assert!(coloured.contains("\n\u{1b}[1mProviders (2)\u{1b}[0m\n"), "{coloured:?}");
    assert_eq!(coloured.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""), plain);
    let refused = |flags: &str| sandbox.t(&format!("inspect none.etl {flags}"), 3).err;
    let message = "none.etl: there is no such file or folder\n";
    assert_eq!(refused(""), format!("error: {message}"));
    assert_eq!(refused("--color=always"), format!("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m {message}"));
    // What is wrong with the command line follows the same rule.
    assert!(sandbox.t("inspect --no-such --color always", 2).err.starts_with("\u{1b}["));
    assert!(sandbox.t("inspect --no-such", 2).err.starts_with("error: "));
}

#[test]
fn keywords_have_names() {
    let kernel_process = guid("22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716");
    // ImageLoad is declared with WINEVENT_KEYWORD_IMAGE, ProcessStart with WINEVENT_KEYWORD_PROCESS.
    let image = payload().u64(1).u64(2).u32(3).u32(4).u32(5).u64(6).wstr("a.dll");
    let events = [
        event64(kernel_process, 5, 0, T0 + 1).keyword(0x40).payload(image.clone()),
        event64(kernel_process, 5, 0, T0 + 2).keyword(0x40).level(5).payload(image),
        event64(kernel_process, 1, 0, T0 + 3).keyword(0x10).payload([1]),
    ];
    let sandbox = Sandbox::new();
    sandbox.file("a.etl", &trace(header()).buffer(buffer(0x1000).sequence(1).events(events)).to_bytes());
    let rows = |flags: &str, code: i32| {
        let ran = sandbox.t(&format!("convert a.etl -o out --if-exists replace {flags}"), code);
        let manifest = fs::read(sandbox.path("out/trace=a/sidecar/manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        fs::remove_dir_all(sandbox.path("out")).unwrap();
        (manifest["events"]["written"].as_u64().unwrap(), manifest["options"]["keyword_names"].clone(), ran.err)
    };
    let t = |flags: &str, expected: u64| {
        let (written, _, err) = rows(flags, 0);
        assert_eq!(written, expected, "{flags}\n{err}");
        assert!(!err.contains("no event here"), "{err}");
    };
    t("--keywords winevent_keyword_image", 2);
    t("--keywords WINEVENT_KEYWORD_IMAGE --level 4", 1);
    t("--keywords winevent_keyword_*", 3);
    t("--keywords WINEVENT_KEYWORD_IMAGE,0x10", 3);
    t("--keywords 0x40", 2);
    let (written, names, err) = rows("--keywords WINEVENT_KEYWORD_IMAGES,winevent_keyword_process", 0);
    assert_eq!((written, names), (1, json!(["winevent_keyword_images", "winevent_keyword_process"])));
    let warning =
        "warning: no event here has a keyword called winevent_keyword_images; did you mean WINEVENT_KEYWORD_IMAGE?\n";
    assert!(err.contains(warning), "{err}");
    let none = sandbox.t("convert a.etl -o none --keywords gc", 5).err;
    let why = "warning: trace=a is not published: no event passes the filters: no event here has a keyword called gc; there are \
               WINEVENT_KEYWORD_IMAGE, WINEVENT_KEYWORD_PROCESS\n";
    assert!(none.contains(why), "{none}");
}

#[test]
fn shells_and_man_know_all_commands() {
    let sandbox = Sandbox::new();
    for (shell, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef etl2parquet"),
        ("fish", "complete -c etl2parquet"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = sandbox.t(&format!("completions {shell}"), 0).out;
        assert!(
            script.contains(mark) && script.contains("convert-partition") && script.contains("if-exists"),
            "{shell}"
        );
    }
    sandbox.t("completions cmd", 2);
    sandbox.t("man pages", 0);
    let names = sandbox.names("pages");
    for name in ["etl2parquet.1", "etl2parquet-convert.1", "etl2parquet-schema.1", "etl2parquet-schema-list.1"] {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
    assert_eq!(fs::read_to_string(sandbox.path("pages/etl2parquet.1")).unwrap(), sandbox.t("man", 0).out);
    let page = fs::read_to_string(sandbox.path("pages/etl2parquet-schema-list.1")).unwrap();
    assert!(page.contains(".TH etl2parquet-schema-list 1") && page.contains("\\-\\-provider"), "{page}");
}

#[test]
fn the_version_names_the_schemas() {
    let sandbox = Sandbox::new();
    let short = concat!("etl2parquet ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(sandbox.t("-V", 0).out, short);
    let long = sandbox.t("--version", 0).out;
    let schemas = long.strip_prefix(short).unwrap().lines().last().unwrap();
    let (hash, rest) = schemas.strip_prefix("schemas ").unwrap().split_once(", ").unwrap();
    assert!(hash.len() == 16 && hash.bytes().all(|c| c.is_ascii_hexdigit()), "{long}");
    assert_eq!(rest, "of 20 builds of Windows");
}

#[test]
fn inspect_says_what_converted_traces_are() {
    let sandbox = Sandbox::new();
    sandbox.file("in/a.etl", &with(9, header()));
    sandbox.file("in/b.etl", &with(30, header()));
    sandbox.t("convert in -o out", 0);
    let words = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let page = words(&sandbox.t("inspect out", 0).out);
    let t = |line: &str, expected: &str| {
        let found = page.iter().find(|found| found.starts_with(line));
        assert!(found.is_some_and(|found| found.contains(expected)), "{line}: {page:#?}");
    };
    t("a ", " KiB 8 s 10 10.0% -");
    t("b ", " KiB 29 s 31 3.2% -");
    t("DATASET", "DATASET EVENTS TRACES FILES SIZE");
    t("Kernel-PerfInfo", "Kernel-PerfInfo 39 2 2 ");
    t("Kernel-EventTrace", "Kernel-EventTrace 2 2 2 ");
    let page = words(&sandbox.t("inspect out/trace=a", 0).out);
    assert_eq!(page[..4], ["out/trace=a", "", "Trace", "input a.etl (8.00 KiB)"]);
    assert!(page.contains(&"events 10 found, 10 written".to_owned()), "{page:#?}");
    let document: Value = serde_json::from_str(&sandbox.t("inspect out --json", 0).out).unwrap();
    assert_eq!((&document["format"], &document["errors"]), (&json!(1), &json!([])));
    let traces = document["published"].as_array().unwrap();
    let shown: Vec<_> = traces.iter().map(|one| (&one["folder"], &one["manifest"]["events"]["written"])).collect();
    assert_eq!(shown, [(&json!("out/trace=a"), &json!(10)), (&json!("out/trace=b"), &json!(31))]);
    // A manifest that cannot be read is reported, and the others are shown.
    fs::write(sandbox.path("out/trace=a/sidecar/manifest.json"), "{}").unwrap();
    let ran = sandbox.t("inspect out", 6);
    let shown = ran.err.replace('\\', "/");
    assert!(shown.starts_with("error: out/trace=a/sidecar/manifest.json: "), "{shown}");
    assert!(ran.out.starts_with("out/trace=b\n"), "{}", ran.out);
}
