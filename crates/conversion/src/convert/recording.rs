//! What to convert: recordings and their files.

use std::path::PathBuf;

use base::names::{NameFrom, trace_name};
use etl::input::Address;

/// One recording: the files that become one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Name of the trace, without `trace=`.
    pub name: String,
    /// Its files, in the order given.
    pub inputs: Vec<InputFile>,
}

impl Recording {
    /// A recording of one file, called like the file.
    pub fn of_file(path: impl Into<PathBuf>) -> Recording {
        let path = path.into();
        let source = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Recording { name: trace_name(&source, NameFrom::Stem), inputs: vec![InputFile::new(path, source)] }
    }

    /// Where its inputs are.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.inputs.iter().map(|input| &input.address)
    }
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputFile {
    /// Where it lies.
    pub address: Address,
    /// Its path relative to the input named by the user, with `/`.
    pub source: String,
    /// Nanoseconds that are added to all its times, because its clock was behind by so many.
    pub offset_ns: i64,
}

impl InputFile {
    /// An input whose clock is believed.
    pub fn new(address: impl Into<Address>, source: impl Into<String>) -> InputFile {
        InputFile { address: address.into(), source: source.into(), offset_ns: 0 }
    }
}
