//! All in which the two engines differ.

use super::lake::LakeTable;

/// The traces that a script reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces<'a> {
    /// That of a folder of this name.
    One(&'a str),
    /// All in the folder: as many as there are, so that none is opened that is not asked for.
    Many,
    /// All below the address of a store, where each has its files in a folder of its attempt: tables name these folders one by one.
    Listed,
    /// All of a lake, in files that a table names one by one and that have the column `trace`.
    Lake,
}

impl Traces<'_> {
    /// A pattern that their folders match, with a slash before it; nothing where there are none.
    fn pattern(&self) -> String {
        match self {
            Traces::One(name) => format!("/{name}"),
            Traces::Many => "/trace=*".to_owned(),
            Traces::Lake | Traces::Listed => String::new(),
        }
    }

    /// Whether tables name all their files, or the folders of them.
    pub(super) fn are_named_by_tables(&self) -> bool {
        matches!(self, Traces::Lake | Traces::Listed)
    }
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
    /// Spark SQL, 4.0 or later.
    Spark,
}

/// How DuckDB reads files of several traces as one table, where a folder says of which trace a file is.
const OF_FOLDERS: &str = ", hive_partitioning = true, hive_types = {'trace': VARCHAR}";

impl Dialect {
    /// What comes before all views: where the traces lie. `root`: the folder that holds `trace=<name>`, or that of the lake.
    pub(super) fn prelude(self, root: &str, traces: Traces<'_>) -> String {
        let root = self.text(root);
        let (of_folders, holder) = match traces {
            Traces::Lake => (", hive_partitioning = false", "The folder of the lake"),
            Traces::One(_) | Traces::Many | Traces::Listed => (OF_FOLDERS, "The folder that holds trace=<name>"),
        };
        match self {
            Dialect::DuckDb => format!(
                "-- {holder}: the variable root, where it is set.\n\
                 CREATE OR REPLACE MACRO traces_folder() AS COALESCE(getvariable('root'), {root});\n\n\
                 CREATE OR REPLACE MACRO parquet_files(files) AS TABLE\n\
                 SELECT * FROM read_parquet([traces_folder() || f FOR f IN files], union_by_name = true{of_folders});\n"
            ),
            Dialect::Spark => format!(
                "-- {holder}. Statements end in a semicolon at the end of a line.\n\
                 SET etl2parquet.root={};\n",
                root.trim_matches('\''),
            ),
        }
    }

    /// What comes then in a script of many traces, and what comes last.
    pub(super) fn around_many(self, traces: Traces<'_>) -> (String, &'static str) {
        let own = match (self, traces) {
            (Dialect::Spark, _) | (_, Traces::One(_)) => return (String::new(), ""),
            (_, Traces::Many) => include_str!("sql/many.duckdb.sql").to_owned(),
            // One folder deeper.
            (_, Traces::Listed) => include_str!("sql/many.duckdb.sql").replace("(filename, 3)", "(filename, 4)"),
            (_, Traces::Lake) => include_str!("sql/lake.duckdb.sql").to_owned(),
        };
        (format!("{}{own}", include_str!("sql/declared.duckdb.sql")), "RESET VARIABLE any_file;\n")
    }

    /// The statements that make a view of the files of a table, below the folders that `traces` matches. `name`: the view.
    pub(super) fn files(self, name: &str, table: &LakeTable, traces: Traces<'_>) -> String {
        let missing =
            table.missing().iter().map(|(name, kind)| format!(", CAST(NULL AS {}) AS {name}", self.kind(kind)));
        let missing: String = missing.collect();
        match self {
            Dialect::DuckDb => {
                let select = if missing.is_empty() { String::new() } else { format!("SELECT *{missing} ") };
                let files = self.patterns(table.folders(), traces);
                format!("CREATE OR REPLACE VIEW {} AS {select}FROM parquet_files({files});\n", self.name(name))
            }
            Dialect::Spark if missing.is_empty() => self.spark_files(name, table, traces),
            Dialect::Spark => {
                let stored = format!("{name}_stored");
                let (files, view) = (self.spark_files(&stored, table, traces), self.view(name));
                format!("{files}{view}SELECT *{missing} FROM {};\n", self.name(&stored))
            }
        }
    }

