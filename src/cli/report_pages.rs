//! Where the pages of `report` go.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use base::names::folded;

/// The page that leads to the others.
pub(super) const INDEX: &str = "index.html";

/// What `--output` names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// A file, or standard output.
    One(PathBuf),
    /// A folder, which gets a page for each trace.
    Each(PathBuf),
}

impl Pages {
    /// Of so many traces.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] where one page is named for several traces.
    pub(super) fn of(output: &Path, traces: usize) -> Result<Pages> {
        let ends_as_folder =
            output.as_os_str().as_encoded_bytes().last().is_some_and(|end| std::path::is_separator(char::from(*end)));
        if ends_as_folder || output.is_dir() {
            return Ok(Pages::Each(output.to_owned()));
        }
        if traces == 1 {
            return Ok(Pages::One(output.to_owned()));
        }
        let is_page =
            output.extension().is_some_and(|end| ["html", "htm"].iter().any(|page| end.eq_ignore_ascii_case(page)));
        if is_page || output == Path::new("-") || output.exists() {
            let message = format!("expected one trace for one page, found {traces}");
            let hint = "name a folder with -o: it gets a page for each trace, and index.html; or name one trace";
            return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
        }
        Ok(Pages::Each(output.to_owned()))
    }

    /// Makes the folder, where it is one. Says whether it was not there before.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] where it cannot be made.
    pub(super) fn prepare(&self) -> Result<bool> {
        let Pages::Each(folder) = self else { return Ok(false) };
        let is_new = !folder.exists();
        let failure =
            |cause| Error::new(ErrorKind::Output, "the folder cannot be made").in_file(folder).caused_by(cause);
        fs::create_dir_all(folder).map_err(failure)?;
        Ok(is_new)
    }

    /// The page of a trace.
    pub(super) fn page(&self, trace: &str) -> PathBuf {
        match self {
            Pages::One(page) => page.clone(),
            Pages::Each(folder) => folder.join(file_of(trace)),
        }
    }
}

/// The name of the page of a trace in a folder.
fn file_of(trace: &str) -> String {
    let file = format!("{trace}.html");
    if folded(&file) == INDEX { format!("trace={file}") } else { file }
}

/// The first name that would be the file of one before it, on any system.
pub(super) fn repeated<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(folded(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trace_has_a_page_and_several_a_folder() {
        let of = |output: &str, traces| Pages::of(Path::new(output), traces).map_err(|error| error.kind());
        let (one, each) = (|path: &str| Ok(Pages::One(path.into())), |path: &str| Ok(Pages::Each(path.into())));
        assert_eq!([of("none/a.html", 1), of("none/a", 1), of("-", 1)], [one("none/a.html"), one("none/a"), one("-")]);
        assert_eq!([of("none/", 1), of("none", 2), of("src", 1)], [each("none/"), each("none"), each("src")]);
        for refused in ["none/a.HTML", "-", "Cargo.toml"] {
            assert_eq!(of(refused, 2), Err(ErrorKind::Usage), "{refused}");
        }
    }

    #[test]
    fn no_page_is_the_index() {
        let pages = Pages::Each("out".into());
        assert_eq!(pages.page("Index"), Path::new("out/trace=Index.html"));
        assert_eq!(pages.page("boot"), Path::new("out/boot.html"));
        assert_eq!([repeated(["a", "b"].into_iter()), repeated(["a", "b", "A"].into_iter())], [None, Some("A")]);
    }
}
