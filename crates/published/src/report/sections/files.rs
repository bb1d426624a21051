//! Which disks and files were read and written.

use base::readable::count::{ByteCount, Count, counted};
use base::readable::time::duration;

use super::super::facts::Facts;
use super::super::files::Files;
use super::super::html::{Section, note, table};
use super::super::tally::{Amounts, Ranked};
use super::rows::rows;

/// Disks, and files by what disks did, by hard page faults and by what programs asked for. `None` where none of it is recorded.
pub(in super::super) fn files(facts: &Facts) -> Option<Section> {
    let Files { by_bytes, by_time, by_disk, faults, asked, left_out } = &facts.files;
    let parts = [on_disks(by_disk, by_bytes, by_time), hard_faults(faults), of_programs(asked)];
    let mut content = parts.concat();
    if content.is_empty() {
        return None;
    }
    if *left_out > 0 {
        let paths = counted(*left_out, "paths");
        content +=
            &note(&format!("{paths} had no room in this report: what was done with these files has no path here."));
    }
    Some(Section::new("files", "Disks and files", content))
}

fn on_disks(by_disk: &Ranked, by_bytes: &Ranked, by_time: &Ranked) -> String {
    let operations = by_disk.counter(2);
    if operations == 0 {
        return String::new();
    }
    let lead = format!(
        "<p>{} read and {} written in {} that took {}, each from its begin to its end.</p>\n",
        ByteCount(by_disk.counter(0)),
        ByteCount(by_disk.counter(1)),
        counted(operations, "finished operations"),
        duration(by_disk.counter(3))
    );
    let unknown = [(operations.saturating_sub(by_disk.counter(4)), "time"), (by_disk.counter(5), "size")];
    let unknown = unknown.into_iter().filter(|(count, _)| *count > 0);
    let unknown: String = unknown
        .map(|(count, what)| note(&format!("The {what} of {} is not known.", counted(count, "operations"))))
        .collect();
    let table_of = |caption: &str, head: &str, ranked: &Ranked| {
        table(caption, &[head, "read", "written", "operations", "time", "mean time"], &rows(ranked, disk_cells))
    };
    format!(
        "{lead}{unknown}<h3>Disks</h3>\n{}<h3>Files with most bytes on disks</h3>\n{}<h3>Files that took disks longest</h3>\n{}",
        table_of("Disk operations by disk", "disk", by_disk),
        table_of("Disk operations by file, by bytes", "file", by_bytes),
        table_of("Disk operations by file, by time", "file", by_time)
    )
}

fn disk_cells(amounts: &Amounts) -> Vec<String> {
    let [read, written, operations, took, timed, _] = amounts.counters;
    let bytes = [read, written].map(|bytes| ByteCount(bytes).to_string());
    let mean = took.checked_div(timed).map_or_else(|| "–".to_owned(), duration);
    let all = if timed == 0 { "–".to_owned() } else { duration(took) };
    bytes.into_iter().chain([Count(operations).to_string(), all, mean]).collect()
}

fn hard_faults(faults: &Ranked) -> String {
    let count = faults.counter(0);
    if count == 0 {
        return String::new();
    }
    let lead = format!(
        "<p>{} read {} and took {}. What they read is among the operations above, where disks did it.</p>\n",
        counted(count, "hard page faults"),
        ByteCount(faults.counter(1)),
        duration(faults.counter(2))
    );
    let cells = |amounts: &Amounts| {
        let [faults, bytes, took, untimed, ..] = amounts.counters;
        let took = if untimed == faults { "–".to_owned() } else { duration(took) };
        vec![took, Count(faults).to_string(), ByteCount(bytes).to_string()]
    };
    let table = table("Hard page faults by file", &["file", "time", "faults", "bytes"], &rows(faults, cells));
    format!("<h3>Files that hard page faults waited for</h3>\n{lead}{table}")
}

fn of_programs(asked: &Ranked) -> String {
    let operations = asked.counter(2);
    if operations == 0 {
        return String::new();
    }
    let lead = format!(
        "<p>Programs asked to read {} and to write {} in {}, of which the system may have served some from memory.</p>\n",
        ByteCount(asked.counter(0)),
        ByteCount(asked.counter(1)),
        counted(operations, "operations")
    );
    let unknown = match asked.counter(3) {
        0 => String::new(),
        count => note(&format!("The size of {} is not known.", counted(count, "operations"))),
    };
    let cells = |amounts: &Amounts| {
        let [read, written, operations, ..] = amounts.counters;
        vec![ByteCount(read).to_string(), ByteCount(written).to_string(), Count(operations).to_string()]
    };
    let heads = ["file", "read", "written", "operations"];
    let table = table("Reads and writes of programs by file", &heads, &rows(asked, cells));
    format!("<h3>Files that programs read and wrote</h3>\n{lead}{unknown}{table}")
}
