//! What a run of many recordings is asked for, besides the conversion of each.

use std::ffi::OsString;
use std::path::PathBuf;

use base::disk::absolute_text;
use base::error::{Error, ErrorKind, Result};
use base::names::NameFrom;
use base::settings::{self, Recorded, Setting, SettingGroup};
use base::words;
use base::words::Words;
use conversion::convert::ConvertOptions;
use conversion::convert::settings::{of_word, words};
use serde_json::{Map, Value};

/// What becomes of an input that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadInput {
    /// It is named with its reason, and the run goes on.
    #[default]
    Quarantine,
    /// The run stops.
    Fail,
}

words! { OnBadInput {
    Quarantine = "quarantine": "Name it with its reason, in the summary too, and go on with the others",
    Fail = "fail": "Stop",
} }

/// A run of many recordings.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// Files, folders, patterns, lists, archives.
    pub inputs: Vec<OsString>,
    /// How each recording is converted.
    pub convert: ConvertOptions,
    /// Which inputs become one recording: none, all of them as one of this name, or `auto`.
    pub merge: Option<String>,
    /// What names the recordings.
    pub name_from: NameFrom,
    /// What becomes of an input that cannot be read.
    pub on_bad_input: OnBadInput,
    /// Gets a record of each input in quarantine.
    pub quarantine_dir: Option<PathBuf>,
}

/// An option of a run.
type Row = Setting<BatchOptions>;

/// Which inputs become which traces.
pub const OUTPUT: SettingGroup<BatchOptions> = SettingGroup {
    heading: "Output",
    settings: &[
        Row::text("merge", "NAME", |options, text| {
            options.merge = Some(text.to_owned());
            Ok(())
        })
        .help(
            "All inputs are one recording: merge them into one trace of this name; `auto`: merge files that belong together by \
             name, session and time, and say which",
        )
        .recorded(Recorded::Run, |options| Some(options.merge.clone().into())),
        Row::word("name-from", "HOW", words::<NameFrom>, |options, word| {
            options.name_from = of_word(word)?;
            Ok(())
        })
        .help("What a trace is called after")
        .default(|options| Some(options.name_from.word().to_owned()))
        .recorded(Recorded::Run, |options| Some(options.name_from.word().into())),
    ],
};

/// What becomes of inputs that cannot be read.
pub const CHECKS: SettingGroup<BatchOptions> = SettingGroup {
    heading: "Checks",
    settings: &[
        Row::word("on-bad-input", "WHAT", words::<OnBadInput>, |options, word| {
            options.on_bad_input = of_word(word)?;
            Ok(())
        })
        .help("What to do about an input that cannot be read or is no trace")
        .default(|options| Some(options.on_bad_input.word().to_owned()))
        .recorded(Recorded::Run, |options| Some(options.on_bad_input.word().into())),
        Row::path("quarantine-dir", "DIR", |options, path| options.quarantine_dir = Some(path))
            .help("Folder that gets a JSON record of each input in quarantine, and loses it once the input can be read; made if missing")
            .recorded(Recorded::Run, |options| Some(options.quarantine_dir.as_deref().map(absolute_text).into())),
    ],
};

/// All options of a run, in the order of help.
pub const ALL: [SettingGroup<BatchOptions>; 2] = [OUTPUT, CHECKS];

/// Letters of a run id.
const LONGEST_RUN_ID: usize = 256;

/// What whoever starts a run calls it.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_run_id(text: &str) -> Result<String, String> {
    let is_plain =
        !text.trim().is_empty() && text.chars().count() <= LONGEST_RUN_ID && !text.contains(char::is_control);
    is_plain.then(|| text.to_owned()).ok_or_else(|| format!("expected a line of 1 to {LONGEST_RUN_ID} characters"))
}

impl BatchOptions {
    /// What the record of each trace keeps of them, besides the options of its conversion.
    pub fn record(&self) -> Map<String, Value> {
        settings::record(&ALL, self, Recorded::Run)
    }

    /// Refuses options that exclude each other.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`].
    pub fn check(&self) -> Result<()> {
        self.convert.check()?;
        if self.quarantine_dir.is_none() || self.on_bad_input == OnBadInput::Quarantine {
            return Ok(());
        }
        let message = "--quarantine-dir keeps records of inputs that --on-bad-input fail does not pass over";
        Err(Error::new(ErrorKind::Usage, message).with_hint("give one of the two"))
    }
}
