//! The command line: what is typed becomes what is meant, then a call of the library; its results become text.
//!
//! ```text
//! args ──► inputs ──► jobs ─┐
//!     ├──► options ─────────┴─► run ──► convert ──► summary
//!     │                            └──► inspect ──► inspection ──► page or JSON
//!     ├──► events ──► rows ──► CSV or JSON
//!     ├──► schema ──► what is known ──► page or JSON
//!     ├──► verify ──► findings ──► lines or JSON
//!     ├──► compact ──► a lake ──► what has changed
//!     ├──► report ──► facts ──► a page of HTML
//!     ├──► describe ──► what can be asked ──► JSON or page
//!     ├──► views ──► a script of SQL
//!     ├──► export ──► a file for a viewer
//!     └──► query ──► the script and a question ──► duckdb
//! ```
//!
//! Reports and JSON go to standard output, everything else to standard error.

mod arenas;
mod args;
mod browser;
mod choices;
mod chosen;
mod clean;
mod compact;
mod compare;
mod config;
mod console;
mod convert;
mod datasets;
mod describe;
mod dispatch;
mod events;
mod expected;
mod export;
mod fold;
mod generate;
mod help;
mod hints;
mod inspect;
mod interrupt;
mod log;
mod look;
mod next_steps;
mod options;
#[cfg(test)]
mod options_page;
mod output_file;
mod overview;
mod page;
mod processes;
mod progress;
mod published_page;
mod query;
mod refusal;
mod report;
mod report_pages;
mod rows;
mod run;
mod run_args;
mod run_progress;
mod schema;
mod steps;
mod stopwatch;
mod subjects;
mod summary;
mod symbols;
mod text_table;
mod top_events;
mod undecoded;
mod verify;
mod version;
mod views;

pub use dispatch::run;
