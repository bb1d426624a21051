//! The options of a conversion, each in one place: the command line, `--config`, the record of a trace with its options hash,
//! and the table of the documentation follow from these rows.
//!
//! What is not here decides nothing about a trace: threads, memory, what is shown. Schemas and the schema lock are files,
//! of which the record keeps a hash.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use base::disk::absolute_text;
use base::settings::{Recorded, Setting, SettingGroup};
use base::sizes::{parse_size, size_text};
use base::words::Words;
use serde_json::{Value, json};

use super::checks::{FailOn, LockMode};
use super::options::ConvertOptions;
use super::policies::{Columns, MessagePolicy, ViewScripts};
use crate::plan::filter::{Keywords, NumberSet, Processes, parse_keywords, parse_level, parse_processes};

/// An option of a conversion.
type Row = Setting<ConvertOptions>;

/// An option with one of a few words: its name, what help calls its value, the place of its value in the options, and that in the
/// record.
macro_rules! word {
    ($name:literal, $value:literal, $recorded:ident, $($field:ident).+) => {
        Row::word($name, $value, || words_like(|options| options.$($field).+), |options, word| {
            options.$($field).+ = of_word(word)?;
            Ok(())
        })
        .default(|options| Some(options.$($field).+.word().to_owned()))
        .recorded(Recorded::$recorded, |options| Some(options.$($field).+.word().into()))
    };
}

/// An option of which any of several values may hold, in a list that is empty where it is not given.
macro_rules! list {
    ($name:literal, $value:literal, $($field:ident).+) => {
        Row::text($name, $value, |options, text| {
            options.$($field).+.push(text.parse()?);
            Ok(())
        })
    };
}

/// What becomes of traces that are there, and of inputs.
pub const OUTPUT: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Output",
    settings: &[
        word!("if-exists", "WHAT", Publication, if_exists).help("What to do about a trace that is there already"),
        Row::flag("rehash", |options| options.rehash = true)
            .help("With --if-exists update: compare what inputs hold, not when they were written")
            .recorded(Recorded::Run, |options| Some(options.rehash.into())),
        Row::flag("allow-repeated", |options| options.allow_repeated = true)
            .help("Merge files that hold the same bytes, too: every event of theirs is in the trace several times")
            .recorded(Recorded::Run, |options| Some(options.allow_repeated.into())),
    ],
};

