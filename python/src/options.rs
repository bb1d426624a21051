//! What Python knows of options.

use batch::keywords;
use pyo3::prelude::*;

/// An option: the call that it is of, its name, what it takes (`flag`, `path`, `text` or `word`), its words, whether it takes
/// several values, what it does.
type Described = (&'static str, String, &'static str, Vec<&'static str>, bool, &'static str);

/// All options, for the types of the package.
#[pyfunction]
pub(crate) fn all_options() -> Vec<Described> {
    let all = keywords::all().into_iter();
    all.map(|of| (of.call, of.name, of.takes, of.words, of.is_list, of.help)).collect()
}
