//! From tables of settings to options of the command line, and from what is typed to options of the library.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::path::PathBuf;

use base::settings::{Setting, SettingGroup, Takes};
use batch::BatchOptions;
use batch::options as of_batch;
use clap::builder::{FalseyValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use conversion::convert::{ConvertOptions, settings};

/// Which options a command has.
pub(super) trait Rows: Debug + Clone {
    /// What the options are of.
    type Options: Debug + Clone + Default + Send + Sync + 'static;
    /// The tables, in the order of help.
    const GROUPS: &'static [SettingGroup<Self::Options>];
    /// The place of the first one in help: behind the options that a command declares itself.
    const FIRST_PLACE: usize = 1000;
}

/// All options of a conversion.
#[derive(Clone, Debug)]
pub(super) struct OfConversion;

/// The clock of commands that write no columns, and how what is packed is unpacked.
#[derive(Clone, Debug)]
pub(super) struct OfReading;

/// What decides which rows a dataset has, and how what is packed is unpacked.
#[derive(Clone, Debug)]
pub(super) struct OfRows;

/// Which events are exported, the clock of a trace that is converted for it, and how what is packed is unpacked.
#[derive(Clone, Debug)]
pub(super) struct OfExport;

/// How what is packed is unpacked.
#[derive(Clone, Debug)]
pub(super) struct OfInput;

/// Options of a run over many recordings.
#[derive(Clone, Debug)]
pub(super) struct OfBatch;

impl Rows for OfConversion {
    type Options = ConvertOptions;
    const GROUPS: &'static [SettingGroup<ConvertOptions>] = &settings::ALL;
}

impl Rows for OfReading {
    type Options = ConvertOptions;
    const GROUPS: &'static [SettingGroup<ConvertOptions>] = &[settings::CLOCK, settings::SPOOL];
}

impl Rows for OfRows {
    type Options = ConvertOptions;
    const GROUPS: &'static [SettingGroup<ConvertOptions>] = &[settings::FILTERS, settings::COLUMNS, settings::SPOOL];
}

impl Rows for OfExport {
    type Options = ConvertOptions;
    const GROUPS: &'static [SettingGroup<ConvertOptions>] = &[settings::FILTERS, settings::CLOCK, settings::SPOOL];
}

impl Rows for OfInput {
    type Options = ConvertOptions;
    const GROUPS: &'static [SettingGroup<ConvertOptions>] = &[settings::SPOOL];
}

impl Rows for OfBatch {
    type Options = BatchOptions;
    const GROUPS: &'static [SettingGroup<BatchOptions>] = &of_batch::ALL;
    const FIRST_PLACE: usize = 2000;
}

/// Gives every option of a command, and of those below it, the environment variable of its name, and its flags a value there:
/// all but `0`, `false` and the like set them.
pub(super) fn with_environment(command: Command) -> Command {
    let of_arg = |arg: Arg| {
        let Some(long) = arg.get_long() else { return arg };
        let variable = format!("ETL2PARQUET_{}", long.to_uppercase().replace('-', "_"));
        let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
        let arg = if is_flag { arg.value_parser(FalseyValueParser::new()) } else { arg };
        arg.env(variable).hide_env(true)
    };
    command.mut_args(of_arg).mut_subcommands(with_environment)
}

/// The options that are chosen on the command line.
#[derive(Clone, Debug)]
pub(super) struct Chosen<R: Rows> {
    /// With their defaults, where nothing is typed.
    pub options: R::Options,
    /// Those that stand on the command line itself.
    typed: Vec<&'static str>,
    rows: PhantomData<R>,
}

impl<R: Rows> Chosen<R> {
    /// The first option of a table that stands on the command line itself: what a file or the environment says is for all commands.
    pub(super) fn typed_of(&self, group: &SettingGroup<R::Options>) -> Option<&'static str> {
        self.typed.iter().copied().find(|name| group.settings.iter().any(|row| row.name == *name))
    }
}

impl<R: Rows> Args for Chosen<R> {
    fn augment_args(command: Command) -> Command {
        let defaults = R::Options::default();
        let rows = R::GROUPS.iter().flat_map(|group| group.settings.iter().map(move |row| (group.heading, row)));
        rows.zip(R::FIRST_PLACE..).fold(command, |command, ((heading, row), place)| {
            let heading = (!heading.is_empty()).then_some(heading);
            command.arg(arg(row, &defaults).help_heading(heading).display_order(place))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<R: Rows> FromArgMatches for Chosen<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut chosen = Chosen { options: R::Options::default(), typed: Vec::new(), rows: PhantomData };
        chosen.update_from_arg_matches(matches)?;
        Ok(chosen)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let rows = || R::GROUPS.iter().flat_map(|group| group.settings);
        let is_typed = |row: &&Setting<_>| matches.value_source(row.name) == Some(ValueSource::CommandLine);
        self.typed = rows().filter(is_typed).map(|row| row.name).collect();
        rows().try_for_each(|row| take(row, &mut self.options, matches))
    }
}

/// Takes the values of an option, each of which the parser has seen to.
fn take<T>(row: &Setting<T>, options: &mut T, matches: &ArgMatches) -> Result<(), Error> {
    let invalid = |message| Error::raw(ErrorKind::ValueValidation, message);
    match row.takes {
        Takes::Nothing(set) if matches.get_flag(row.name) => set(options),
        Takes::Nothing(_) => {}
        Takes::Path { set } => {
            matches.get_one::<PathBuf>(row.name).into_iter().for_each(|path| set(options, path.clone()));
        }
        Takes::Word { set, .. } | Takes::Text { set } => {
            let mut texts = matches.get_many::<String>(row.name).into_iter().flatten();
            texts.try_for_each(|text| set(options, text)).map_err(invalid)?;
        }
    }
    Ok(())
}

/// The option of a row.
fn arg<T: Clone + Send + Sync + 'static>(row: &Setting<T>, defaults: &T) -> Arg {
    let arg = Arg::new(row.name).long(row.name).help(row.help).hide(row.is_hidden);
    let arg = if row.details.is_empty() { arg } else { arg.long_help(format!("{}\n\n{}", row.help, row.details)) };
    let arg = if row.has_commas { arg.value_delimiter(',') } else { arg };
    let arg = if row.value.is_empty() { arg } else { arg.value_name(row.value) };
    let arg = match (row.shown)(defaults) {
        Some(default) => arg.default_value(default),
        None => arg,
    };
    let action = if row.is_list { ArgAction::Append } else { ArgAction::Set };
    match row.takes {
        Takes::Nothing(_) => arg.action(ArgAction::SetTrue),
        Takes::Path { .. } => arg.action(action).value_parser(clap::value_parser!(PathBuf)),
        Takes::Word { words, .. } => {
            let words = words().into_iter().map(|(word, meaning)| PossibleValue::new(word).help(meaning));
            arg.action(action).value_parser(PossibleValuesParser::new(words))
        }
        Takes::Text { set } => {
            let blank = defaults.clone();
            let checked = move |text: String| set(&mut blank.clone(), &text).map(|()| text);
            arg.action(action).value_parser(StringValueParser::new().try_map(checked))
        }
    }
}