/// Which events become rows.
pub const FILTERS: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Filters",
    settings: &[
        list!("provider", "NAME", filter.providers)
            .listed()
            .help(
                "Only events of this provider: name, GUID or pattern such as Kernel-*; repeat it, or put commas between, for \
                 several",
            )
            .details("Different filters must all hold, of several values of one any. Upper and lower case are the same.")
            .recorded(Recorded::Files, |options| Some(texts(&options.filter.providers))),
        list!("exclude-provider", "NAME", filter.excluded_providers)
            .listed()
            .help("No events of this provider: name, GUID or pattern; repeatable")
            .recorded(Recorded::Files, |options| Some(texts(&options.filter.excluded_providers))),
        list!("event", "EVENT", filter.events)
            .listed()
            .help("Only this event: id, name or pattern such as */Start; repeatable")
            .recorded(Recorded::Files, |options| Some(texts(&options.filter.events))),
        Row::text("level", "LEVEL", |options, text| {
            options.filter.level = Some(parse_level(text)?);
            Ok(())
        })
        .help("Only events of this level and more severe ones: critical, error, warning, information, verbose or 1 to 255")
        .details("Level 0 always passes, as it does in a session. Events without a level (kernel, WPP) do not.")
        .recorded(Recorded::Files, |options| Some(json!(options.filter.level))),
        Row::text("keywords", "KEYWORDS", add_keywords)
            .listed()
            .help("Only events with any of these keywords: a mask such as 0x30, or names and patterns such as GC; repeatable")
            .details(
                "Names are those that the schemas of events declare, as `catalog` has them. Keyword 0 always passes, as it does \
                 in a session. Events without keywords (kernel, classic, WPP) do not.",
            )
            .recorded(Recorded::Files, |options| Some(json!(options.filter.keywords.map(|mask| format!("{mask:#x}")))))
            .and_recorded("keyword_names", |options| given_texts(&options.filter.keyword_names)),
        Row::text("pid", "PROCESSES", add_processes)
            .listed()
            .help(
                "Only events of these processes: numbers and ranges, such as 4,1000-1999, or names and patterns of image files, \
                 such as chrome.exe; repeatable",
            )
            .details(
                "The process of an event is that of the columns process_id and process_name: of many events of the kernel, the \
                 one that their payload names, or the one that their thread was in.",
            )
            .recorded(Recorded::Files, |options| Some(numbers(&options.filter.processes)))
            .and_recorded("process_names", |options| given_texts(&options.filter.process_names)),
        list!("tid", "IDS", filter.threads)
            .repeated()
            .help("Only events of these threads, as in the column thread_id; repeatable")
            .recorded(Recorded::Files, |options| Some(numbers(&options.filter.threads))),
        list!("cpu", "CPUS", filter.cpus)
            .repeated()
            .help("Only events recorded on these processors, such as 1,4-7; repeatable")
            .recorded(Recorded::Files, |options| Some(numbers(&options.filter.cpus))),
        Row::text("from", "TIME", |options, text| set(&mut options.filter.from, text))
            .help(
                "Only events at this time or later: 2025-01-31T12:00:00Z, \"2025-01-31 12:00:00\" in UTC, or +12.5s from the \
                 start of the trace",
            )
            .details(
                "Units: ns, us, ms, s, min, h, d. The trace starts with its header event, which has the time that `inspect` \
                 calls started.",
            )
            .recorded(Recorded::Files, |options| Some(text(options.filter.from.as_ref()))),
        Row::text("to", "TIME", |options, text| set(&mut options.filter.to, text))
            .help("Only events before this time")
            .recorded(Recorded::Files, |options| Some(text(options.filter.to.as_ref()))),
    ],
};

const CLOCK_ANCHOR: Row = word!("clock-anchor", "WHAT", Files, anchor).help("What the time of events is counted from");

/// What the time of events is counted from, for commands that write no columns.
pub const CLOCK: SettingGroup<ConvertOptions> = SettingGroup { heading: "", settings: &[CLOCK_ANCHOR] };

/// Which columns tables have, and their types.
pub const COLUMNS: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Columns",
    settings: &[
        word!("layout", "WHICH", Files, layout).help("Which events share a dataset"),
        Row::word("columns", "WHICH", words::<Columns>, |options, word| {
            options.all_columns = of_word::<Columns>(word)? == Columns::Declared;
            Ok(())
        })
        .help("Which payload columns a table has")
        .default(|options| Some(columns(options).word().to_owned()))
        .recorded(Recorded::Files, |options| Some(columns(options).word().into())),
        word!("raw", "WHEN", Files, raw).help("When the raw payload of an event is written too"),
        word!("stacks", "WHAT", Files, stacks)
            .help("What becomes of the stacks of kernel events, which events of their own record"),
        Row::word("messages", "WHAT", words::<MessagePolicy>, |options, word| {
            options.messages = of_word(word)?;
            Ok(())
        })
        .help("What rows have of the message of their event, as Event Viewer shows it")
        .default(|options| Some(options.messages.word().to_owned()))
        .recorded(Recorded::Files, |options| {
            (options.messages != MessagePolicy::default()).then(|| options.messages.word().into())
        }),
        Row::text("language", "TAG", |options, text| {
            options.language = Some(parse_language(text)?);
            Ok(())
        })
        .help("Language of messages, such as de-DE, where a manifest has several [default: en-US, else the first]")
        .recorded(Recorded::Files, |options| options.language.clone().map(Value::from)),
        word!("integers", "HOW", Files, types.integers).help("How numbers are written"),
        word!("guid", "HOW", Files, types.guid).help("How GUIDs are written"),
        word!("timestamps", "UNIT", Files, types.timestamps).help("Unit of timestamp columns"),
        CLOCK_ANCHOR,
    ],
};

