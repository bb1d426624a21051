//! What the name of a file says of its place among others.

use etl::layout::logfile::mode;

use super::result::FileSurvey;

/// The place of a file in a series that a session wrote one after another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesMember {
    /// What the names of all members begin with, in lower case, folders included.
    pub series: String,
    /// The number that the name ends in: `name7.etl`.
    pub number: u32,
}

/// The place of a file in its series. What the session's own name for it says counts, else what it is called now.
pub fn series_member(file: &FileSurvey) -> Option<SeriesMember> {
    if !file.session.has_mode(mode::NEWFILE) {
        return None;
    }
    paths(file).find_map(|path| {
        let name = file_name(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let number = trailing_number(stem)?;
        let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        let folder = path.strip_suffix(name).unwrap_or_default();
        Some(SeriesMember { series: format!("{folder}{stem}").to_lowercase(), number })
    })
}

/// The process that a private session recorded: its file's name ends in the process id, `name.etl_1234`, but for those
/// with one file for all.
pub fn private_logger_pid(file: &FileSurvey) -> Option<u32> {
    let session = &file.session;
    if !session.has_mode(mode::PRIVATE_LOGGER) || session.has_mode(mode::PRIVATE_IN_PROC) {
        return None;
    }
    paths(file).find_map(|path| {
        let (_, pid) = file_name(path).rsplit_once('_')?;
        let pid = pid.strip_suffix(".etl").unwrap_or(pid);
        // Not `parse` alone, which takes a sign.
        pid.bytes().all(|byte| byte.is_ascii_digit()).then(|| pid.parse().ok())?
    })
}

fn paths(file: &FileSurvey) -> impl Iterator<Item = &str> {
    [file.session.log_file_name.as_str(), file.name.as_str()].into_iter()
}

fn file_name(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or(path)
}

fn trailing_number(text: &str) -> Option<u32> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text.get(digits..)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::trailing_number;

    #[test]
    fn numbers_stand_at_the_end() {
        for (text, number) in
            [("output1", Some(1)), ("a.20251008.8", Some(8)), ("7", Some(7)), ("name", None), ("", None)]
        {
            assert_eq!(trailing_number(text), number, "{text}");
        }
        assert_eq!(trailing_number("a99999999999"), None, "more than 32 bits");
    }
}
