//! All views of some traces, as a script.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::answers::{ANSWERS, Answer, COVERAGE};
use super::dialect::Dialect;
use super::functions::functions;
use super::lake::{Lake, LakeEvent};
use super::naming::view_of;
use super::source::{common, empty, missing, select};
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
    /// A pattern that the folders of the traces match.
    pub traces: &'a str,
    /// How much it makes.
    pub extent: Extent,
}

/// The statements that make the answers of which a trace has no rows: the same in all scripts, and most of a small trace's.
fn without_rows(dialect: Dialect) -> &'static [String] {
    static DUCKDB: LazyLock<Vec<String>> = LazyLock::new(|| statements(Dialect::DuckDb));
    static SPARK: LazyLock<Vec<String>> = LazyLock::new(|| statements(Dialect::Spark));
    fn statements(dialect: Dialect) -> Vec<String> {
        ANSWERS.iter().map(|Answer { name, template }| empty(dialect, name, &template.columns)).collect()
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
    /// No views of single events, which would be most of it, and of the functions those for addresses and those that its
    /// views call.
    Short,
}

impl Script<'_> {
    /// The text of the script: statements, each of which ends in a semicolon at the end of a line.
    pub fn text(&self) -> String {
        let Script { dialect, lake, traces, extent, .. } = *self;
        let mut views: Vec<Cow<'_, str>> =
            lake.tables().map(|table| dialect.files(&view_of(lake, table), table, traces).into()).collect();
        views.push(self.all_events().into());
        if extent == Extent::Whole {
            views.extend(lake.events().filter_map(|event| Some(self.event(&event)?.into())));
        }
        let mut without_rows = HashSet::new();
        let answers = ANSWERS.iter().zip(self::without_rows(dialect));
        let answers: Vec<_> = answers.map(|(answer, empty)| self.answer(answer, empty, &mut without_rows)).collect();
        views.extend((!without_rows.is_empty()).then(|| missing(dialect).into()));
        views.extend(answers);
        views.extend((extent == Extent::Whole).then(|| self.coverage().into()));
        let functions = functions(dialect, |answer| extent == Extent::Whole || !without_rows.contains(answer));
        let head = [dialect.prelude(self.root), functions].map(Cow::from);
        head.into_iter().chain(views).collect::<Vec<_>>().join("\n")
    }

    /// The view of an event.
    fn event(&self, event: &LakeEvent<'_>) -> Option<String> {
        let Script { dialect, lake, .. } = *self;
        let table = lake.table(event.dataset)?;
        let columns = event.columns.iter().filter_map(|column| table.column(column));
        let columns = columns.map(|(name, _)| dialect.name(name));
        let shared = ["trace"].into_iter().chain(common()).map(|name| dialect.name(name));
        let columns = shared.chain(columns).collect::<Vec<_>>().join(", ");
        let dataset = view_of(lake, table);
        let name = dialect.view(&format!("{dataset}/{}", event.name));
        let (from, event) = (dialect.name(&dataset), dialect.text(event.name));
        Some(format!("{name}SELECT {columns}\nFROM {from} WHERE event_name = {event};\n"))
    }

    /// The view of an answer; one that the traces have no events for is `empty`, and is noted.
    fn answer(
        &self,
        answer: &'static Answer,
        empty: &'static str,
        without_rows: &mut HashSet<&'static str>,
    ) -> Cow<'static, str> {
        let Answer { name, template } = answer;
        if self.is_empty(template, without_rows) {
            without_rows.insert(name);
            return empty.into();
        }
        format!("{}{}{};\n", template.comment, self.dialect.view(name), self.filled(template)).into()
    }

    /// Whether nothing is there that rows could be made of.
    fn is_empty(&self, template: &Template<'_>, without_rows: &HashSet<&str>) -> bool {
        let tables = template.sources().filter(|source| source.events.is_some());
        let mut of_tables = tables.map(|source| self.lake.table(source.table).is_none()).peekable();
        let mut of_views = template.views().map(|view| without_rows.contains(view)).peekable();
        let is_made_of_any = of_tables.peek().is_some() || of_views.peek().is_some();
        is_made_of_any && of_tables.chain(of_views).all(|is_empty| is_empty)
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
            Part::Table(source) => select(self.dialect, self.lake, source),
        };
        template.parts.iter().map(text).collect()
    }

    /// The common columns of all events.
    fn all_events(&self) -> String {
        let Script { dialect, lake, .. } = *self;
        let bare = |table| Source { table, events: None, common: common().collect(), columns: Vec::new() };
        let selects: Vec<String> = lake
            .tables()
            .filter(|table| table.is_event())
            .map(|table| {
                let provider = dialect.text(table.name());
                let columns = select(dialect, lake, &bare(table.name()));
                format!("SELECT {provider} AS provider, e.* FROM {columns} e")
            })
            .collect();
        let all = if selects.is_empty() {
            format!("SELECT CAST(NULL AS STRING) AS provider, e.* FROM {} e", select(dialect, lake, &bare("")))
        } else {
            selects.join("\nUNION ALL\n")
        };
        let comment = "-- What all events have, in order.\n";
        format!("{comment}{}SELECT * FROM (\n{all}\n) e ORDER BY trace, seq;\n", dialect.view("all_events"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::names;
    use super::*;

    fn text(dialect: Dialect, lake: &Lake, extent: Extent) -> String {
        Script { dialect, lake, root: ".", traces: "trace=t", extent }.text()
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
        for name in names() {
            let is_lacking = text.contains(&format!("VIEW `{name}`("));
            assert_eq!(is_lacking, !with_select.contains(&name), "{name}");
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
                     parquet_files('/trace=t/events/Microsoft-Windows-Kernel-File/*.parquet');\n";
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
