//! Files that a run writes besides traces: none of them takes the place of a recording, or of a file of a converted trace.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use base::error::{Error, ErrorKind, Result};
use base::names::is_trace_name;
use base::remote;
use columnar::output::manifest::MANIFEST_PATH;

/// Looks at the place of a file before any work.
///
/// # Errors
/// [`ErrorKind::Usage`] where one of the inputs, another recording, or a converted trace would be overwritten.
pub(super) fn check(output: &Path, inputs: &[OsString]) -> Result<()> {
    // Where the folder is not there, whoever writes the file says so.
    let Some(place) = place_of(output) else { return Ok(()) };
    let is_file = place.is_file();
    let lies_there = if is_file && inputs.iter().any(|input| place_of(&file_of(input)).as_ref() == Some(&place)) {
        "an input"
    } else if is_file && name_of(&place).is_some_and(is_trace_name) {
        "a recording"
    } else if place.ancestors().skip(usize::from(!place.is_dir())).any(is_trace_folder) {
        "a converted trace"
    } else {
        return Ok(());
    };
    let message = format!("expected a place for a new file, found {lies_there}, which it would damage");
    Err(Error::new(ErrorKind::Usage, message).in_file(output).with_hint("name another file"))
}

/// Refuses two files of one place.
///
/// # Errors
/// [`ErrorKind::Usage`] where the second would replace the first.
pub(super) fn check_apart(first: &Path, second: &Path) -> Result<()> {
    // What is there and no file, as a pipe, may take both.
    let is_of_files = |place: &PathBuf| !place.exists() || place.is_file();
    if place_of(first).filter(is_of_files).is_some_and(|place| place_of(second) == Some(place)) {
        let error = Error::new(ErrorKind::Usage, "two files of this run would have the same place").in_file(second);
        return Err(error.with_hint("name another file"));
    }
    Ok(())
}

/// The file that an input is, or that contains it, or that lists inputs.
fn file_of(input: &OsString) -> PathBuf {
    let text = input.to_string_lossy();
    let text = text.strip_prefix('@').unwrap_or(&text);
    match text.split_once("!/") {
        Some((archive, _)) => PathBuf::from(archive),
        None if input.to_str().is_some() => PathBuf::from(text),
        None => PathBuf::from(input),
    }
}

/// Where a file is or will be, without links; `None` of standard output, of an address of a store, and where there is no folder.
fn place_of(file: &Path) -> Option<PathBuf> {
    if file == Path::new("-") || remote::url_of(file).is_some() {
        return None;
    }
    fs::canonicalize(file).ok().or_else(|| {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(parent).ok()?.join(file.file_name()?))
    })
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

fn is_trace_folder(folder: &Path) -> bool {
    name_of(folder).is_some_and(|name| name.starts_with("trace=")) || folder.join(MANIFEST_PATH).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_and_traces_are_not_written_to() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for file in ["a.dat", "b.etl", "trace=t/sidecar/manifest.json", "lab/sidecar/manifest.json", "page.html"] {
            fs::create_dir_all(path(file).parent().unwrap()).unwrap();
            fs::write(path(file), "there").unwrap();
        }
        let inputs = ["a.dat", "c.zip!/b.etl"].map(|name| path(name).into_os_string());
        fs::write(path("c.zip"), "there").unwrap();
        let found = |name: &str| check(&path(name), &inputs).err().map(|error| error.to_string());
        for (name, what) in [
            ("a.dat", "an input"),
            ("c.zip", "an input"),
            ("b.etl", "a recording"),
            ("trace=t/page.html", "a converted trace"),
            ("trace=t/sidecar/manifest.json", "a converted trace"),
            ("lab/page.html", "a converted trace"),
            ("trace=t", "a converted trace"),
        ] {
            let text = found(name).unwrap();
            assert!(text.contains(&format!("found {what}, which it would damage")), "{name}: {text}");
        }
        for name in ["page.html", "new.html", "new.etl", "trace=new.html", "missing/new.html", "."] {
            assert_eq!(found(name), None);
        }
        assert!(check(Path::new("-"), &inputs).is_ok());
        assert!(check_apart(&path("x.json"), &path("./x.json")).is_err());
        assert!(check_apart(&path("x.json"), &path("y.json")).is_ok());
    }
}
