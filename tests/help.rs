//! The help texts, whole: they are what most users ever read, and a change to them should be seen.

use std::process::{Command, Stdio};

/// What the program prints, on a terminal of 100 columns.
fn help(arguments: &[&str]) -> String {
    help_in(arguments, "100")
}

/// On a terminal of so many columns.
fn help_in(arguments: &[&str], columns: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
    command.args(arguments).env("COLUMNS", columns).stdin(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    // Windows names the program with its extension.
    String::from_utf8(output.stdout).expect("help is UTF-8").replace("etl2parquet.exe", "etl2parquet")
}

#[test]
fn program() {
    insta::assert_snapshot!(help(&["--help"]));
}

#[test]
fn convert() {
    insta::assert_snapshot!(help(&["convert", "--help"]));
}

#[test]
fn inspect() {
    insta::assert_snapshot!(help(&["inspect", "--help"]));
}

#[test]
fn report() {
    insta::assert_snapshot!(help(&["report", "--help"]));
}

#[test]
fn compact() {
    insta::assert_snapshot!(help(&["compact", "--help"]));
}

#[test]
fn clean() {
    insta::assert_snapshot!(help(&["clean", "--help"]));
}

#[test]
fn compare() {
    insta::assert_snapshot!(help(&["compare", "--help"]));
}

#[test]
fn describe() {
    insta::assert_snapshot!(help(&["describe", "--help"]));
}

#[test]
fn views() {
    insta::assert_snapshot!(help(&["views", "--help"]));
}

#[test]
fn events() {
    insta::assert_snapshot!(help(&["events", "--help"]));
}

#[test]
fn query() {
    insta::assert_snapshot!(help(&["query", "--help"]));
}

#[test]
fn export() {
    insta::assert_snapshot!(help(&["export", "--help"]));
}

#[test]
fn symbols() {
    insta::assert_snapshot!(help(&["symbols", "--help"]));
}

#[test]
fn verify() {
    insta::assert_snapshot!(help(&["verify", "--help"]));
}

#[test]
fn schema() {
    insta::assert_snapshot!(help(&["schema", "--help"]));
}

#[test]
fn schema_commands() {
    for command in ["list", "show", "import", "imports", "remove", "harvest", "lock", "export"] {
        insta::assert_snapshot!(format!("schema_{command}"), help(&["schema", command, "--help"]));
    }
}

#[test]
fn steps() {
    for command in ["plan", "convert-partition", "commit"] {
        insta::assert_snapshot!(format!("steps_{command}"), help(&[command, "--help"]));
    }
}

/// Every command, as it is typed.
const COMMANDS: [&str; 28] = [
    "",
    "convert",
    "plan",
    "convert-partition",
    "commit",
    "inspect",
    "symbols",
    "verify",
    "report",
    "compact",
    "clean",
    "compare",
    "views",
    "describe",
    "schema",
    "schema list",
    "schema show",
    "schema import",
    "schema imports",
    "schema remove",
    "schema harvest",
    "schema lock",
    "schema export",
    "events",
    "query",
    "export",
    "completions",
    "man",
];

#[test]
fn short_help_fits_on_a_screen() {
    for command in COMMANDS {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.push("-h");
        let text = help_in(&arguments, "80");
        let lines: Vec<&str> = text.trim_end().lines().collect();
        assert!(lines.len() <= 40, "{command}: {} lines\n{text}", lines.len());
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{command}:\n{text}");
        assert!(lines.last().unwrap().starts_with("--help has all options"), "{command}:\n{text}");
    }
    // Every command that there is stands in a list of them.
    for (group, above) in [(vec!["-h"], ""), (vec!["schema", "-h"], "schema ")] {
        let text = help_in(&group, "80");
        let listed = text.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help") {
            assert!(COMMANDS.contains(&format!("{above}{name}").as_str()), "{name}");
        }
    }
}
