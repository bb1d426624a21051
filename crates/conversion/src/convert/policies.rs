//! Options that are one of a few words.

use base::words;
use serde::{Deserialize, Serialize};

/// When the raw payload is written beside the decoded columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RawPolicy {
    /// Never, not even where nothing else represents it.
    Never,
    /// Where the columns do not represent all of it.
    #[default]
    Needed,
    /// Always.
    Always,
}

words! { RawPolicy {
    Never = "never": "Never",
    Needed = "needed": "Where the columns do not represent all of it",
    Always = "always": "Always",
} }

/// What becomes of the stacks of kernel events, which other events record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StackPolicy {
    /// The events have them, beside the rows of the events that record them.
    #[default]
    Join,
    /// They are rows alone.
    Keep,
}

words! { StackPolicy {
    Join = "join": "The events have them in `stack`, and the StackWalk rows stay",
    Keep = "keep": "They stay StackWalk rows alone",
} }

/// Whether rows say in words what their event does (`--messages`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessagePolicy {
    /// They do not; the catalog has the templates.
    #[default]
    None,
    /// They do, where a template is known.
    Text,
}

words! { MessagePolicy {
    None = "none": "Nothing: `catalog` has the template of each event",
    Text = "text": "In `rendered_message`, where a template is known",
} }

/// For which engines a trace has a script of its views (`--views`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewScripts {
    /// For none.
    #[default]
    None,
    /// For DuckDB.
    DuckDb,
    /// For Spark.
    Spark,
    /// For both.
    Both,
}

words! { ViewScripts {
    None = "none": "Nothing: `etl2parquet views` prints the views",
    DuckDb = "duckdb": "`sidecar/views.sql`, for DuckDB",
    Spark = "spark": "`sidecar/views.spark.sql`, for Spark",
    Both = "both": "Both scripts",
} }

/// Which payload columns a table has (`--columns`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// Those of the events in the trace.
    #[default]
    Present,
    /// All that are settled or declared for the provider.
    Declared,
}

words! { Columns {
    Present = "present": "Those of the events in the trace",
    Declared = "declared": "Also all others that are settled for its provider or, where none are, declared in the trace",
} }
