//! What a folder or an archive holds that is not read.

use std::collections::BTreeMap;
use std::path::Path;

use base::names::is_tar_name;

/// Why a file is passed over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// It is called like neither a trace nor an archive.
    Name,
    /// It is called like what describes events.
    Schema,
    /// An archive in which nothing is called like a trace.
    NoTraceWithin,
    /// A compressed file that holds something else.
    NotATrace,
    /// An archive in an archive.
    Nested,
    /// A tar archive, compressed or not.
    Tar,
    /// A pipe, a socket or a device.
    NoFile,
}

impl Reason {
    /// Why a file of a folder is none that is looked into.
    pub(crate) fn of_name(name: &str) -> Self {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_schema = || ["man", "tmf"].iter().any(|of_schema| ending.eq_ignore_ascii_case(of_schema));
        match () {
            () if is_tar_name(name) => Reason::Tar,
            () if is_schema() => Reason::Schema,
            () => Reason::Name,
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Reason::Name => "not called like a trace or an archive",
            Reason::Schema => "no trace but what describes events",
            Reason::NoTraceWithin => "an archive without a trace",
            Reason::NotATrace => "compressed, and no trace",
            Reason::Nested => "an archive within an archive",
            Reason::Tar => "a tar archive, to be unpacked first",
            Reason::NoFile => "a pipe, a socket or a device",
        }
    }
}

/// The files that are passed over, by reason.
#[derive(Debug, Default)]
pub(crate) struct PassedOver(BTreeMap<Reason, Names>);

#[derive(Debug, Default)]
struct Names {
    count: usize,
    shown: Vec<String>,
}

impl PassedOver {
    /// Names that a message lists for each reason; the rest is a number.
    const SHOWN: usize = 3;

    pub(crate) fn add(&mut self, reason: Reason, name: &str) {
        let names = self.0.entry(reason).or_default();
        names.count += 1;
        // In any order of the folder the same ones.
        let place = names.shown.partition_point(|shown| shown.as_str() < name);
        names.shown.insert(place, name.to_owned());
        names.shown.truncate(Self::SHOWN);
    }

    /// All that in one sentence about the folder or archive, if there is anything; but for schemas, of which whoever reads them says
    /// what becomes of them.
    pub(crate) fn note(&self, place: &Path) -> Option<String> {
        Some(format!("{}: {}", place.display(), self.text_of(|reason| *reason != Reason::Schema)?))
    }

    /// All that in one sentence.
    pub(crate) fn text(&self) -> Option<String> {
        self.text_of(|_| true)
    }

    fn text_of(&self, is_reported: impl Fn(&Reason) -> bool) -> Option<String> {
        let reported = || self.0.iter().filter(|(reason, _)| is_reported(reason));
        let count: usize = reported().map(|(_, names)| names.count).sum();
        let reasons: Vec<String> = reported().map(|(reason, names)| names.text(reason)).collect();
        let files = if count == 1 { "1 file is" } else { &format!("{count} files are") };
        (count > 0).then(|| format!("{files} not read: {}", reasons.join("; ")))
    }
}

impl Names {
    fn text(&self, reason: &Reason) -> String {
        let more = match self.count - self.shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{} ({}{more})", reason.text(), self.shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_reported_once_with_some_names() {
        let mut passed = PassedOver::default();
        assert_eq!(passed.note(Path::new("lab")), None);
        passed.add(Reason::NotATrace, "log.gz");
        assert_eq!(
            passed.note(Path::new("lab")).unwrap(),
            "lab: 1 file is not read: compressed, and no trace (log.gz)"
        );
        ["d.txt", "b.txt", "c.txt", "a.txt"].iter().for_each(|name| passed.add(Reason::Name, name));
        assert_eq!(
            passed.note(Path::new("lab")).unwrap(),
            "lab: 5 files are not read: not called like a trace or an archive (a.txt, b.txt, c.txt and 1 more); \
             compressed, and no trace (log.gz)"
        );
    }

    #[test]
    fn schemas_beside_traces_are_reported_where_there_is_no_trace() {
        let mut passed = PassedOver::default();
        for name in ["Lab.MAN", "a.tmf", "man", "a.man.txt"] {
            passed.add(Reason::of_name(name), name);
        }
        assert_eq!(
            passed.text().unwrap(),
            "4 files are not read: not called like a trace or an archive (a.man.txt, man); no trace but what describes \
             events (Lab.MAN, a.tmf)"
        );
        assert_eq!(
            passed.note(Path::new("lab")).unwrap(),
            "lab: 2 files are not read: not called like a trace or an archive (a.man.txt, man)"
        );
    }
}
