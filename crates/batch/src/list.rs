//! Lists of inputs (`@list.txt`): one per line, and behind it what only the user knows of it.
//!
//! ```text
//! lab1/boot.etl
//! lab2/boot.etl offset=+1.5ms merge=boot
//! "D:\all traces\*.etl"  offset=-2s  merge="both machines"
//! ```

use std::path::Path;

use conversion::plan::filter::parse_offset;

/// What a line says of its inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineOptions {
    /// Nanoseconds that are added to all their times.
    pub(crate) offset_ns: Option<i64>,
    /// The trace that they become, together with those of other lines that name it.
    pub(crate) merge: Option<String>,
}

/// The input that a line names, and what it says of it. A line that is the path of a file as a whole says nothing else.
///
/// # Errors
/// What is wrong with the line.
pub(crate) fn parse(line: &str) -> Result<(String, LineOptions), String> {
    let (path, options) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or("expected a second quotation mark behind the path")?,
        None => match first_option(line) {
            Some(at) if !Path::new(line).exists() => line.split_at(at),
            _ => (line, ""),
        },
    };
    let path = path.trim_end();
    if path.is_empty() {
        return Err("expected an input".to_owned());
    }
    Ok((path.to_owned(), said(options)?))
}

/// Where the options of a line begin whose path has no quotation marks.
fn first_option(line: &str) -> Option<usize> {
    let starts = ["offset=", "merge="].iter().flat_map(|key| line.match_indices(key));
    starts.map(|(at, _)| at).filter(|&at| line[..at].ends_with(char::is_whitespace)).min()
}

fn said(options: &str) -> Result<LineOptions, String> {
    let mut said = LineOptions::default();
    let mut rest = options.trim();
    while !rest.is_empty() {
        let unknown = || format!("expected offset=DISTANCE or merge=NAME behind the path, found {rest}");
        let (key, behind) = rest.split_once('=').ok_or_else(unknown)?;
        let (value, behind) = match behind.strip_prefix('"') {
            Some(quoted) => {
                quoted.split_once('"').ok_or_else(|| format!("expected a second quotation mark behind {key}="))?
            }
            None => behind.split_at(behind.find(char::is_whitespace).unwrap_or(behind.len())),
        };
        let is_new = match key {
            "offset" => {
                let offset = parse_offset(value).ok_or_else(|| {
                    format!("expected a distance with its sign, such as +1.5ms or -2s, found offset={value}")
                })?;
                said.offset_ns.replace(offset).is_none()
            }
            "merge" if value.is_empty() => return Err("expected the name of a trace behind merge=".to_owned()),
            "merge" => said.merge.replace(value.to_owned()).is_none(),
            _ => return Err(unknown()),
        };
        if !is_new {
            return Err(format!("{key}= stands there twice"));
        }
        rest = behind.trim_start();
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_path_and_options() {
        let t = |line: &str, path: &str, offset_ns: Option<i64>, merge: Option<&str>| {
            let said = LineOptions { offset_ns, merge: merge.map(str::to_owned) };
            assert_eq!(parse(line), Ok((path.to_owned(), said)), "{line}");
        };
        t("a.etl", "a.etl", None, None);
        t("my traces/a b.etl", "my traces/a b.etl", None, None);
        t("my traces/a b.etl\toffset=+1.5ms", "my traces/a b.etl", Some(1_500_000), None);
        t("a.etl merge=x offset=-2s", "a.etl", Some(-2_000_000_000), Some("x"));
        t("\"odd offset=1.etl\"  merge=\"both machines\"", "odd offset=1.etl", None, Some("both machines"));
        t("a.etl offset=+0s", "a.etl", Some(0), None);
        // No options of these names: part of the path.
        t("a.etl other=1", "a.etl other=1", None, None);
        t("a_offset=1.etl", "a_offset=1.etl", None, None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let t = |line: &str, message: &str| assert_eq!(parse(line), Err(message.to_owned()), "{line}");
        let distance = "expected a distance with its sign, such as +1.5ms or -2s, found offset=";
        t("a.etl offset=1.5ms", &format!("{distance}1.5ms"));
        t("a.etl offset=+1.5", &format!("{distance}+1.5"));
        t("a.etl offset=", distance);
        t("a.etl offset=+0.5ns", &format!("{distance}+0.5ns"));
        t("a.etl offset=+1s offset=+2s", "offset= stands there twice");
        t("a.etl merge=x stuff", "expected offset=DISTANCE or merge=NAME behind the path, found stuff");
        t("\"a.etl\" keep=1", "expected offset=DISTANCE or merge=NAME behind the path, found keep=1");
        t("a.etl merge=", "expected the name of a trace behind merge=");
        t("a.etl merge=\"x", "expected a second quotation mark behind merge=");
        t("\"a.etl", "expected a second quotation mark behind the path");
        t("\"\" merge=x", "expected an input");
    }
}