    /// A list of the patterns of files for DuckDB.
    pub(super) fn patterns<'a>(self, folders: impl Iterator<Item = &'a str>, traces: Traces<'_>) -> String {
        let traces = traces.pattern();
        let patterns = folders.map(|folder| self.text(&format!("{traces}/{folder}.parquet")));
        format!("[{}]", patterns.collect::<Vec<_>>().join(", "))
    }

    /// The rows of files, of which the columns are declared, by a macro of a script of many traces in DuckDB.
    pub(super) fn rows(self, macro_name: &str, patterns: &str, declared: &str) -> String {
        format!("{macro_name}({patterns}, {})", self.text(declared))
    }

    /// The statement that makes a view of files in Spark.
    fn spark_files(self, name: &str, table: &LakeTable, traces: Traces<'_>) -> String {
        let folders: Vec<&str> = table.folders().collect();
        let path = self.text(&format!("{}/{}.parquet", traces.pattern(), alternatives(&folders)));
        format!(
            "CREATE OR REPLACE TEMPORARY VIEW {} USING parquet OPTIONS (\n  path '${{etl2parquet.root}}{}, \
             basePath '${{etl2parquet.root}}', mergeSchema 'true');\n",
            self.name(name),
            &path[1..]
        )
    }

    /// The beginning of the statement that makes a view of a select.
    pub(super) fn view(self, name: &str) -> String {
        self.view_of_columns(name, "")
    }

    /// The same; `columns` is a list of names in brackets for those of the select, or nothing.
    pub(super) fn view_of_columns(self, name: &str, columns: &str) -> String {
        let temporary = if self == Dialect::Spark { "TEMPORARY " } else { "" };
        format!("CREATE OR REPLACE {temporary}VIEW {}{columns} AS\n", self.name(name))
    }

    /// The beginning of the statement that makes a function of a select. `parameters`, `columns`: names and types.
    pub(super) fn table_function(self, name: &str, parameters: &[(&str, &str)], columns: &[(&str, &str)]) -> String {
        match self {
            Dialect::DuckDb => {
                let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
                format!("CREATE OR REPLACE MACRO {name}({}) AS TABLE\n", names.join(", "))
            }
            Dialect::Spark => format!(
                "CREATE OR REPLACE TEMPORARY FUNCTION {name}({}) RETURNS TABLE({}) RETURN\n",
                declared(parameters),
                declared(columns)
            ),
        }
    }

    /// A list of integers with another expression, `{}`, for each.
    pub(super) fn each(self, list: &str, expression: &str) -> String {
        let expression = expression.replace("{}", "v");
        match self {
            Dialect::DuckDb => format!("[{expression} FOR v IN {list}]"),
            Dialect::Spark => format!("transform({list}, v -> {expression})"),
        }
    }

    /// One member of all structures of a list.
    pub(super) fn members(self, list: &str, member: &str) -> String {
        match self {
            Dialect::DuckDb => format!("[v.{member} FOR v IN {list}]"),
            Dialect::Spark => format!("{list}.{member}"),
        }
    }

    /// A name, quoted.
    pub(super) fn name(self, name: &str) -> String {
        let quote = if self == Dialect::Spark { '`' } else { '"' };
        let mut quoted = String::with_capacity(name.len() + 2);
        quoted.push(quote);
        for (part, text) in name.split(quote).enumerate() {
            if part > 0 {
                quoted.extend([quote, quote]);
            }
            quoted.push_str(text);
        }
        quoted.push(quote);
        quoted
    }

    /// A text, quoted.
    pub(super) fn text(self, text: &str) -> String {
        match self {
            Dialect::DuckDb => format!("'{}'", text.replace('\'', "''")),
            Dialect::Spark => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }

    /// A type of a template as the engine calls it.
    pub(super) fn kind(self, kind: &str) -> &str {
        match (self, kind) {
            (_, "LIST") => self.integers(),
            (Dialect::DuckDb, "TEXTS") => "VARCHAR[]",
            (Dialect::Spark, "TEXTS") => "ARRAY<STRING>",
            // A point in time in UTC, as those of files.
            (Dialect::DuckDb, "TIMESTAMP") => "TIMESTAMPTZ",
            _ => kind,
        }
    }

    /// What a select has for a row per element of a list, as `element` with `position`, from 0 on. A join instead would keep DuckDB from
    /// asking files for one trace alone.
    pub(super) fn elements(self, list: &str) -> String {
        match self {
            Dialect::DuckDb => format!("unnest({list}) AS element, generate_subscripts({list}, 1) - 1 AS position"),
            Dialect::Spark => format!("posexplode({list}) AS (position, element)"),
        }
    }

    /// The rows of the files beside the traces that a pattern matches.
    pub(super) fn beside(self, pattern: &str) -> String {
        match self {
            Dialect::DuckDb => format!("read_parquet(traces_folder() || {})", self.text(&format!("/{pattern}"))),
            Dialect::Spark => format!("parquet.`${{etl2parquet.root}}/{pattern}`"),
        }
    }

    /// A number with six decimals, as C prints it. Java rounds the shortest decimal number, and not the value, where that lies in the
    /// middle of two, and fills large ones with zeros: there it is NULL.
    pub(super) fn decimals(self, number: &str) -> String {
        match self {
            Dialect::DuckDb => format!("printf('%.6f', {number})"),
            Dialect::Spark => format!(
                "CASE WHEN abs({number}) < 1E15 AND NOT (format_string('%.7f', {number}) LIKE '%5' AND \
                 CAST(format_string('%.7f', {number}) AS DOUBLE) = {number}) THEN format_string('%.6f', {number}) END"
            ),
        }
    }

    /// Ticks of FILETIME as a time of RFC 3339 in UTC; NULL beyond the year 9999.
    pub(super) fn filetime(self, ticks: &str) -> String {
        let seconds = match self {
            Dialect::DuckDb => {
                format!("strftime(make_timestamp({ticks} // 10 - 11644473600000000), '%Y-%m-%dT%H:%M:%S.')")
            }
            Dialect::Spark => format!(
                "replace(CAST(TIMESTAMP_NTZ '1601-01-01 00:00:00' + make_dt_interval(0, 0, 0, {ticks} DIV 10000000) AS STRING), \
                 ' ', 'T') || '.'"
            ),
        };
        format!(
            "CASE WHEN {ticks} BETWEEN 0 AND 2650467743999999999 THEN {seconds} || lpad(CAST({ticks} % 10000000 AS STRING), 7, '0') \
             || '00Z' END"
        )
    }

    /// The texts of a list with a comma and a blank between.
    pub(super) fn joined(self, list: &str) -> String {
        match self {
            Dialect::DuckDb => format!("array_to_string({list}, ', ')"),
            Dialect::Spark => format!("array_join({list}, ', ')"),
        }
    }

    /// What stands before a common table expression that each use computes by itself. Spark computes all of them so.
    pub(super) fn inline(self) -> &'static str {
        match self {
            Dialect::DuckDb => "NOT MATERIALIZED ",
            Dialect::Spark => "",
        }
    }

    /// The type of a list of 64-bit integers.
    pub(super) fn integers(self) -> &'static str {
        match self {
            Dialect::DuckDb => "BIGINT[]",
            Dialect::Spark => "ARRAY<BIGINT>",
        }
    }
}

/// One pattern for several: with braces behind the folder that they share, where they do.
fn alternatives(patterns: &[&str]) -> String {
    let split = |pattern: &'_ str| pattern.rfind('/').map_or(0, |slash| slash + 1);
    let shared = patterns.first().map_or("", |first| &first[..split(first)]);
    let shared = if patterns.iter().all(|pattern| &pattern[..split(pattern)] == shared) { shared } else { "" };
    match patterns {
        [one] => (*one).to_owned(),
        several => {
            let rests: Vec<&str> = several.iter().map(|pattern| &pattern[shared.len()..]).collect();
            format!("{shared}{{{}}}", rests.join(","))
        }
    }
}

/// Names with their types, as they are declared.
pub(super) fn declared(names: &[(&str, &str)]) -> String {
    names.iter().map(|(name, kind)| format!("{name} {kind}")).collect::<Vec<_>>().join(", ")
}
