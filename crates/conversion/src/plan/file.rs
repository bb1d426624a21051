//! A plan as it is stored: what another process or machine converts a partition from.
//!
//! Two lines. The second is the plan. The first is looked at before, and holds what says nothing of the plan itself: its
//! version, its hash, and when the inputs were last written.

use std::io::Read;
use std::path::Path;

use base::error::{Error, ErrorCode, ErrorKind, Result};
use columnar::output::manifest::FORMAT_VERSION;
use serde::{Deserialize, Serialize, Serializer};

use super::check;
use super::input::PlannedInput;
use super::partition::Partition;
use super::result::PlanResult;

/// The version of this program. A plan says how programs, columns and slices are made from it only to the version that
/// wrote it.
const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything that a worker needs besides the inputs and the segments of its partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanFile {
    /// The inputs, in the order of their numbers.
    #[serde(serialize_with = "without_times")]
    pub inputs: Vec<PlannedInput>,
    /// How events become rows.
    pub result: PlanResult,
    /// The parts of the order.
    pub partitions: Vec<Partition>,
}

/// A plan as it is written, and its hash.
#[derive(Debug)]
pub struct PlanText {
    hash: String,
    bytes: Vec<u8>,
}

/// What is looked at first: the rest of a plan of another version cannot be expected to be read.
#[derive(Serialize, Deserialize)]
struct Version {
    tool_version: String,
    format_version: u32,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    version: Version,
    hash: String,
    /// When each input was last written, Unix nanoseconds.
    modified: Vec<Option<i64>>,
    /// What a store says of their bytes.
    #[serde(default)]
    tags: Vec<Option<String>>,
}

impl PlanFile {
    /// A plan of these inputs.
    pub fn new(inputs: Vec<PlannedInput>, result: PlanResult, partitions: Vec<Partition>) -> Self {
        PlanFile { inputs, result, partitions }
    }

    /// The plan as it is written.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when JSON cannot express it.
    pub fn to_text(&self) -> Result<PlanText> {
        let body = serde_json::to_vec(self).map_err(inexpressible)?;
        let hash = hash(&body);
        let version = Version { tool_version: TOOL_VERSION.to_owned(), format_version: FORMAT_VERSION };
        let modified = self.inputs.iter().map(|input| input.identity.modified).collect();
        let tags = self.inputs.iter().map(|input| input.identity.tag.clone()).collect();
        let head = Head { version, hash: hash.clone(), modified, tags };
        let mut bytes = serde_json::to_vec(&head).map_err(inexpressible)?;
        bytes.push(b'\n');
        bytes.extend(body);
        Ok(PlanText { hash, bytes })
    }

    /// Reads the text of a plan, and gives its hash, too; `path` is for errors.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] when the file cannot be read, is no plan, is a plan of another version of the program, was
    /// changed or cut off since it was written, or contradicts itself.
    pub fn read(mut source: impl Read, path: &Path) -> Result<(PlanFile, String)> {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(|cause| refuse(path, "cannot read the plan").caused_by(cause))?;
        let broken = |cause| refuse(path, "expected a whole plan, found something else").caused_by(cause);
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let (head, body) = bytes.split_at(end);
        let Version { tool_version, format_version } = serde_json::from_slice(head).map_err(broken)?;
        if (tool_version.as_str(), format_version) != (TOOL_VERSION, FORMAT_VERSION) {
            let message = format!(
                "expected a plan of version {TOOL_VERSION} (format {FORMAT_VERSION}), found one of version \
                 {tool_version} (format {format_version})"
            );
            return Err(refuse(path, message));
        }
        let Head { hash: expected, modified, tags, .. } = serde_json::from_slice(head).map_err(broken)?;
        let body = body.get(1..).unwrap_or_default();
        let mut plan: PlanFile = serde_json::from_slice(body).map_err(broken)?;
        let found = hash(body);
        if found != expected {
            let message = format!("expected a plan with the hash {expected}, found {found}: it was changed");
            return Err(refuse(path, message));
        }
        let contradicts =
            |fault: String| refuse(path, format!("expected a plan without contradictions, found {fault}"));
        if modified.len() != plan.inputs.len() {
            return Err(contradicts(format!("{} times of {} inputs", modified.len(), plan.inputs.len())));
        }
        plan.inputs.iter_mut().zip(modified).for_each(|(input, modified)| input.identity.modified = modified);
        plan.inputs.iter_mut().zip(tags).for_each(|(input, tag)| input.identity.tag = tag);
        check::check(&plan.inputs, &plan.result, &plan.partitions).map_err(contradicts)?;
        Ok((plan, found))
    }
}

impl PlanText {
    /// BLAKE3 of what the plan says and of its version, in lower-case hexadecimal: equal for equal inputs and options,
    /// whenever the inputs were last written.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What is written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn without_times<S: Serializer>(inputs: &[PlannedInput], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(inputs.iter().map(PlannedInput::without_time))
}

fn hash(body: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{TOOL_VERSION}\n{FORMAT_VERSION}\n").as_bytes()).update(body);
    hasher.finalize().to_hex().to_string()
}

fn inexpressible(cause: serde_json::Error) -> Error {
    Error::bug("cannot write the plan").caused_by(cause)
}

fn refuse(path: &Path, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Input, message)
        .with_code(ErrorCode::UnusablePlan)
        .in_file(path)
        .with_hint("plan the recording again, with this program")
}
