//! The filters of `convert`. Doc comments of the fields are the help texts that users read.

use base::error::{Error, ErrorKind, Result};
use batch::{FilterValue, GivenFilters};
use clap::Args;
use conversion::plan::Filter;
use conversion::plan::filter::{EventPattern, NamePattern, NumberSet, TimeBound};

/// Levels by their names.
const LEVELS: [(&str, u8); 8] = [
    ("critical", 1),
    ("fatal", 1),
    ("error", 2),
    ("warning", 3),
    ("information", 4),
    ("informational", 4),
    ("info", 4),
    ("verbose", 5),
];

/// Keywords as they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keywords {
    Mask(u64),
    Name(NamePattern),
}

impl Keywords {
    fn mask(&self) -> Option<u64> {
        match self {
            Keywords::Mask(mask) => Some(*mask),
            Keywords::Name(_) => None,
        }
    }

    /// The name, if it is one.
    fn name(&self) -> Option<&NamePattern> {
        match self {
            Keywords::Mask(_) => None,
            Keywords::Name(name) => Some(name),
        }
    }
}

/// Processes as they are typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Processes {
    Ids(NumberSet),
    Name(NamePattern),
}

impl Processes {
    fn ids(&self) -> Option<&NumberSet> {
        match self {
            Processes::Ids(ids) => Some(ids),
            Processes::Name(_) => None,
        }
    }

