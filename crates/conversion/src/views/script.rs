//! All views of some traces, as a script.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::answers::{ANSWERS, Answer, COVERAGE};
use super::dialect::{Dialect, Traces};
use super::emptiness::is_empty;
use super::functions::functions;
use super::lake::{Lake, LakeEvent, LakeTable};
use super::messages;
use super::naming::{MISSING, view_of};
use super::source::{common, common_of_all, empty, missing, select};
use super::statements::{Statement, Statements};
use super::stored::{all_declared, declared, renamed, selected};
use super::template::{Part, Source, Template};

/// A script that makes views of the tables of some traces.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// The engine.
    pub dialect: Dialect,
    /// The tables.
    pub lake: &'a Lake,
    /// The folder that holds the traces, unless another one is set.
    pub root: &'a str,
    /// The traces.
    pub traces: Traces<'a>,
    /// How much it makes.
    pub extent: Extent,
    /// The patterns of files beside the traces that there are, below the folder that holds these.
    pub beside: &'a [&'a str],
}

/// The statements that make the answers of which a trace has no rows: the same in all scripts, and most of a small trace's.
fn without_rows(dialect: Dialect) -> &'static [String] {
    static DUCKDB: LazyLock<Vec<String>> = LazyLock::new(|| statements(Dialect::DuckDb));
    static SPARK: LazyLock<Vec<String>> = LazyLock::new(|| statements(Dialect::Spark));
    fn statements(dialect: Dialect) -> Vec<String> {
        ANSWERS.iter().map(|Answer { name, template, .. }| empty(dialect, name, &template.columns)).collect()
    }
    match dialect {
        Dialect::DuckDb => &DUCKDB,
        Dialect::Spark => &SPARK,
    }
}

/// How much a script makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    Whole,
    /// No views of single events, which would be most of it: an engine binds each view when it is made.
    WithoutEvents,
    /// No views of single events and of frames, and of the functions those for addresses and those that its views call.
    Short,
}

