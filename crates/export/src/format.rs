//! The formats.

use base::words;

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for each stack of each process, its functions from the outermost on with semicolons between, and how much that is.
    Folded,
}

words! {
    Format {
        Folded = "folded": "a line for each stack, as tools for flame graphs read it",
    }
}

impl Format {
    /// Whether people can read it: what they cannot is not written to a terminal.
    pub fn is_text(self) -> bool {
        match self {
            Format::Folded => true,
        }
    }

    /// What a trace must have for it, as a hint to those whose trace has none of it.
    pub fn needs(self) -> &'static str {
        match self {
            Format::Folded => {
                "samples are recorded by a profile such as CPU of wpr, waits by context switches; \
                 `etl2parquet inspect` lists what the trace has"
            }
        }
    }
}
