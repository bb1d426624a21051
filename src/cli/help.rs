//! What help pages show, and texts that several of them end with.

use batch::Asked;
use clap::Command;

/// Options that `-h` shows.
const OFTEN: [&str; 21] = [
    "output",
    "if-exists",
    "provider",
    "from",
    "to",
    "schemas",
    "json",
    "full",
    "dry-run",
    "quick",
    "open",
    "script",
    "spark",
    "built-in",
    "dataset",
    "select",
    "limit",
    "csv",
    "jsonl",
    "format",
    "of",
];

/// The end of `-h`.
const MORE: &str = "--help has all options, and how they can be given as environment variables.";

/// Has `-h` of a command and of those below it fit on a screen: `--help` has all options.
pub(super) fn on_a_screen(command: Command) -> Command {
    let end = command.get_after_long_help().or(command.get_after_help()).cloned().unwrap_or_default();
    let hidden = |arg: &clap::Arg| !arg.is_positional() && arg.get_long().is_none_or(|long| !OFTEN.contains(&long));
    command
        .mut_args(|arg| if hidden(&arg) { arg.hide_short_help(true) } else { arg })
        .mut_subcommands(on_a_screen)
        .after_long_help(end)
        .after_help(MORE)
}

/// How every option can also be given, below every help text.
pub(super) const ENVIRONMENT: &str = "\
Every option can also be given as an environment variable: ETL2PARQUET_ and its long name in capitals, for example \
ETL2PARQUET_IF_EXISTS=skip. The command line wins, and what a file of --config says comes last.";

/// The exit codes, below the long help of the program.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
    0  all done
    1  internal error, or an input changed while it was read
    2  wrong usage, also when two inputs would become one trace: those are not converted, the others are
    3  no readable input
    4  done, but some inputs are damaged, or could not be read as a trace (quarantine)
    5  a check (--max-loss, --fail-on) kept at least one trace from being published, or no event passes the filters
    6  the output cannot be written, or is there already
    7  verify found a mismatch
    8  another run still had traces in work at the end (--if-exists update): run again
  130  interrupted (143: terminated)

With several inputs the gravest applies: 1, 6, 5, 2, 8, 4, 3.";

/// Questions to ask in the views, below the long help of `views`.
pub(super) fn questions() -> String {
    let statements = Asked::all().map(|asked| format!("    {};\n", asked.statement()));
    format!(
        "Questions that DuckDB answers with these views; docs/queries.md has 32, with their answers:\n{}\n{ENVIRONMENT}",
        statements.collect::<String>()
    )
}

/// Where shells look for completions, below the help of `completions`.
pub(super) const COMPLETIONS: &str = "\
Where shells look for it:
    bash        > ~/.local/share/bash-completion/completions/etl2parquet
    zsh         > ~/.zfunc/_etl2parquet, with 'fpath+=~/.zfunc' before 'compinit' in ~/.zshrc
    fish        > ~/.config/fish/completions/etl2parquet.fish
    powershell  >> $PROFILE
    elvish      >> ~/.config/elvish/rc.elv";
