//! A plan as it is stored: what another process or machine converts a partition from.

use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::check;
use super::input::PlannedInput;
use super::partition::Partition;
use super::result::PlanResult;
use crate::error::{Error, ErrorCode, ErrorKind, Result};
use crate::output::manifest::{FORMAT_VERSION, options_hash};

/// The version of this program. A plan says how programs, columns and slices are made from it only to the version that
/// wrote it.
const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything that a worker needs besides the inputs and the segments of its partition.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlanFile {
    /// The version of the program that wrote it.
    pub tool_version: String,
    /// The version of the output contract.
    pub format_version: u32,
    /// The options in effect, as a JSON object.
    pub options: Value,
    /// [`options_hash`] of the options.
    pub options_hash: String,
    /// The inputs, in the order of their numbers.
    pub inputs: Vec<PlannedInput>,
    /// How events become rows.
    pub result: PlanResult,
    /// The parts of the order.
    pub partitions: Vec<Partition>,
}

/// What is looked at first: the rest of a plan of another version cannot be expected to be read.
#[derive(Deserialize)]
struct Head {
    tool_version: String,
    format_version: u32,
    hash: String,
}

/// A plan with its hash before it.
#[derive(Serialize)]
struct Stored<'a> {
    hash: &'a str,
    #[serde(flatten)]
    plan: Flat<'a>,
}

/// The fields of a [`PlanFile`], borrowed; `inputs` apart, because their times of modification are no part of the hash.
#[derive(Serialize)]
struct Flat<'a> {
    tool_version: &'a str,
    format_version: u32,
    options: &'a Value,
    options_hash: &'a str,
    inputs: &'a [PlannedInput],
    partitions: &'a [Partition],
    result: &'a PlanResult,
}

impl PlanFile {
    /// The plan of this version of the program.
    pub fn new(options: Value, inputs: Vec<PlannedInput>, result: PlanResult, partitions: Vec<Partition>) -> Self {
        PlanFile {
            tool_version: TOOL_VERSION.to_owned(),
            format_version: FORMAT_VERSION,
            options_hash: options_hash(&options),
            options,
            inputs,
            result,
            partitions,
        }
    }

    /// BLAKE3 of what the plan says, in lower-case hexadecimal: equal for equal inputs and options, whenever the inputs
    /// were last written.
    pub fn hash(&self) -> String {
        let mut inputs = self.inputs.clone();
        inputs.iter_mut().for_each(|input| input.identity.modified = None);
        let mut hasher = blake3::Hasher::new();
        // A hasher takes everything, and every key of the plan is a text.
        let _ = serde_json::to_writer(&mut hasher, &self.flat(&inputs));
        hasher.finalize().to_hex().to_string()
    }

    fn flat<'a>(&'a self, inputs: &'a [PlannedInput]) -> Flat<'a> {
        Flat {
            tool_version: &self.tool_version,
            format_version: self.format_version,
            options: &self.options,
            options_hash: &self.options_hash,
            inputs,
            partitions: &self.partitions,
            result: &self.result,
        }
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// When `target` cannot be written.
    pub fn write(&self, target: impl Write) -> io::Result<()> {
        let mut target = io::BufWriter::new(target);
        serde_json::to_writer(&mut target, &Stored { hash: &self.hash(), plan: self.flat(&self.inputs) })?;
        target.flush()
    }

    /// Reads what [`PlanFile::write`] wrote; `path` is for errors.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the file cannot be read, is no plan, is a plan of another version of the program, or
    /// was changed or cut off since it was written.
    pub fn read(mut source: impl Read, path: &Path) -> Result<PlanFile> {
        let refuse = |message: String| {
            Error::new(ErrorKind::Input, message)
                .with_code(ErrorCode::UnusablePlan)
                .in_file(path)
                .with_hint("plan the recording again, with this program")
        };
        let mut bytes = Vec::new();
        let read = source.read_to_end(&mut bytes);
        read.map_err(|cause| {
            Error::new(ErrorKind::Input, "cannot read the plan")
                .with_code(ErrorCode::UnusablePlan)
                .in_file(path)
                .caused_by(cause)
        })?;
        let broken = |cause: serde_json::Error| {
            refuse("expected a whole plan, found something else".to_owned()).caused_by(cause)
        };
        let head: Head = serde_json::from_slice(&bytes).map_err(broken)?;
        if (head.tool_version.as_str(), head.format_version) != (TOOL_VERSION, FORMAT_VERSION) {
            return Err(refuse(format!(
                "expected a plan of version {TOOL_VERSION} (format {FORMAT_VERSION}), found one of version {} (format {})",
                head.tool_version, head.format_version
            )));
        }
        let plan: PlanFile = serde_json::from_slice(&bytes).map_err(broken)?;
        let found = plan.hash();
        if found != head.hash {
            let expected = head.hash;
            return Err(refuse(format!("expected a plan with the hash {expected}, found {found}: it was changed")));
        }
        check::check(&plan.result)
            .map_err(|fault| refuse(format!("expected a plan without contradictions, found {fault}")))?;
        Ok(plan)
    }
}
