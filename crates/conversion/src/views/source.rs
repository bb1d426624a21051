//! A table of a template as a select of what there is.

use super::answers::ANSWERS;
use super::dialect::Dialect;
use super::lake::{Lake, LakeTable};
use super::naming::{MISSING, view_of};
use super::stored::declared;
use super::template::{Column, Source};

/// The columns that all events have, with their types, in the order of files.
const COMMON: [(&str, &str); 37] = [
    ("timestamp", "TIMESTAMP"),
    ("timestamp_ns", "BIGINT"),
    ("seq", "BIGINT"),
    ("ticks", "BIGINT"),
    ("time_status", "STRING"),
    ("input", "BIGINT"),
    ("cpu", "BIGINT"),
    ("process_id", "BIGINT"),
    ("process_name", "STRING"),
    ("thread_id", "BIGINT"),
    ("attribution", "STRING"),
    ("event_id", "BIGINT"),
    ("event_version", "BIGINT"),
    ("opcode", "BIGINT"),
    ("level", "BIGINT"),
    ("task", "BIGINT"),
    ("channel", "BIGINT"),
    ("event_name", "STRING"),
    ("activity_id", "STRING"),
    ("related_activity_id", "STRING"),
    ("keywords", "BIGINT"),
    ("kernel_time_ns", "BIGINT"),
    ("user_time_ns", "BIGINT"),
    ("processor_time", "BIGINT"),
    ("user_sid", "STRING"),
    ("terminal_session_id", "BIGINT"),
    ("process_start_key", "BIGINT"),
    ("event_key", "BIGINT"),
    ("container_id", "STRING"),
    ("stack", "LIST"),
    ("stack_id", "BIGINT"),
    ("stack_match_id", "BIGINT"),
    ("pmc_counters", "LIST"),
    ("recovered", "STRING"),
    ("shape", "BIGINT"),
    ("decode_source", "STRING"),
    ("decode_status", "STRING"),
];

/// The number of the machine that a row is of, 0 where nothing says so: ids mean the same on one machine alone. Tables of
/// what ids meant have it; of an event it is that of its input.
const MACHINE: &str = "machine";

/// The table that has the machines of inputs.
const SESSIONS: &str = "sidecar/sessions";

/// Whether an answer asks a table for more than that, ignoring case.
pub fn is_asked(table: &str) -> bool {
    ANSWERS.iter().any(|answer| answer.template.sources().any(|source| source.table.eq_ignore_ascii_case(table)))
}

/// The names of those.
pub fn common() -> impl Iterator<Item = &'static str> {
    COMMON.into_iter().map(|(name, _)| name)
}

/// The select of some columns and events of a table, in brackets.
pub(super) fn select(dialect: Dialect, lake: &Lake, source: &Source<'_>) -> String {
    let Source { table, events, common, columns } = source;
    let wants_machine = common.contains(&MACHINE);
    let common = COMMON.into_iter().filter(|(name, _)| common.contains(name));
    let found = lake.table(table);
    let mut items = Vec::new();
    match found {
        Some(_) => items.push("trace".to_owned()),
        None => items.push("CAST(NULL AS STRING) AS trace".to_owned()),
    }
    items.extend(common.map(|(name, kind)| match found {
        Some(table) => common_item(dialect, table, name, kind),
        None => format!("{} AS {name}", null(dialect, kind)),
    }));
    for Column { name, kind, alias } in columns {
        let value = found.and_then(|table| value(dialect, table, name, kind)).unwrap_or_else(|| null(dialect, kind));
        items.push(format!("{value} AS {alias}"));
    }
    let machine = found.filter(|_| wants_machine).map(|found| machine(dialect, lake, found));
    let (machine, machines) = machine.unwrap_or((null(dialect, "BIGINT"), String::new()));
    items.extend(wants_machine.then(|| format!("{machine} AS {MACHINE}")));
    let from = match found {
        Some(found) => {
            let read = |name: &str| {
                let column = columns.iter().find(|column| column.name == name)?;
                value(dialect, found, name, column.kind)
            };
            let condition = events.as_ref().map(|events| events.condition(dialect, read));
            format!("FROM {}{machines}{}", dialect.name(&view_of(lake, found)), condition.unwrap_or_default())
        }
        None => "WHERE 1 = 0".to_owned(),
    };
    format!("(SELECT {} {from})", items.join(", "))
}