/// Which files are written, and how.
pub const FILES: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Files",
    settings: &[
        Row::text("compression", "CODEC", |options, text| {
            options.compression = text.parse().map_err(|error: base::error::Error| error.to_string())?;
            Ok(())
        })
        .help("Codec: zstd, zstd(1) to zstd(22), snappy, lz4, none")
        .default(|options| Some(options.compression.to_string()))
        .recorded(Recorded::Files, |options| Some(options.compression.to_string().into())),
        Row::text("row-group-rows", "ROWS", |options, text| {
            options.row_group_rows = parse_row_group_rows(text)?;
            Ok(())
        })
        .help(
            "Rows at which a row group is closed, unless its size closes it before; at least 1024, since smaller groups take \
             more room for what describes them than for their values",
        )
        .default(|options| Some(options.row_group_rows.to_string()))
        .recorded(Recorded::Files, |options| Some(options.row_group_rows.into())),
        Row::text("max-file-size", "SIZE", |options, text| {
            options.max_file_size = parse_size(text)?;
            Ok(())
        })
        .help("Size at which a file is closed and the next one begun, in bytes or with a unit (KiB, MiB, GiB, KB, MB, GB)")
        .default(|options| Some(size_text(options.max_file_size)))
        .recorded(Recorded::Files, |options| Some(options.max_file_size.into())),
        Row::word("views", "WHICH", words::<ViewScripts>, |options, word| {
            options.views = of_word(word)?;
            Ok(())
        })
        .help("Scripts of the views of a trace to write into it")
        .default(|options| Some(options.views.word().to_owned()))
        .recorded(Recorded::Files, |options| {
            (options.views != ViewScripts::default()).then(|| options.views.word().into())
        }),
        Row::text("partition-bytes", "SIZE", |options, text| {
            options.partition_bytes = Some(parse_size(text)?);
            Ok(())
        })
        .help("Event bytes of a partition, for tests")
        .hidden()
        .recorded(Recorded::Files, |options| options.partition_bytes.map(Value::from)),
        Row::word("encoder", "WHO", || words_like(|options| options.encoder), |options, word| {
            options.encoder = of_word(word)?;
            Ok(())
        })
        .help("Who encodes columns, for tests; the bytes are the same")
        .hidden()
        .default(|options| Some(options.encoder.word().to_owned())),
    ],
};

/// What keeps a trace from being published.
pub const CHECKS: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Checks",
    settings: &[
        Row::text("max-loss", "N|P%", |options, text| set(&mut options.checks.max_loss, text))
            .help(
                "Publish no trace that lost more events than this, as a number or as a percentage, such as 0.1%, or whose loss \
                 is not known",
            )
            .recorded(Recorded::Publication, |options| Some(text(options.checks.max_loss.as_ref()))),
        Row::word("fail-on", "WHAT", words::<FailOn>, |options, word| {
            *options.checks.of(of_word(word)?) = true;
            Ok(())
        })
        .listed()
        .help("Publish no trace of which any of these is true; several with commas between")
        .recorded(Recorded::Publication, |options| {
            Some(options.checks.fail_on().map(Words::word).collect::<Vec<_>>().into())
        }),
    ],
};

/// What becomes of names that the schema lock does not have.
pub const LOCK: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Schemas",
    settings: &[Row::word("schema-lock-mode", "MODE", words::<LockMode>, |options, word| {
        options.checks.new_names = of_word::<LockMode>(word)? == LockMode::Strict;
        Ok(())
    })
    .help("What to do about names that the lock does not have")
    .default(|options| Some(options.checks.lock_mode().word().to_owned()))
    .recorded(Recorded::Publication, |options| Some(options.checks.lock_mode().word().into()))],
};

/// How what is packed is unpacked.
pub const SPOOL: SettingGroup<ConvertOptions> = SettingGroup {
    heading: "Running",
    settings: &[
        Row::path("spool-dir", "DIR", |options, path| options.open.spool_dir = Some(path))
            .help("Folder for the temporary file that members of archives are unpacked to [default: the output folder]")
            .recorded(Recorded::Run, |options| Some(json!(options.open.spool_dir.as_deref().map(absolute_text)))),
        Row::text("max-spool", "SIZE", |options, text| {
            options.open.max_spool = Some(parse_size(text)?);
            Ok(())
        })
        .help("Size that the members of one trace may take there, in bytes or with a unit (MiB, GiB)")
        .details("[default: 20 times that of the archive, at least 1 GiB, at most 64 GiB]")
        .recorded(Recorded::Run, |options| Some(json!(options.open.max_spool))),
    ],
};

