//! The values of flags that are one of a few words.

use base::words;
use base::words::Words;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// When text is coloured (`--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ColorMode {
    #[default]
    Auto,
    Always,
    Never,
}

words! { ColorMode {
    Auto = "auto": "On a terminal, unless NO_COLOR is set",
    Always = "always": "Everywhere",
    Never = "never": "Nowhere",
} }

/// How lines on standard error are written (`--log-format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogFormat {
    #[default]
    Text,
    Json,
}

words! { LogFormat {
    Text = "text": "For people",
    Json = "json": "One JSON object each, with time, level, message and place; no progress bars",
} }

/// When progress is shown (`--progress`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ProgressMode {
    #[default]
    Auto,
    Always,
    Never,
}

words! { ProgressMode {
    Auto = "auto": "When standard error is a terminal",
    Always = "always": "As lines of text where it is none",
    Never = "never": "Never",
} }

/// What clap takes for a setting that is one of a few words.
pub(super) fn words<T: Words>() -> impl TypedValueParser<Value = T> {
    let possible = T::WORDS.iter().map(|(_, word, meaning)| PossibleValue::new(*word).help(*meaning));
    PossibleValuesParser::new(possible).try_map(|word| T::of_word(&word).ok_or("no such word"))
}
