//! Options as data: what each is called, takes and changes, and what the record of a run keeps of it.
//!
//! A table of [`Setting`]s is the one place where an option stands. The command line, a file of options, the record of a
//! published trace, its options hash and the documentation follow from the tables; so can a binding to another language,
//! which hands texts to what each [takes](Takes).
//!
//! ```
//! use etl2parquet_base::settings::{Recorded, Setting, Takes};
//! use serde_json::{Map, json};
//!
//! #[derive(Clone, Default)]
//! struct Options { depth: u32 }
//!
//! const DEPTH: Setting<Options> = Setting::text("search-depth", "N", |options: &mut Options, text| {
//!     options.depth = text.parse().map_err(|_| "expected a number".to_owned())?;
//!     Ok(())
//! })
//! .help("How deep to search")
//! .default(|options| Some(options.depth.to_string()))
//! .recorded(Recorded::Files, |options| Some(json!(options.depth)));
//!
//! let mut options = Options::default();
//! let Takes::Text { set, .. } = DEPTH.takes else { panic!("expected a text") };
//! set(&mut options, "3").unwrap();
//! assert_eq!(set(&mut options, "x").unwrap_err(), "expected a number");
//! let mut record = Map::new();
//! DEPTH.record(&options, Recorded::Files, &mut record);
//! assert_eq!(record.get("search_depth"), Some(&json!(3)));
//! ```

use std::fmt::{self, Debug};
use std::path::PathBuf;

use serde_json::{Map, Value};

/// What an option takes, and what each value changes. A text that is none of its values is an error, which says what is
/// expected.
#[derive(Clone, Copy)]
pub enum Takes<T: 'static> {
    /// Nothing: the option is given or not.
    Nothing(fn(&mut T)),
    /// One of a few words.
    Word {
        /// The words, each with what it means, in the order in which help lists them.
        words: fn() -> Vec<(&'static str, &'static str)>,
        /// Takes a word.
        set: fn(&mut T, &str) -> Result<(), String>,
    },
    /// A text.
    Text {
        /// Takes a text.
        set: fn(&mut T, &str) -> Result<(), String>,
    },
    /// A path, in whatever encoding the system has.
    Path {
        /// Takes a path.
        set: fn(&mut T, PathBuf),
    },
}

/// Where the record of a trace has an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Among the options that decide about the files of the trace, which the options hash covers.
    Files,
    /// Among those that decide whether the trace is published.
    Publication,
    /// Among those of the run alone.
    Run,
}

/// What a record keeps of an option: a value by its key; `None` where the record does not have the key.
type Kept<T> = fn(&T) -> Option<Value>;

/// An option of a program whose options are a `T`.
#[derive(Clone, Copy)]
pub struct Setting<T: 'static> {
    /// Its long name, such as `max-file-size`. With underscores it is the key of the record.
    pub name: &'static str,
    /// What help calls a value, such as `SIZE`; empty where there is none.
    pub value: &'static str,
    /// What it does: the line of a help text.
    pub help: &'static str,
    /// More paragraphs of the help text.
    pub details: &'static str,
    /// Whether help leaves it out: it is for tests.
    pub is_hidden: bool,
    /// Whether it can be given several times, and several values with commas between.
    pub is_list: bool,
    /// Whether a comma parts the values of a list.
    pub has_commas: bool,
    /// What it takes.
    pub takes: Takes<T>,
    /// The value that options have, as it would be typed; `None` where none is given.
    pub shown: fn(&T) -> Option<String>,
    place: Option<Recorded>,
    kept: Kept<T>,
    also: Option<(&'static str, Kept<T>)>,
}

/// Options that help lists below one heading.
#[derive(Clone, Copy, Debug)]
pub struct SettingGroup<T: 'static> {
    /// The heading; empty for that of options without one.
    pub heading: &'static str,
    /// The options, in the order of help.
    pub settings: &'static [Setting<T>],
}