/// A column that all events have, as it is selected. What another option wrote in another type, such as GUIDs, stays as it is;
/// what came with a later format version is NULL.
pub(super) fn common_item(dialect: Dialect, table: &LakeTable, name: &str, kind: &str) -> String {
    match value(dialect, table, name, kind).filter(|value| *value != dialect.name(name)) {
        Some(value) => format!("{value} AS {name}"),
        None if table.column(name).is_none() => format!("{} AS {name}", null(dialect, kind)),
        None => name.to_owned(),
    }
}

/// The columns that all events have, as they are declared and as they are selected, where all tables of events have each of them in one
/// type.
pub(super) fn common_of_all(dialect: Dialect, lake: &Lake) -> Option<(String, String)> {
    let mut all = LakeTable::default();
    for table in lake.tables().filter(|table| table.is_event()) {
        for (name, _) in COMMON {
            let (stored, kind) = table.column(name).filter(|_| table.is_settled(name))?;
            all.add_column(stored.to_owned(), kind.to_owned());
        }
    }
    let items: Vec<String> = COMMON.iter().map(|(name, kind)| common_item(dialect, &all, name, kind)).collect();
    Some((declared(&all, common())?, items.join(", ")))
}

/// The machine of a row, and what is joined to know it, where a trace is of several.
fn machine(dialect: Dialect, lake: &Lake, table: &LakeTable) -> (String, String) {
    let zero = || (format!("CAST(0 AS {})", dialect.kind("BIGINT")), String::new());
    if !table.is_event() {
        let own = value(dialect, table, MACHINE, "BIGINT");
        return own.map_or_else(zero, |own| (format!("COALESCE({own}, 0)"), String::new()));
    }
    let of_sessions = |sessions: &LakeTable| {
        let number = value(dialect, sessions, MACHINE, "BIGINT").filter(|_| sessions.column("input").is_some())?;
        let view = dialect.name(&view_of(lake, sessions));
        // The name is none that a field has.
        let numbers = format!("SELECT trace, input, {number} AS machine_number FROM {view} WHERE machine <> 0");
        Some(("COALESCE(machine_number, 0)".to_owned(), format!(" LEFT JOIN ({numbers}) m USING (trace, input)")))
    };
    let sessions = lake.table(SESSIONS).filter(|_| !lake.is_of_one_machine());
    sessions.and_then(of_sessions).unwrap_or_else(zero)
}

/// A column of a table as a type that is asked for; `None` where there is none, or it holds something else. `List.Member`: that member of
/// all structures of a list.
fn value(dialect: Dialect, table: &LakeTable, name: &str, kind: &str) -> Option<String> {
    if let Some((list, member)) = name.split_once('.') {
        let (stored, _) = table.column(list).filter(|(_, kind)| kind.starts_with("LIST<"))?;
        let item = table.member(name)?;
        let members = dialect.members(&dialect.name(stored), &dialect.name(member));
        return read_as(dialect, &members, &format!("LIST<{}>", item.trim_end_matches(" NOT NULL")), kind);
    }
    let (stored, stored_kind) = table.column(name)?;
    read_as(dialect, &dialect.name(stored), stored_kind, kind)
}

/// Types, and what a NULL of each is called in the view without rows.
const NULLS: [(&str, &str); 7] = [
    ("STRING", "s"),
    ("BIGINT", "i"),
    ("TIMESTAMP", "t"),
    ("BOOLEAN", "b"),
    ("LIST", "l"),
    ("TEXTS", "x"),
    ("DOUBLE", "d"),
];

/// The view without rows that those of missing events select from.
pub(super) fn missing(dialect: Dialect) -> String {
    let columns = NULLS.map(|(kind, name)| format!("{} AS {name}", null(dialect, kind)));
    let comment = "-- What these traces lack.\n";
    format!("{comment}{}SELECT {} WHERE 1 = 0;\n", dialect.view(MISSING), columns.join(", "))
}

