//! What the sidecar is made of.

use columnar::output::FileEntry;

use crate::convert::{InputCounts, ShapeCounts};
use crate::dimensions::Dimensions;
use crate::plan::PlanResult;
use crate::survey::{FileFacts, FileSurvey};

/// What the sidecar and the document about a trace are made of.
#[derive(Clone, Copy, Debug)]
pub struct SidecarFacts<'a> {
    /// The input files, in the order of their numbers.
    pub files: &'a [FileSurvey],
    /// What is known of each.
    pub facts: &'a [FileFacts],
    /// What pass 2 counted of each; where there is no entry, the columns are NULL.
    pub file_counts: &'a [InputCounts],
    /// The event shapes, in the order of their numbers.
    pub plan: &'a PlanResult,
    /// What pass 2 counted of each; where there is no entry, the columns are NULL.
    pub shape_counts: &'a [ShapeCounts],
    /// What ids meant.
    pub dimensions: &'a Dimensions,
    /// The trace's name.
    pub trace: &'a str,
    /// The files of its events.
    pub events: &'a [FileEntry],
}
