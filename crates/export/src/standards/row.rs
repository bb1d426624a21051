//! Rows of the datasets that standards name. What a dataset has no column of is unknown in all its rows.

use conversion::read_columns;

read_columns! {
    /// A row.
    pub(crate) struct ActionRow<'b> {
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        name: Option<&'b str> = "event_name",
        id: Option<i64> = "event_id",
        input: Option<i64> = "input",
        process: Option<i64> = "process_id",
        process_name: Option<&'b str> = "process_name",
        thread: Option<i64> = "thread_id",
        rendered: Option<&'b str> = "rendered_message",
        wpp: Option<&'b str> = "message",
        kernel_subject: Option<i64> = "ProcessId",
        manifest_subject: Option<i64> = "ProcessID",
        kernel_parent: Option<i64> = "ParentId",
        manifest_parent: Option<i64> = "ParentProcessID",
        exit_status: Option<i64> = "ExitStatus",
        exit_code: Option<i64> = "ExitCode",
        image: Option<&'b str> = "ImageFileName",
        image_name: Option<&'b str> = "ImageName",
        command_line: Option<&'b str> = "CommandLine",
        user: Option<&'b str> = "UserSID",
        base: Option<i64> = "ImageBase",
        file_name: Option<&'b str> = "FileName",
        open_path: Option<&'b str> = "OpenPath",
        file_path: Option<&'b str> = "FilePath",
        file_key: Option<i64> = "FileKey",
        file_object: Option<i64> = "FileObject",
        owner: Option<i64> = "PID",
        saddr: Option<&'b str> = "saddr",
        sport: Option<i64> = "sport",
        daddr: Option<&'b str> = "daddr",
        dport: Option<i64> = "dport",
        bytes: Option<u64> = "size",
        query: Option<&'b str> = "QueryName",
        query_type: Option<i64> = "QueryType",
        query_status: Option<i64> = "QueryStatus",
        query_results: Option<&'b str> = "QueryResults",
        key_name: Option<&'b str> = "KeyName",
        key_handle: Option<i64> = "KeyHandle",
        status: Option<i64> = "Status",
    }
}