/// The statement that makes a view of it, with these columns.
pub(super) fn empty(dialect: Dialect, view: &str, columns: &[Column<'_>]) -> String {
    let null = |kind| NULLS.iter().find(|(known, _)| *known == kind).map_or("s", |(_, name)| *name);
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let nulls: Vec<&str> = columns.iter().map(|column| null(column.kind)).collect();
    let view = dialect.view_of_columns(view, &format!("({})", names.join(", ")));
    format!("{view}SELECT {} FROM {MISSING};\n", nulls.join(", "))
}

/// A NULL of a type.
pub(super) fn null(dialect: Dialect, kind: &str) -> String {
    format!("CAST(NULL AS {})", dialect.kind(kind))
}

/// A stored column as a type that is asked for; `None` where it holds something else.
pub(super) fn read_as(dialect: Dialect, name: &str, stored: &str, wanted: &str) -> Option<String> {
    let stored = stored.trim_end_matches(" NOT NULL");
    match wanted {
        "BIGINT" if stored == "UINT_64" => Some(signed(name)),
        "BIGINT" if stored == "INT64" => Some(name.to_owned()),
        "BIGINT" if stored.starts_with("INT") || stored.starts_with("UINT_") => Some(format!("CAST({name} AS BIGINT)")),
        "LIST" if stored == "LIST<INT64>" => Some(name.to_owned()),
        "LIST" if stored == "LIST<UINT_64>" => Some(dialect.each(name, &signed("{}"))),
        "TEXTS" if stored == "LIST<STRING>" => Some(name.to_owned()),
        "STRING" | "BOOLEAN" | "BINARY" if stored == wanted => Some(name.to_owned()),
        "TIMESTAMP" if stored.starts_with("TIMESTAMP") => Some(name.to_owned()),
        _ => None,
    }
}

/// The bits of an unsigned number as a signed one, as portable integers are: 2^63 and more become negative.
fn signed(name: &str) -> String {
    format!(
        "CAST(CASE WHEN {name} > 9223372036854775807 THEN CAST({name} AS DECIMAL(38, 0)) - 18446744073709551616 \
         ELSE CAST({name} AS DECIMAL(38, 0)) END AS BIGINT)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_a_typed_null() {
        let lake = Lake::default();
        let columns = vec![Column { name: "thread_id", kind: "BIGINT", alias: "thread" }];
        let source = Source { table: "sidecar/threads", events: None, common: Vec::new(), columns };
        let select = select(Dialect::DuckDb, &lake, &source);
        assert_eq!(select, "(SELECT CAST(NULL AS STRING) AS trace, CAST(NULL AS BIGINT) AS thread WHERE 1 = 0)");
    }

    #[test]
    fn the_machine_of_an_event_is_that_of_its_input() {
        let mut lake = Lake::default();
        for (path, columns) in [
            ("events/A/0.parquet", &["Machine", "input"][..]),
            ("sidecar/threads.parquet", &["machine"]),
            ("sidecar/files.parquet", &[]),
            ("sidecar/sessions.parquet", &["input", "machine"]),
        ] {
            let table = lake.add_file(path).unwrap();
            columns.iter().for_each(|column| table.add_column((*column).to_owned(), "INT32".to_owned()));
        }
        let t = |lake: &Lake, table: &str, expected: &str| {
            let columns = vec![Column { name: "Machine", kind: "BIGINT", alias: "own" }];
            let columns = if table == "A" { columns } else { Vec::new() };
            let source = Source { table, events: None, common: vec!["machine"], columns };
            assert_eq!(select(Dialect::DuckDb, lake, &source), expected);
        };
        t(
            &lake,
            "A",
            "(SELECT trace, CAST(\"Machine\" AS BIGINT) AS own, COALESCE(machine_number, 0) AS machine FROM \"A\" \
             LEFT JOIN (SELECT trace, input, CAST(\"machine\" AS BIGINT) AS machine_number FROM \"sidecar/sessions\" \
             WHERE machine <> 0) m USING (trace, input))",
        );
        t(
            &lake,
            "sidecar/threads",
            "(SELECT trace, COALESCE(CAST(\"machine\" AS BIGINT), 0) AS machine FROM \"sidecar/threads\")",
        );
        // Of traces that were converted before there was one, and of those of which nobody asks.
        t(&lake, "sidecar/files", "(SELECT trace, CAST(0 AS BIGINT) AS machine FROM \"sidecar/files\")");
        let mut old = Lake::default();
        old.add_file("events/A/0.parquet").unwrap();
        t(&old, "A", "(SELECT trace, CAST(NULL AS BIGINT) AS own, CAST(0 AS BIGINT) AS machine FROM \"A\")");
    }

    #[test]
    fn a_column_is_read_only_as_what_it_holds() {
        assert_eq!(read_as(Dialect::DuckDb, "x", "INT_32 NOT NULL", "BIGINT").as_deref(), Some("CAST(x AS BIGINT)"));
        assert_eq!(read_as(Dialect::DuckDb, "x", "STRING", "STRING").as_deref(), Some("x"));
        assert_eq!(read_as(Dialect::DuckDb, "x", "STRING", "BIGINT"), None);
        assert_eq!(read_as(Dialect::DuckDb, "x", "LIST<INT64>", "BIGINT"), None);
    }
}
