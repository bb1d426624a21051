//! The table of `docs/options.md`, which follows from the options themselves.

use std::fmt::Write;

use base::settings::{Recorded, SettingGroup};
use batch::options as of_batch;
use clap::Arg;
use conversion::convert::settings;

use super::args::command;

/// Where the manifest of a trace has the options of a place, by their long names.
fn places<T>(groups: &[SettingGroup<T>]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = groups.iter().flat_map(|group| group.settings);
    rows.filter_map(|row| {
        let place = match row.place()? {
            Recorded::Files => "`options`",
            Recorded::Publication | Recorded::Run => "`run.options`",
        };
        Some((row.name, place))
    })
}

/// The rows of the table, by heading.
fn table() -> String {
    let command = command();
    let convert = command.find_subcommand("convert").unwrap();
    let places: Vec<_> = places(&settings::ALL).chain(places(&of_batch::ALL)).collect();
    let shown: Vec<&Arg> = convert.get_opts().filter(|option| !option.is_hide_set()).collect();
    let mut headings: Vec<&str> = shown.iter().filter_map(|option| option.get_help_heading()).collect();
    let mut seen = Vec::new();
    headings.retain(|heading| {
        !seen.contains(heading) && {
            seen.push(*heading);
            true
        }
    });
    let mut text = String::new();
    for heading in headings {
        write!(text, "\n### {heading}\n\n| option | default | what it decides | manifest |\n|---|---|---|---|\n")
            .unwrap();
        for option in shown.iter().filter(|option| option.get_help_heading() == Some(heading)) {
            let long = option.get_long().unwrap();
            let place = places.iter().find(|(name, _)| *name == long).map_or("", |(_, place)| place);
            writeln!(text, "| {} | {} | {} | {place} |", typed(option), default(option), what(option)).unwrap();
        }
    }
    text
}

fn typed(option: &Arg) -> String {
    let takes_value = option.get_action().takes_values();
    let value = option.get_value_names().filter(|_| takes_value).and_then(<[_]>::first);
    let value = value.map_or(String::new(), |value| format!(" {}", value.replace('|', "\\|")));
    let short = option.get_short().map_or(String::new(), |short| format!("`-{short}`, "));
    format!("{short}`--{}{value}`", option.get_long().unwrap())
}

fn default(option: &Arg) -> String {
    let values = option.get_default_values();
    let is_shown = option.get_action().takes_values();
    match values.first().filter(|_| is_shown) {
        Some(value) => format!("`{}`", value.to_string_lossy()),
        None => described_default(option),
    }
}

/// One that follows from the machine or the input has a paragraph of its own in the long help.
fn described_default(option: &Arg) -> String {
    let help = option.get_long_help().map(ToString::to_string).unwrap_or_default();
    let words = help.rsplit_once("\n\n[default: ").and_then(|(_, words)| words.trim_end().strip_suffix(']'));
    words.map_or(String::new(), str::to_owned)
}

fn what(option: &Arg) -> String {
    let help = option.get_help().unwrap().to_string();
    let words = option.get_possible_values();
    let is_worded = option.get_action().takes_values() && !words.is_empty();
    let words = words.iter().filter(|_| is_worded).map(|word| {
        format!("`{}` {}", word.get_name(), word.get_help().map_or(String::new(), |help| lower(&help.to_string())))
    });
    let words: Vec<String> = words.collect();
    let colon = if words.is_empty() { "" } else { ": " };
    format!("{}{colon}{}", help.split_whitespace().collect::<Vec<_>>().join(" "), words.join("; ")).replace('|', "\\|")
}

/// With a small first letter, unless the word is a name.
fn lower(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    if rest.starts_with(char::is_lowercase) || rest.starts_with(' ') {
        first.to_lowercase() + rest
    } else {
        text.to_owned()
    }
}

#[test]
fn the_page_has_every_option() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, _) = page.split_once("\n## Options of `convert`\n").unwrap();
    let expected = format!("{before}\n## Options of `convert`\n{}", table());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, expected).unwrap();
        return;
    }
    assert_eq!(page, expected, "INSTA_UPDATE=always cargo test --lib the_page_has_every_option writes it");
}