impl Script<'_> {
    /// The text of the script: statements, each of which ends in a semicolon at the end of a line.
    pub fn text(&self) -> String {
        self.statements().text()
    }

    /// Its statements.
    pub fn statements(&self) -> Statements {
        let Script { dialect, lake, traces, extent, .. } = *self;
        let is_short = extent == Extent::Short;
        let mut without_rows = HashSet::new();
        let answers = ANSWERS.iter().zip(self::without_rows(dialect));
        let answers: Vec<_> = answers
            .filter(|(answer, _)| !is_short || !answer.is_of_frames)
            .map(|(answer, empty)| Statement::of(answer.name, self.answer(answer, empty, &mut without_rows)))
            .collect();
        let (first, last) = dialect.around_many(traces);
        let mut all = vec![Statement::kept(dialect.prelude(self.root, traces))];
        all.extend((!first.is_empty()).then(|| Statement::kept(first)));
        let is_made = |name: &str| answers.iter().any(|answer| answer.name.as_deref() == Some(name));
        all.extend(functions(dialect, |answer| !is_short || (is_made(answer) && !without_rows.contains(answer))));
        all.extend(lake.tables().map(|table| {
            let name = view_of(lake, table);
            let text = self.declared_files(&name, table).unwrap_or_else(|| dialect.files(&name, table, traces));
            Statement::of(&name, text)
        }));
        all.push(Statement::of("all_events", self.all_events()));
        if extent == Extent::Whole {
            all.extend(lake.events().filter_map(|event| self.event(&event)));
        }
        all.extend((!without_rows.is_empty()).then(|| Statement::of(MISSING, missing(dialect))));
        all.extend(answers);
        all.extend(messages::statement(dialect, lake));
        all.extend((!is_short).then(|| Statement::of(COVERAGE.name, self.coverage())));
        all.extend((!last.is_empty()).then(|| Statement::kept(last)));
        Statements { dialect, all }
    }

    /// The view of an event.
    fn event(&self, event: &LakeEvent<'_>) -> Option<Statement> {
        let Script { dialect, lake, .. } = *self;
        let table = lake.table(event.dataset)?;
        let columns = event.columns.iter().filter_map(|column| Some(table.column(column)?.0));
        // Files of an older format lack what came later.
        let mut names: Vec<&str> = common().filter(|name| table.column(name).is_some()).collect();
        names.extend(columns);
        let dataset = view_of(lake, table);
        let name = format!("{dataset}/{}", event.name);
        let view = dialect.view(&name);
        let event = dialect.text(event.name);
        let (select, from) = self.rows_of(table, &names).unwrap_or_else(|| {
            let select: Vec<String> = names.iter().map(|name| dialect.name(name)).collect();
            (select.join(", "), dialect.name(&dataset))
        });
        let trace = dialect.name("trace");
        Some(Statement::of(&name, format!("{view}SELECT {trace}, {select}\nFROM {from} WHERE event_name = {event};\n")))
    }

    /// The statement that makes a view of the files of a table, where the engine need not open them to know their columns.
    fn declared_files(&self, name: &str, table: &LakeTable) -> Option<String> {
        if !self.declares() {
            return None;
        }
        let (view, renamed) = (self.dialect.view(name), renamed(table));
        let patterns = self.dialect.patterns(table.folders(), self.traces);
        let rows = self.dialect.rows("parquet_rows", &patterns, &all_declared(table)?);
        Some(format!("{view}SELECT *{renamed} FROM {rows};\n"))
    }

    /// Whether columns are declared, so that no file is opened to know them.
    fn declares(&self) -> bool {
        self.dialect == Dialect::DuckDb && !matches!(self.traces, Traces::One(_))
    }

    /// Some columns of a table, and its files as rows of these alone, where the engine need not open them to know the columns.
    fn rows_of(&self, table: &LakeTable, names: &[&str]) -> Option<(String, String)> {
        let Script { dialect, traces, .. } = *self;
        if !self.declares() {
            return None;
        }
        let declared = declared(table, names.iter().copied())?;
        let select: Vec<String> = names.iter().map(|name| selected(name)).collect();
        Some((select.join(", "), dialect.rows("parquet_rows", &dialect.patterns(table.folders(), traces), &declared)))
    }

    /// The view of an answer; one that the traces have no events for is `empty`, and is noted.
    fn answer(
        &self,
        answer: &'static Answer,
        empty: &'static str,
        without_rows: &mut HashSet<&'static str>,
    ) -> Cow<'static, str> {
        let Answer { name, template, .. } = answer;
        if is_empty(template, self.lake, self.beside, without_rows) {
            without_rows.insert(name);
            return empty.into();
        }
        format!("{}{}{};\n", template.comment, self.dialect.view(name), self.filled(template)).into()
    }

    /// The share of streams that is known intact.
    fn coverage(&self) -> String {
        let template = Template::parse(COVERAGE.template);
        let head = self.dialect.table_function(COVERAGE.name, COVERAGE.parameters, COVERAGE.columns);
        format!("{}{head}{};\n", template.comment, self.filled(&template))
    }

    /// A template with its tables.
    fn filled(&self, template: &Template<'_>) -> String {
        let text = |part: &Part<'_>| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::View(view) => (*view).to_owned(),
            Part::Type(kind) => self.dialect.kind(kind).to_owned(),
            Part::Inline => self.dialect.inline().to_owned(),
            Part::Elements(list) => self.dialect.elements(list),
            Part::Beside(pattern) => self.dialect.beside(pattern),
            Part::Table(source) => select(self.dialect, self.lake, source),
        };
        template.parts.iter().map(text).collect()
    }

    /// The common columns of all events.
    fn all_events(&self) -> String {
        let all = self.events_of_all().unwrap_or_else(|| self.events_by_table());
        let comment = "-- What all events have, in order.\n";
        let view = self.dialect.view("all_events");
        format!("{comment}{view}SELECT * FROM (\n{all}\n) e ORDER BY trace, seq;\n")
    }

    /// The same, from the files of all tables as one, where the engine need not open them to know their columns.
    fn events_of_all(&self) -> Option<String> {
        let Script { dialect, lake, traces, .. } = *self;
        if !self.declares() {
            return None;
        }
        let tables = || lake.tables().filter(|table| table.is_event());
        let depths = ["events/*/*", "events/*/*/*"];
        let of_depth = |depth: &&str| tables().flat_map(LakeTable::folders).any(|folder| parts(folder) == parts(depth));
        let patterns = match traces {
            _ if traces.are_named_by_tables() => dialect.patterns(tables().flat_map(LakeTable::folders), traces),
            _ => dialect.patterns(depths.into_iter().filter(of_depth), traces),
        };
        let (declared, select) = tables().next().and_then(|_| common_of_all(dialect, lake))?;
        let rows = dialect.rows("parquet_events", &patterns, &declared);
        Some(format!("SELECT provider, trace, {select} FROM {rows}"))
    }

    /// The same, table by table.
    fn events_by_table(&self) -> String {
        let Script { dialect, lake, .. } = *self;
        let bare = |table: &str| {
            let source = Source { table, events: None, common: common().collect(), columns: Vec::new() };
            select(dialect, lake, &source)
        };
        let of_table = |table: &LakeTable| {
            let (provider, columns) = (dialect.text(table.name()), bare(table.name()));
            format!("SELECT {provider} AS provider, e.* FROM {columns} e")
        };
        let selects: Vec<String> = lake.tables().filter(|table| table.is_event()).map(of_table).collect();
        if selects.is_empty() {
            return format!("SELECT CAST(NULL AS STRING) AS provider, e.* FROM {} e", bare(""));
        }
        selects.join("\nUNION ALL\n")
    }
}

