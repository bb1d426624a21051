//! What an issue is of, as one word.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the codes with their names in the sidecar, in the order of these.
macro_rules! issue_codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// What an issue is of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum IssueCode {
            $($(#[$doc])* #[serde(rename = $name)] $code,)*
        }

        impl IssueCode {
            /// All codes.
            pub const ALL: &[IssueCode] = &[$(IssueCode::$code),*];

            /// The code of a name.
            pub fn of_name(name: &str) -> Option<Self> {
                IssueCode::ALL.iter().find(|code| code.as_str() == name).copied()
            }

            /// The name used in the sidecar.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(IssueCode::$code => $name,)*
                }
            }
        }
    };
}

issue_codes! {
    /// Advice: buffers found no room on the disk.
    AdviceDiskSpace = "advice_disk_space",
    /// Advice: events were likely larger than a buffer.
    AdviceEventSize = "advice_event_size",
    /// Advice: buffers were written before they were full.
    AdviceFlushTimer = "advice_flush_timer",
    /// Advice: the file ended at its maximum size.
    AdviceMaximumFileSize = "advice_maximum_file_size",
    /// Advice: what was lost is known of the sources of a merge.
    AdviceMergedSources = "advice_merged_sources",
    /// Advice: buffers were not there when events of the kernel came.
    AdviceMinimumBuffers = "advice_minimum_buffers",
    /// Advice: the buffers were likely full.
    AdviceMoreBuffers = "advice_more_buffers",
    /// Advice: all processors shared few buffers.
    AdvicePerProcessorBuffers = "advice_per_processor_buffers",
    /// Advice: a consumer of the session was likely too slow.
    AdviceRealTimeConsumer = "advice_real_time_consumer",
    /// Advice: a session that is stopped says what it lost.
    AdviceSessionStop = "advice_session_stop",
    /// Advice: the disk was likely too slow.
    AdviceWriteRate = "advice_write_rate",
    /// A manifest in the trace is not used.
    BadManifest = "bad_manifest",
    /// A description in the trace is not used.
    BadSchemaDescription = "bad_schema_description",
    /// The header counts other buffers than there are.
    BufferCountMismatch = "buffer_count_mismatch",
    /// The data of a buffer ends behind it.
    BufferEndOutOfRange = "buffer_end_out_of_range",
    /// Not all layouts of an event shape were tried.
    ChoiceLimit = "choice_limit",
    /// The declared clock cannot be the one of the times.
    ClockTypeOverruled = "clock_type_overruled",
    /// No frequency turns ticks into time.
    ClockUnscaled = "clock_unscaled",
    /// A table has more columns than one may have.
    ColumnsLeftOut = "columns_left_out",
    /// Bytes stand where a buffer should.
    DamagedBuffer = "damaged_buffer",
    /// A buffer's header is wrong, and the buffer is read.
    DamagedBufferHeader = "damaged_buffer_header",
    /// Bytes stand where an event should.
    DamagedEvent = "damaged_event",
    /// A buffer holds more than its header says.
    DataBehindEnd = "data_behind_end",
    /// More events describe others than are looked at.
    EventsNotLookedAt = "events_not_looked_at",
    /// The fields of some event shapes are not listed.
    FieldsLeftOut = "fields_left_out",
    /// Chunks of a manifest are missing.
    IncompleteManifest = "incomplete_manifest",
    /// A file of a series is not among the inputs.
    MissingFile = "missing_file",
    /// No layout fits the events of a shape.
    NoLayoutFits = "no_layout_fits",
    /// The session was never closed.
    NotClosed = "not_closed",
    /// The schema lock does not settle all names.
    NotInSchemaLock = "not_in_schema_lock",
    /// A layout fits with another pointer size only.
    PointerSizeMismatch = "pointer_size_mismatch",
    /// The rows of some processes have no name, because there are too many different ones.
    ProcessNamesLeftOut = "process_names_left_out",
    /// The file that backed a real-time session was damaged.
    RealTimeBackupDamaged = "real_time_backup_damaged",
    /// More places without a buffer than are listed.
    RegionsLeftOut = "regions_left_out",
    /// A buffer stands in the file twice.
    RepeatedBuffer = "repeated_buffer",
    /// An input has the same bytes as another.
    RepeatedInput = "repeated_input",
    /// More descriptions than are kept.
    SchemaLimit = "schema_limit",
    /// Layouts were chosen without a look at the events.
    ShapesWithoutSample = "shapes_without_sample",
    /// Several providers have one name.
    SharedProviderName = "shared_provider_name",
    /// Stack walks whose event is not found, or not looked for.
    StacksNotJoined = "stacks_not_joined",
    /// An older recording stands behind the last buffer.
    StaleTail = "stale_tail",
    /// A buffer begins before those before it have ended.
    StepBack = "step_back",
    /// A pause, or a clock that was set.
    StepForward = "step_forward",
    /// More datasets than a trace may have.
    TooManyDatasets = "too_many_datasets",
    /// More event shapes than are distinguished.
    TooManyShapes = "too_many_shapes",
    /// The file ends within a buffer.
    TruncatedBuffer = "truncated_buffer",
    /// Events are earlier than those before them in their buffer.
    UnsortedBuffer = "unsorted_buffer",
    /// A buffer cannot be expanded.
    UnsupportedCompression = "unsupported_compression",
    /// Descriptions fit no event.
    UnusedDescriptions = "unused_descriptions",
    /// A table has very many columns.
    WideTable = "wide_table",
    /// Unused space stands behind the last buffer.
    ZeroTail = "zero_tail",
}

impl fmt::Display for IssueCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::IssueCode;

    #[test]
    fn codes_are_in_the_order_of_their_names() {
        assert!(IssueCode::ALL.is_sorted_by_key(|code| code.as_str()));
        assert!(IssueCode::ALL.is_sorted());
        for code in IssueCode::ALL {
            assert_eq!(serde_json::to_string(code).unwrap(), format!("\"{code}\""));
        }
    }
}
