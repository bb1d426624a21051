//! The answers, as they are written.

/// A view that does not depend on which datasets there are.
pub(super) struct Answer {
    /// Its name.
    pub name: &'static str,
    /// Its select, a template.
    pub template: &'static str,
}

macro_rules! answers {
    ($($name:literal),+ $(,)?) => {
        &[$(Answer { name: $name, template: include_str!(concat!("sql/", $name, ".sql")) }),+]
    };
}

/// All of them; each uses only those before it.
pub(super) const ANSWERS: &[Answer] = answers![
    "processes",
    "threads",
    "images",
    "files",
    "methods",
    "cpu_samples",
    "stack_walks",
    "cpu_intervals",
    "waits",
    "cpu_usage",
    "disk_io",
    "file_io",
    "network",
    "packets",
    "image_loads",
    "page_faults",
    "registry",
    "gc_pauses",
    "exceptions",
    "jit",
    "http_requests",
    "dns_queries",
    "windows_update",
    "services",
    "activities",
    "loss",
    "answers",
];

/// A function that gives rows.
pub(super) struct RowsFunction {
    /// Its name.
    pub name: &'static str,
    /// What it takes, with types.
    pub parameters: &'static [(&'static str, &'static str)],
    /// What it gives, with types.
    pub columns: &'static [(&'static str, &'static str)],
    /// Its select, a template.
    pub template: &'static str,
}

/// Uses `loss`.
pub(super) const COVERAGE: RowsFunction = RowsFunction {
    name: "coverage",
    parameters: &[("start_ns", "BIGINT"), ("end_ns", "BIGINT")],
    columns: &[
        ("trace", "STRING"),
        ("source", "STRING"),
        ("cpu", "BIGINT"),
        ("from_ns", "BIGINT"),
        ("to_ns", "BIGINT"),
        ("intact_ns", "BIGINT"),
        ("intact_share", "DOUBLE"),
    ],
    template: include_str!("sql/coverage.sql"),
};