    fn name(&self) -> Option<&NamePattern> {
        match self {
            Processes::Ids(_) => None,
            Processes::Name(name) => Some(name),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArgs {
    /// Only events of this provider: name, GUID or pattern such as Kernel-*; repeat it, or put commas between, for
    /// several
    ///
    /// Different filters must all hold, of several values of one any. Upper and lower case are the same.
    #[arg(long, value_name = "NAME", env = "ETL2PARQUET_PROVIDER", hide_env = true)]
    #[arg(value_delimiter = ',', value_parser = str::parse::<NamePattern>)]
    pub provider: Vec<NamePattern>,
    /// No events of this provider: name, GUID or pattern; repeatable
    #[arg(long, value_name = "NAME", env = "ETL2PARQUET_EXCLUDE_PROVIDER", hide_env = true)]
    #[arg(value_delimiter = ',', value_parser = str::parse::<NamePattern>)]
    pub exclude_provider: Vec<NamePattern>,
    /// Only this event: id, name or pattern such as */Start; repeatable
    #[arg(long, value_name = "EVENT", env = "ETL2PARQUET_EVENT", hide_env = true)]
    #[arg(value_delimiter = ',', value_parser = str::parse::<EventPattern>)]
    pub event: Vec<EventPattern>,
    /// Only events of this level and more severe ones: critical, error, warning, information, verbose or 1 to 255
    ///
    /// Level 0 always passes, as it does in a session. Events without a level (kernel, WPP) do not.
    #[arg(long, value_name = "LEVEL", env = "ETL2PARQUET_LEVEL", hide_env = true, value_parser = parse_level)]
    pub level: Option<u8>,
    /// Only events with any of these keywords: a mask such as 0x30, or names and patterns such as GC; repeatable
    ///
    /// Names are those that the schemas of events declare, as `catalog` has them. Keyword 0 always passes, as it does in
    /// a session. Events without keywords (kernel, classic, WPP) do not.
    #[arg(long, value_name = "KEYWORDS", env = "ETL2PARQUET_KEYWORDS", hide_env = true)]
    #[arg(value_delimiter = ',', value_parser = parse_keywords)]
    pub keywords: Vec<Keywords>,
    /// Only events of these processes: numbers and ranges, such as 4,1000-1999, or names and patterns of image files, such
    /// as chrome.exe; repeatable
    ///
    /// The process of an event is that of the columns process_id and process_name: of many events of the kernel, the one
    /// that their payload names, or the one that their thread was in.
    #[arg(long, value_name = "PROCESSES", env = "ETL2PARQUET_PID", hide_env = true)]
    #[arg(value_delimiter = ',', value_parser = parse_processes)]
    pub pid: Vec<Processes>,
    /// Only events of these threads, as in the column thread_id; repeatable
    #[arg(long, value_name = "IDS", env = "ETL2PARQUET_TID", hide_env = true, value_parser = str::parse::<NumberSet>)]
    pub tid: Vec<NumberSet>,
    /// Only events recorded on these processors, such as 1,4-7; repeatable
    #[arg(long, value_name = "CPUS", env = "ETL2PARQUET_CPU", hide_env = true, value_parser = str::parse::<NumberSet>)]
    pub cpu: Vec<NumberSet>,
    /// Only events at this time or later: 2025-01-31T12:00:00Z, "2025-01-31 12:00:00" in UTC, or +12.5s from the
    /// start of the trace
    ///
    /// Units: ns, us, ms, s, min, h, d. The trace starts with its header event, which has the time that `inspect` calls
    /// started.
    #[arg(long, value_name = "TIME", env = "ETL2PARQUET_FROM", hide_env = true, value_parser = str::parse::<TimeBound>)]
    pub from: Option<TimeBound>,
    /// Only events before this time
    #[arg(long, value_name = "TIME", env = "ETL2PARQUET_TO", hide_env = true, value_parser = str::parse::<TimeBound>)]
    pub to: Option<TimeBound>,
}

impl FilterArgs {
    /// What was meant.
    pub(super) fn filter(&self) -> Filter {
        Filter {
            providers: self.provider.clone(),
            excluded_providers: self.exclude_provider.clone(),
            events: self.event.clone(),
            level: self.level,
            keywords: self.keywords.iter().filter_map(Keywords::mask).reduce(|all, one| all | one),
            keyword_names: self.keywords.iter().filter_map(Keywords::name).cloned().collect(),
            processes: NumberSet::union(self.pid.iter().filter_map(Processes::ids)),
            process_names: self.pid.iter().filter_map(Processes::name).cloned().collect(),
            threads: NumberSet::union(self.tid.iter()),
            cpus: NumberSet::union(self.cpu.iter()),
            from: self.from,
            to: self.to,
        }
    }

    /// The filters that are given.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--provider", !self.provider.is_empty()),
            ("--exclude-provider", !self.exclude_provider.is_empty()),
            ("--event", !self.event.is_empty()),
            ("--level", self.level.is_some()),
            ("--keywords", !self.keywords.is_empty()),
            ("--pid", !self.pid.is_empty()),
            ("--tid", !self.tid.is_empty()),
            ("--cpu", !self.cpu.is_empty()),
            ("--from", self.from.is_some()),
            ("--to", self.to.is_some()),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    /// The filters, for what is said about them.
    pub(super) fn as_given(&self) -> GivenFilters {
        let of_process = |process: &Processes| match process {
            Processes::Ids(ids) => FilterValue::Processes(ids.clone()),
            Processes::Name(name) => FilterValue::Process(name.clone()),
        };
        let keywords = self.keywords.iter().filter_map(Keywords::name).cloned();
        let values = self.provider.iter().cloned().map(FilterValue::Provider);
        let values = values.chain(self.exclude_provider.iter().cloned().map(FilterValue::ExcludedProvider));
        let values = values.chain(self.event.iter().cloned().map(FilterValue::Event));
        let values = values.chain(keywords.map(FilterValue::Keyword));
        let values = values.chain(self.cpu.iter().cloned().map(FilterValue::Cpus));
        let values = values.chain(self.pid.iter().map(of_process));
        let values = values.chain(self.tid.iter().cloned().map(FilterValue::Threads));
        let has_time = self.from.is_some() || self.to.is_some();
        GivenFilters { values: values.collect(), names: self.given(), has_time }
    }

    /// Refuses what cannot pass any event of any trace.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`].
    pub(super) fn check(&self) -> Result<()> {
        match self.from.zip(self.to) {
            Some((from, to)) if from.is_not_before(to) => {
                let message = format!("there is no time between --from {from} and --to {to}");
                Err(Error::new(ErrorKind::Usage, message))
            }
            _ => Ok(()),
        }
    }
}

fn parse_level(text: &str) -> Result<u8, String> {
    let text = text.trim().to_ascii_lowercase();
    let named = LEVELS.iter().find(|(name, _)| *name == text).map(|(_, level)| *level);
    let level = named.or_else(|| text.parse().ok().filter(|&level| level > 0));
    level.ok_or_else(|| "expected critical, error, warning, information, verbose or a number from 1 to 255".to_owned())
}

fn parse_processes(text: &str) -> Result<Processes, String> {
    let is_name =
        |text: &str| text.contains('.') || !text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    match text.parse() {
        Ok(ids) => Ok(Processes::Ids(ids)),
        Err(_) if !text.trim().is_empty() && is_name(text.trim()) => text.parse().map(Processes::Name),
        Err(wrong) => Err(format!("{wrong}, or the name of an image file, such as chrome.exe")),
    }
}

fn parse_keywords(text: &str) -> Result<Keywords, String> {
    let text = text.trim().to_ascii_lowercase();
    // No name begins so, and no mask otherwise.
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) {
        return text.parse().map(Keywords::Name);
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mask = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().filter(|_| digits(hex)),
        None => text.parse().ok().filter(|_| digits(&text)),
    };
    let mask = mask.filter(|&mask| mask != 0).map(Keywords::Mask);
    mask.ok_or_else(|| "expected a mask above 0 of at most 64 bits, such as 0x30 or 48, or a name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_names_or_numbers() {
        let t = |text: &str, level: Option<u8>| assert_eq!(parse_level(text).ok(), level, "{text}");
        t("critical", Some(1));
        t("Fatal", Some(1));
        t("error", Some(2));
        t("WARNING", Some(3));
        t("info", Some(4));
        t("information", Some(4));
        t("verbose", Some(5));
        t("1", Some(1));
        t("255", Some(255));
        for wrong in ["", "0", "256", "-1", "warn ing", "loud"] {
            t(wrong, None);
        }
    }

    #[test]
    fn processes_are_ids_or_names() {
        let ids =
            |text: &str| parse_processes(text).ok().and_then(|processes| processes.ids().map(ToString::to_string));
        assert_eq!(["4", " 0x10-20", "4-"].map(ids), [Some("4".to_owned()), Some("16-20".to_owned()), None]);
        let name =
            |text: &str| parse_processes(text).ok().and_then(|processes| processes.name().map(ToString::to_string));
        assert_eq!(name("Chrome.exe").as_deref(), Some("chrome.exe"));
        assert_eq!(name("7z.exe").as_deref(), Some("7z.exe"));
        assert_eq!(name("svc*").as_deref(), Some("svc*"));
        for wrong in ["", " ", "4-", "12x", "-1", "7-4", "4294967296"] {
            assert!(parse_processes(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn keywords_are_a_mask_or_names() {
        let t =
            |text: &str, mask: Option<u64>| assert_eq!(parse_keywords(text).ok(), mask.map(Keywords::Mask), "{text}");
        t("0x30", Some(48));
        t("0X8000000000000000", Some(1 << 63));
        t("48", Some(48));
        for wrong in ["", "0", "0x0", "0x", "-1", "+1", "0x+1", "30h", "0x10000000000000000"] {
            t(wrong, None);
        }
        assert_eq!(parse_keywords("GC*").unwrap().name().unwrap().to_string(), "gc*");
    }
}
