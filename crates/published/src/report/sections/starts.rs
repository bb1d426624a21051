//! How processes started.

use base::readable::count::{ByteCount, Count, counted};
use base::readable::time::duration;

use super::super::facts::Facts;
use super::super::figures::moment;
use super::super::html::{Cell, Section, and_more, note, records, table};
use super::super::starts::{FIRST_NS, Start};

/// Which processes started while the trace was recorded, and what they did in their first seconds; `None` where none did.
pub(in super::super) fn starts(facts: &Facts) -> Option<Section> {
    let (shown, more) = facts.starts.shown();
    if shown.is_empty() {
        return None;
    }
    let first = duration(FIRST_NS.unsigned_abs());
    let lead = format!(
        "<p>Looked at is the time from the start of a process to {first} later, to its end, or to the end of the recording, whichever is \
         first. {}</p>\n",
        "Those that used processors most in that time come first."
    );
    let who: Vec<Vec<Cell>> = shown.iter().map(|start| who(facts, start)).collect();
    let heads = ["process", "id", "started", "by", "ended after", "command line"];
    let mut content = lead + &records("Processes that started", &heads, &who);
    content += &and_more(more, "processes");
    if facts.starts.left_out > 0 {
        content +=
            &note(&format!("{} had no room in this report.", counted(facts.starts.left_out, "further processes")));
    }
    let columns = columns(facts);
    let rows: Vec<Vec<Cell>> = shown.iter().map(|start| first_seconds(&columns, start)).collect();
    let heads: Vec<&str> = ["process", "id"].into_iter().chain(columns.iter().map(|(head, _)| *head)).collect();
    let caption = "First seconds of processes";
    content += "<h3>First seconds</h3>\n";
    content += &table(caption, &heads, &rows);
    if facts.waits.is_some() {
        content += &note("Waits are those of all threads together.");
    }
    if facts.starts.has_modules {
        content +=
            &note("The last module is the last that was loaded in that time, to start or, later, for something else.");
    }
    Some(Section::new("starts", "Start of processes", content))
}

fn name(start: &Start) -> [Cell; 2] {
    [Cell::text(start.name.as_deref().unwrap_or("no name recorded")), Cell::number(&start.id)]
}

fn who(facts: &Facts, start: &Start) -> Vec<Cell> {
    let text = |text: &Option<String>| Cell::text(text.as_deref().unwrap_or("not recorded"));
    let ended = start.ended.and_then(|ended| u64::try_from(ended.checked_sub(start.from)?).ok());
    let ended = ended.map_or_else(|| "–".to_owned(), duration);
    let [name, id] = name(start);
    vec![
        name,
        id,
        Cell::Number(moment(&facts.axis, start.from)),
        text(&start.parent),
        Cell::Number(ended),
        text(&start.command_line),
    ]
}

type Column = (&'static str, fn(&Start) -> String);

/// What the trace records of the first seconds of processes.
fn columns(facts: &Facts) -> Vec<Column> {
    let columns: [(bool, Column); 9] = [
        (true, ("looked at", |start| duration(start.length()))),
        (facts.usage.is_some(), ("on processors", |start| duration(start.cpu_ns))),
        (facts.samples.is_some(), ("samples", |start| Count(start.samples).to_string())),
        (facts.waits.is_some(), ("waited", |start| duration(start.waited_ns))),
        (facts.disk.is_some(), ("read", |start| bytes(start, 0))),
        (facts.disk.is_some(), ("written", |start| bytes(start, 1))),
        (facts.starts.has_faults, ("hard faults", |start| Count(start.hard_faults).to_string())),
        (facts.starts.has_modules, ("modules", |start| Count(start.modules).to_string())),
        (
            facts.starts.has_modules,
            ("last module after", |start| start.loaded_after().map_or_else(|| "–".to_owned(), duration)),
        ),
    ];
    columns.into_iter().filter(|(is_recorded, _)| *is_recorded).map(|(_, column)| column).collect()
}

fn bytes(start: &Start, way: usize) -> String {
    ByteCount(start.disk_bytes.get(way).copied().unwrap_or(0)).to_string()
}

fn first_seconds(columns: &[Column], start: &Start) -> Vec<Cell> {
    let cells = columns.iter().map(|(_, cell)| Cell::Number(cell(start)));
    name(start).into_iter().chain(cells).collect()
}