/// All options of a conversion, in the order of help.
pub const ALL: [SettingGroup<ConvertOptions>; 7] = [OUTPUT, FILTERS, COLUMNS, FILES, CHECKS, LOCK, SPOOL];

/// The words of a kind.
pub fn words<V: Words>() -> Vec<(&'static str, &'static str)> {
    V::WORDS.iter().map(|(_, word, meaning)| (*word, *meaning)).collect()
}

/// The words of the kind that a value of the options is of.
fn words_like<V: Words>(_value: fn(&ConvertOptions) -> V) -> Vec<(&'static str, &'static str)> {
    words::<V>()
}

/// The value of a word.
///
/// # Errors
/// The words that there are.
pub fn of_word<V: Words>(word: &str) -> Result<V, String> {
    V::of_word(word).ok_or_else(|| {
        let words: Vec<&str> = V::WORDS.iter().map(|(_, word, _)| *word).collect();
        format!("expected one of {}", words.join(", "))
    })
}

fn set<V: FromStr<Err = String>>(value: &mut Option<V>, text: &str) -> Result<(), String> {
    *value = Some(text.parse()?);
    Ok(())
}

fn add_keywords(options: &mut ConvertOptions, text: &str) -> Result<(), String> {
    match parse_keywords(text)? {
        Keywords::Mask(mask) => options.filter.keywords = Some(options.filter.keywords.unwrap_or(0) | mask),
        Keywords::Name(name) => options.filter.keyword_names.push(name),
    }
    Ok(())
}

fn add_processes(options: &mut ConvertOptions, text: &str) -> Result<(), String> {
    match parse_processes(text)? {
        Processes::Ids(ids) => options.filter.processes.push(ids),
        Processes::Name(name) => options.filter.process_names.push(name),
    }
    Ok(())
}

fn columns(options: &ConvertOptions) -> Columns {
    if options.all_columns { Columns::Declared } else { Columns::Present }
}

/// The longest tag of a language that BCP 47 asks programs to take, in characters.
const MAX_LANGUAGE: usize = 35;

fn parse_language(text: &str) -> Result<String, String> {
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_alphanumeric());
    let is_tag = text.len() <= MAX_LANGUAGE && text.split('-').all(is_part);
    is_tag.then(|| text.to_owned()).ok_or_else(|| "expected the tag of a language, such as de-DE".to_owned())
}

/// The fewest rows at which a row group may be closed.
const LEAST_ROW_GROUP_ROWS: u32 = 1024;

fn parse_row_group_rows(text: &str) -> Result<u32, String> {
    let rows = text.trim().parse().ok().filter(|&rows| rows >= LEAST_ROW_GROUP_ROWS);
    rows.ok_or_else(|| {
        format!(
            "expected {LEAST_ROW_GROUP_ROWS} to {} rows: smaller groups take more room and time for what describes them \
             than for their values",
            u32::MAX
        )
    })
}

fn text(value: Option<&impl Display>) -> Value {
    value.map(ToString::to_string).into()
}

/// Values whose order and repetitions mean nothing.
fn texts(values: &[impl Display]) -> Value {
    let texts: BTreeSet<String> = values.iter().map(ToString::to_string).collect();
    Vec::from_iter(texts).into()
}

/// The same where there are any.
fn given_texts(values: &[impl Display]) -> Option<Value> {
    (!values.is_empty()).then(|| texts(values))
}

fn numbers(sets: &[NumberSet]) -> Value {
    text(NumberSet::union(sets.iter()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_whose_name_is_no_text_is_recorded() {
        use std::os::unix::ffi::OsStringExt;
        let mut options = ConvertOptions::default();
        options.open.spool_dir = Some(std::ffi::OsString::from_vec(b"/spool\xFF".to_vec()).into());
        let record = base::settings::record(&ALL, &options, Recorded::Run);
        assert_eq!(record.get("spool_dir"), Some(&json!("/spool\u{FFFD}")));
    }
}