impl<T> Setting<T> {
    const fn new(name: &'static str, value: &'static str, takes: Takes<T>) -> Self {
        Setting {
            name,
            value,
            help: "",
            details: "",
            is_hidden: false,
            is_list: false,
            has_commas: false,
            takes,
            shown: |_| None,
            place: None,
            kept: |_| None,
            also: None,
        }
    }

    /// An option that is given or not.
    pub const fn flag(name: &'static str, set: fn(&mut T)) -> Self {
        Setting::new(name, "", Takes::Nothing(set))
    }

    /// An option with a text.
    pub const fn text(name: &'static str, value: &'static str, set: fn(&mut T, &str) -> Result<(), String>) -> Self {
        Setting::new(name, value, Takes::Text { set })
    }

    /// An option with a path.
    pub const fn path(name: &'static str, value: &'static str, set: fn(&mut T, PathBuf)) -> Self {
        Setting::new(name, value, Takes::Path { set })
    }

    /// An option with one of a few words.
    pub const fn word(
        name: &'static str,
        value: &'static str,
        words: fn() -> Vec<(&'static str, &'static str)>,
        set: fn(&mut T, &str) -> Result<(), String>,
    ) -> Self {
        Setting::new(name, value, Takes::Word { words, set })
    }

    /// With what help says.
    #[must_use]
    pub const fn help(self, help: &'static str) -> Self {
        Setting { help, ..self }
    }

    /// With what help says below.
    #[must_use]
    pub const fn details(self, details: &'static str) -> Self {
        Setting { details, ..self }
    }

    /// Left out of help.
    #[must_use]
    pub const fn hidden(self) -> Self {
        Setting { is_hidden: true, ..self }
    }

    /// To be given several times.
    #[must_use]
    pub const fn repeated(self) -> Self {
        Setting { is_list: true, ..self }
    }

    /// To be given several times, or with commas between values.
    #[must_use]
    pub const fn listed(self) -> Self {
        Setting { is_list: true, has_commas: true, ..self }
    }

    /// With the text of its value.
    #[must_use]
    pub const fn default(self, shown: fn(&T) -> Option<String>) -> Self {
        Setting { shown, ..self }
    }

    /// With its place in a record, and its value there.
    #[must_use]
    pub const fn recorded(self, place: Recorded, kept: Kept<T>) -> Self {
        Setting { place: Some(place), kept, ..self }
    }

    /// With another key of the record, for values of another kind.
    #[must_use]
    pub const fn and_recorded(self, key: &'static str, kept: Kept<T>) -> Self {
        Setting { also: Some((key, kept)), ..self }
    }

    /// Its place in a record, if it has one.
    pub const fn place(&self) -> Option<Recorded> {
        self.place
    }

    /// Its key in a record.
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Adds what a record keeps of it in a place.
    pub fn record(&self, options: &T, place: Recorded, record: &mut Map<String, Value>) {
        if self.place == Some(place) {
            record.extend((self.kept)(options).map(|value| (self.key(), value)));
            record.extend(self.also.and_then(|(key, kept)| Some((key.to_owned(), kept(options)?))));
        }
    }

    /// Whether a record keeps a value of it.
    pub fn is_given(&self, options: &T) -> bool {
        let is_value = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
        let also = self.also.and_then(|(_, kept)| kept(options));
        (self.kept)(options).iter().chain(&also).any(is_value)
    }
}

/// What a record keeps of all options of groups, in one place.
pub fn record<T>(groups: &[SettingGroup<T>], options: &T, place: Recorded) -> Map<String, Value> {
    let mut record = Map::new();
    let settings = groups.iter().flat_map(|group| group.settings);
    settings.for_each(|setting| setting.record(options, place, &mut record));
    record
}

impl<T> Debug for Takes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Takes::Nothing(_) => "Nothing",
            Takes::Word { .. } => "Word",
            Takes::Text { .. } => "Text",
            Takes::Path { .. } => "Path",
        })
    }
}

impl<T> Debug for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { name, takes, place, .. } = self;
        f.debug_struct("Setting")
            .field("name", name)
            .field("takes", takes)
            .field("place", place)
            .finish_non_exhaustive()
    }
}