/// How many parts a path has.
fn parts(path: &str) -> usize {
    path.split('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(dialect: Dialect, lake: &Lake, extent: Extent) -> String {
        Script { dialect, lake, root: ".", traces: Traces::One("trace=t"), extent, beside: &[] }.text()
    }

    #[test]
    fn what_a_trace_lacks_has_no_select_of_its_own() {
        let text = text(Dialect::Spark, &Lake::default(), Extent::Short);
        let exceptions = "CREATE OR REPLACE TEMPORARY VIEW `exceptions`(trace, timestamp, timestamp_ns, seq, process_id, \
                          process_name, thread_id, type, message, hresult, stack) AS\n\
                          SELECT s, t, i, i, i, s, i, s, s, i, l FROM missing;\n";
        assert!(text.contains(exceptions), "{text}");
        // Its rows would be those of two views without rows.
        assert!(text.contains("VIEW `cpu_usage`(trace, "), "{text}");
        // Every trace has these.
        let with_select = ["activities"];
        for Answer { name, is_of_frames, .. } in ANSWERS.iter() {
            if *is_of_frames {
                // Those about frames are in no short script.
                assert!(!text.contains(&format!("VIEW `{name}`")), "{name}");
                continue;
            }
            let is_lacking = text.contains(&format!("VIEW `{name}`("));
            assert_eq!(is_lacking, !with_select.contains(name), "{name}");
        }
    }

    #[test]
    fn one_table_of_several_is_enough_for_a_select() {
        let mut lake = Lake::default();
        lake.add_file("events/Microsoft-Windows-Kernel-File/part-00000-00000.parquet").unwrap();
        let text = text(Dialect::DuckDb, &lake, Extent::Short);
        assert!(text.contains("CREATE OR REPLACE VIEW \"file_io\" AS\nSELECT o.trace"), "{text}");
        assert!(text.contains("CREATE OR REPLACE VIEW \"disk_io\"(trace, "), "{text}");
        let files = "CREATE OR REPLACE VIEW \"Microsoft-Windows-Kernel-File\" AS FROM \
                     parquet_files(['/trace=t/events/Microsoft-Windows-Kernel-File/*.parquet']);\n";
        assert!(text.contains(files), "{text}");
    }

    #[test]
    fn a_short_script_has_neither_events_nor_functions_that_nobody_calls() {
        let mut lake = Lake::default();
        lake.add_file("events/A/part-00000-00000.parquet").unwrap();
        lake.add_event("A", "Start").unwrap();
        let (whole, short) = (text(Dialect::DuckDb, &lake, Extent::Whole), text(Dialect::DuckDb, &lake, Extent::Short));
        for only in ["VIEW \"A/Start\"", "MACRO ipv6_text(", "MACRO log_time(", "MACRO coverage("] {
            assert!(whole.contains(only) && !short.contains(only), "{only}");
        }
        assert!(short.contains("MACRO hex_address("), "{short}");
        for statement in short.split(";\n").map(str::trim_start) {
            assert!(whole.contains(statement), "{statement}");
        }
    }

    #[test]
    fn functions_that_functions_call_are_there() {
        let mut lake = Lake::default();
        lake.add_file("events/Microsoft-Windows-PktMon/part-00000-00000.parquet").unwrap();
        let text = text(Dialect::DuckDb, &lake, Extent::Short);
        let called =
            ["hex_number", "ipv4_text", "ipv6_groups", "zeros_left_out", "longest_zeros_left_out", "ipv6_text"];
        assert!(called.iter().all(|name| text.contains(&format!("MACRO {name}("))), "{text}");
        assert!(!text.contains("MACRO log_time("), "{text}");
    }
}
