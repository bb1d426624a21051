//! The help texts, whole: they are what most users ever read, and a change to them should be seen.

use std::process::{Command, Stdio};

/// What the program prints, on a terminal of 100 columns.
fn help(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etl2parquet"));
    command.args(arguments).env("COLUMNS", "100").stdin(Stdio::null()).stderr(Stdio::piped());
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
fn views() {
    insta::assert_snapshot!(help(&["views", "--help"]));
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
    for command in ["list", "show", "import", "lock", "export"] {
        insta::assert_snapshot!(format!("schema_{command}"), help(&["schema", command, "--help"]));
    }
}

#[test]
fn steps() {
    for command in ["plan", "convert-partition", "commit"] {
        insta::assert_snapshot!(format!("steps_{command}"), help(&[command, "--help"]));
    }
}
