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
    // What is wrong in it is told whatever command is used.
    sandbox.file("bad.toml", b"[convert]\nthreads = 2\nif-exist = 'skip'\n");
    let refused = sandbox.t("inspect a.etl --config bad.toml", 2);
    assert_eq!(refused.err, "error: bad.toml: if-exist is no option of convert; did you mean if-exists? (line 3)\n");
    let refused = sandbox.t("inspect a.etl --config none.toml", 2);
    assert!(refused.err.starts_with("error: none.toml: cannot read the configuration: "), "{}", refused.err);
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
fn shells_and_man_are_told_all_commands() {
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
