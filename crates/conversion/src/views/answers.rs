//! The answers, as they are written.

use std::sync::LazyLock;

use super::template::Template;

/// A view that does not depend on which datasets there are.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its name.
    pub name: &'static str,
    /// Its select.
    pub template: Template<'static>,
    /// Whether it is about frames.
    pub is_of_frames: bool,
}

/// All of them; each uses only those before it.
pub(super) static ANSWERS: LazyLock<Vec<Answer>> = LazyLock::new(|| {
    let all = TEMPLATES.iter().map(|known| (known, false)).chain(OF_FRAMES.iter().map(|known| (known, true)));
    all.map(|(&(name, template), is_of_frames)| Answer { name, template: Template::parse(template), is_of_frames })
        .collect()
});

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().chain(OF_FRAMES).map(|(name, _)| *name)
}

macro_rules! answers {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("sql/", $name, ".sql")))),+]
    };
}

/// The view of what events say in words, which a script has where somebody asks for it.
pub(super) const MESSAGES: &str = "event_messages";

/// Names and selects of those that every script has.
const TEMPLATES: &[(&str, &str)] = answers![
    "processes",
    "threads",
    "images",
    "files",
    "methods",
    "cpu_samples",
    "stack_walks",
    "cpu_intervals",
    "off_cpu",
    "interrupts",
    "waits",
    "cpu_usage",
    "cpu_time",
    "disk_io",
    "file_io",
    "network",
    "packet_reports",
    "packets",
    "image_loads",
    "page_faults",
    "registry",
    "gc_pause_collections",
    "gc_pauses",
    "gc_collections",
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

/// Those about frames, of which symbols beside the traces name the functions: what a trace itself has cannot depend on these.
const OF_FRAMES: &[(&str, &str)] = answers![
    "symbol_functions",
    "symbol_modules",
    "method_lines",
    "frames",
    "event_frames",
    "cpu_sample_frames",
    "wait_frames",
    "exception_frames",
    "gc_pause_frames",
    "disk_io_frames",
    "page_fault_frames",
    "cpu_functions",
    "cpu_callers",
    "cpu_paths",
    "wait_functions",
    "wait_callers",
    "wait_paths",
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

#[cfg(test)]
mod tests {
    use super::super::template::Part;
    use super::*;

    #[test]
    fn every_table_of_every_answer_is_taken_out() {
        let template = Template::parse(COVERAGE.template);
        let coverage = Answer { name: COVERAGE.name, template, is_of_frames: false };
        let known = ["DOUBLE", "BIGINT", "STRING", "BOOLEAN", "BINARY", "LIST", "TEXTS", "TIMESTAMP"];
        let mut before = Vec::new();
        for Answer { name, template, .. } in ANSWERS.iter().chain([&coverage]) {
            for part in &template.parts {
                match part {
                    Part::Text(text) => assert!(!text.contains("{{") && !text.contains("}}"), "{name}: {text}"),
                    Part::Inline | Part::Elements(_) | Part::Beside(_) => {}
                    Part::Type(kind) => assert!(known.contains(kind), "{name}: {kind}"),
                    Part::View(view) => assert!(before.contains(view), "{name}: {view}"),
                    Part::Table(source) => {
                        let is_known = source.columns.iter().all(|column| known.contains(&column.kind));
                        assert!(is_known, "{name}: {}", source.table);
                    }
                }
            }
            assert!(template.columns.iter().all(|column| known.contains(&column.kind)), "{name}");
            assert_eq!(template.columns.is_empty(), *name == COVERAGE.name, "{name}");
            before.push(name);
        }
    }
}
