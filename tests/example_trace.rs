//! The committed example trace is what its program makes, and holds what its description says.

#![allow(unreachable_pub, reason = "the modules of the program stand for themselves")]

mod synth;

#[path = "../examples/make_trace/apps.rs"]
mod apps;
#[path = "../examples/make_trace/kernel.rs"]
mod kernel;
#[path = "../examples/make_trace/recording.rs"]
mod recording;
#[path = "../examples/make_trace/scenes.rs"]
mod scenes;

#[test]
fn the_committed_file_is_what_the_program_makes() {
    let committed = include_bytes!("../examples/example.etl");
    assert!(scenes::record().trace().to_bytes() == committed, "make examples/example.etl again, see its README");
}

#[test]
fn the_description_counts_the_events() {
    let description = include_str!("../examples/README.md");
    let described: Vec<&str> = description.lines().filter(|line| line.ends_with('|')).skip(2).collect();
    let rows = scenes::record().contents().into_iter().map(|(kind, count)| format!("| {kind} | {count} |"));
    assert_eq!(described, rows.collect::<Vec<String>>());
}
