//! The values of flags that are one of a few words.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::clock::ClockAnchor;
use crate::columns::{GuidType, IntegerType, TimestampType};
use crate::convert::job::{RawPolicy, StackPolicy};
use crate::dataset::EncoderKind;
use crate::names::NameFrom;
use crate::output::IfExists;
use crate::plan::DatasetSplit;

/// Which payload columns a table has (`--columns`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Columns {
    #[default]
    Present,
    Declared,
}

/// What keeps a trace from being published (`--fail-on`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailOn {
    Loss,
    KnownLoss,
    Disorder,
    Undecoded,
    Damage,
}

/// What becomes of an input that cannot be read (`--on-bad-input`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OnBadInput {
    #[default]
    Quarantine,
    Fail,
}

/// What becomes of names that the schema lock does not have (`--schema-lock-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LockMode {
    #[default]
    Extend,
    Strict,
}

/// When text is coloured (`--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ColorMode {
    #[default]
    Auto,
    Always,
    Never,
}

/// How lines on standard error are written (`--log-format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// When progress is shown (`--progress`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ProgressMode {
    #[default]
    Auto,
    Always,
    Never,
}

/// Gives types of the library and of this module their words on the command line.
macro_rules! choices {
    ($($kind:ident { $($variant:ident = $name:literal: $help:literal,)+ })+) => {$(
        impl ValueEnum for $kind {
            fn value_variants<'a>() -> &'a [Self] {
                &[$($kind::$variant),+]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $($kind::$variant => PossibleValue::new($name).help($help),)+
                })
            }
        }
    )+};
}

choices! {
    NameFrom {
        Stem = "stem": "The file's name without its extension",
        Path = "path": "Its path below INPUT, with . for /",
    }
    IfExists {
        Error = "error": "Refuse",
        Skip = "skip": "Leave it if it has the same input and options, else refuse",
        Replace = "replace": "Put the new one in its place, in one step",
        Update = "update": "Leave it if its input, the options and the version are the same, else replace it",
    }
    Columns {
        Present = "present": "Those of the events in the trace",
        Declared = "declared": "Also all others that are settled for its provider or, where none are, declared in the trace",
    }
    DatasetSplit {
        Provider = "provider": "One for each provider",
        Event = "event": "One for each event, in folders below the provider's: for providers with very many columns",
    }
    StackPolicy {
        Join = "join": "The events have them in `stack`, and the StackWalk rows stay",
        Keep = "keep": "They stay StackWalk rows alone",
    }
    RawPolicy {
        Never = "never": "Never",
        Needed = "needed": "Where the columns do not represent all of it",
        Always = "always": "Always",
    }
    IntegerType {
        Portable = "portable": "In types that every engine binds: INT64 and DOUBLE, INT32 in common columns",
        Exact = "exact": "In types of their width and sign, UINT_8 to UINT_64 and FLOAT: for one trace at a time",
    }
    GuidType {
        String = "string": "As 36 characters in lower case",
        Binary = "binary": "As 16 bytes",
        Uuid = "uuid": "As Parquet's UUID (Spark 4 refuses it by default)",
    }
    TimestampType {
        Micros = "micros": "Microseconds",
        Nanos = "nanos": "Nanoseconds (Spark 4 refuses them by default)",
    }
    EncoderKind {
        Own = "own": "This program, where it can",
        Arrow = "arrow": "arrow-rs",
    }
    ClockAnchor {
        Start = "start": "The start time of the session, as Windows does",
        Boot = "boot": "The boot time, which follows later corrections of the system clock",
    }
    FailOn {
        Loss = "loss": "Something was lost, or nobody can know: a session never closed, a merged file",
        KnownLoss = "known-loss": "Something is known to be lost",
        Disorder = "disorder": "Events are out of order",
        Undecoded = "undecoded": "Events are not decoded whole",
        Damage = "damage": "Parts of the file cannot be read",
    }
    OnBadInput {
        Quarantine = "quarantine": "Name it with its reason, in the summary too, and go on with the others",
        Fail = "fail": "Stop",
    }
    LockMode {
        Extend = "extend": "Name them by the rules, and list them as issues",
        Strict = "strict": "Publish no trace that has any",
    }
    ColorMode {
        Auto = "auto": "On a terminal, unless NO_COLOR is set",
        Always = "always": "Everywhere",
        Never = "never": "Nowhere",
    }
    LogFormat {
        Text = "text": "For people",
        Json = "json": "One JSON object each, with time, level, message and place; no progress bars",
    }
    ProgressMode {
        Auto = "auto": "When standard error is a terminal",
        Always = "always": "As lines of text where it is none",
        Never = "never": "Never",
    }
}
