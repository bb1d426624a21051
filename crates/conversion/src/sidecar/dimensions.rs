//! `processes`, `threads`, `images`, `files` and `methods`: what ids meant, and when. Times are Unix nanoseconds; an id
//! means what a row says from `from_ns` on and up to, but not at, `to_ns`.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::row::sidecar_row;
use crate::dimensions::{Dimensions, ShownPaths, Span, file, file_name, image, method, process, thread};
use crate::plan::PlanResult;

sidecar_row! {
    /// A span of a process id.
    "processes" ProcessRow<'a> {
        /// The id.
        process_id: u32,
        /// Address of the process object: no two processes at a time have the same.
        unique_process_key: Option<i64>,
        /// Id of the process that started it.
        parent_process_id: Option<u32>,
        /// File name of its image.
        image_name: Option<&'a str>,
        /// Path of its image.
        image_path: Option<Cow<'a, str>>,
        /// Command line.
        command_line: Option<&'a str>,
        /// Its user.
        user_sid: Option<&'a str>,
        /// Terminal session.
        session_id: Option<u32>,
        /// Full name of its package.
        package_name: Option<&'a str>,
        /// When it started, where the trace records it.
        started_ns: Option<i64>,
        /// When it ended, where that was seen.
        ended_ns: Option<i64>,
        /// From when on the id meant it.
        from_ns: i64,
        /// Until when.
        to_ns: i64,
        /// What it ended with.
        exit_status: Option<i64>,
        /// Whether it runs code of 64 bits.
        is_64_bit: Option<bool>,
        /// Whether it had ended before the recording began, and only its object was left.
        is_defunct: Option<bool> => since 4,
        /// The event that described it first.
        source_of: Option<&'a str>,
        /// The machine on which the id meant it, as in `sessions`.
        machine: u16,
    }
}

sidecar_row! {
    /// A span of a thread id.
    "threads" ThreadRow<'a> {
        /// The id.
        thread_id: u32,
        /// Its process.
        process_id: Option<u32>,
        /// Where it was asked to start.
        start_address: Option<i64>,
        /// Its name.
        name: Option<&'a str>,
        /// When it started, where that was seen.
        started_ns: Option<i64>,
        /// When it ended, where that was seen.
        ended_ns: Option<i64>,
        /// From when on the id meant it.
        from_ns: i64,
        /// Until when.
        to_ns: i64,
        /// The event that described it first.
        source_of: Option<&'a str>,
        /// The machine on which the id meant it, as in `sessions`.
        machine: u16,
    }
    rising: "thread_id"
}

sidecar_row! {
    /// A module in a process.
    "images" ImageRow<'a> {
        /// The process; 0 is the system.
        process_id: u32,
        /// Its base address.
        base: i64,
        /// Bytes.
        size: Option<i64>,
        /// Path.
        path: Option<Cow<'a, str>>,
        /// The path without its folders.
        file_name: Option<&'a str>,
        /// Time stamp of its headers.
        time_stamp: Option<u32>,
        /// Checksum of its headers.
        checksum: Option<u32>,
        /// Name of its symbol file.
        pdb_name: Option<&'a str>,
        /// GUID of its symbol file.
        pdb_guid: Option<&'a str>,
        /// Age of its symbol file.
        pdb_age: Option<u32>,
        /// From when on it was there.
        from_ns: i64,
        /// Until when.
        to_ns: i64,
        /// The event that described it first.
        source_of: Option<&'a str>,
        /// The machine on which the id meant it, as in `sessions`.
        machine: u16,
    }
}

sidecar_row! {
    /// A span of a file key.
    "files" FileRow<'a> {
        /// Address of the file's control block or of a file object.
        file_key: i64,
        /// Path.
        path: Option<Cow<'a, str>>,
        /// From when on the key meant it.
        from_ns: i64,
        /// Until when.
        to_ns: i64,
        /// The event that described it first.
        source_of: Option<&'a str>,
        /// The machine on which the id meant it, as in `sessions`.
        machine: u16,
    }
    rising: "file_key"
}

sidecar_row! {
    /// A body of a method of .NET or JavaScript.
    "methods" MethodRow<'a> {
        /// The process.
        process_id: u32,
        /// Its address.
        base: i64,
        /// Bytes.
        size: Option<i64>,
        /// Namespace and class.
        namespace: Option<&'a str>,
        /// Name.
        name: Option<&'a str>,
        /// Signature.
        signature: Option<&'a str>,
        /// How it was compiled, of .NET.
        tier: Option<&'a str>,
        /// From when on it was there.
        from_ns: i64,
        /// Until when.
        to_ns: i64,
        /// The event that described it first.
        source_of: Option<&'a str>,
        /// The machine on which the id meant it, as in `sessions`.
        machine: u16,
    }
    rising: "base"
}

/// The dimension tables of a recording; source names are those of the plan.
#[derive(Clone, Copy, Debug)]
pub struct DimensionRows<'a> {
    /// What ids meant.
    pub dimensions: &'a Dimensions,
    /// The event shapes.
    pub plan: &'a PlanResult,
    /// The paths of modules, once a row has asked for them.
    pub shown: &'a OnceCell<ShownPaths>,
}

impl<'a> DimensionRows<'a> {
    /// `processes`.
    pub fn processes(self) -> impl Iterator<Item = ProcessRow<'a>> {
        self.dimensions.processes.iter().map(move |span| {
            let path = self.text(span, process::IMAGE);
            ProcessRow {
                process_id: id(span.key),
                unique_process_key: signed(span, process::UNIQUE_KEY),
                parent_process_id: number(span, process::PARENT),
                image_name: path.map(file_name),
                image_path: path
                    .filter(|path| path.contains('\\'))
                    .map(|path| self.dimensions.paths.path(span.machine, path)),
                command_line: self.text(span, process::COMMAND_LINE),
                user_sid: self.text(span, process::USER),
                session_id: number(span, process::SESSION),
                package_name: self.text(span, process::PACKAGE),
                started_ns: started(span),
                ended_ns: span.ended_ns(),
                from_ns: span.from_ns,
                to_ns: span.to_ns,
                exit_status: signed(span, process::EXIT_STATUS),
                is_64_bit: is_64_bit(span),
                is_defunct: Some(span.is_defunct()),
                source_of: self.source(span),
                machine: span.machine,
            }
        })
    }

    /// `threads`.
    pub fn threads(self) -> impl Iterator<Item = ThreadRow<'a>> {
        self.dimensions.threads.iter().map(move |span| ThreadRow {
            thread_id: id(span.key),
            process_id: number(span, thread::PROCESS),
            start_address: signed(span, thread::START_ADDRESS),
            name: self.text(span, thread::NAME),
            started_ns: span.started_ns(),
            ended_ns: span.ended_ns(),
            from_ns: span.from_ns,
            to_ns: span.to_ns,
            source_of: self.source(span),
            machine: span.machine,
        })
    }

    /// `images`.
    pub fn images(self) -> impl Iterator<Item = ImageRow<'a>> {
        self.dimensions.images.iter().map(move |span| {
            let path = self.text(span, image::PATH);
            ImageRow {
                process_id: id(span.scope),
                base: span.key.cast_signed(),
                size: signed(span, image::SIZE),
                path: self.shown_paths().get(self.dimensions, span, image::PATH),
                file_name: path.map(file_name),
                time_stamp: number(span, image::TIME_STAMP),
                checksum: number(span, image::CHECKSUM),
                pdb_name: self.text(span, image::PDB_NAME),
                pdb_guid: self.text(span, image::PDB_GUID),
                pdb_age: number(span, image::PDB_AGE),
                from_ns: span.from_ns,
                to_ns: span.to_ns,
                source_of: self.source(span),
                machine: span.machine,
            }
        })
    }

    /// `files`.
    pub fn files(self) -> impl Iterator<Item = FileRow<'a>> {
        self.dimensions.files.iter().map(move |span| FileRow {
            file_key: span.key.cast_signed(),
            path: self.text(span, file::PATH).map(|path| self.dimensions.paths.path(span.machine, path)),
            from_ns: span.from_ns,
            to_ns: span.to_ns,
            source_of: self.source(span),
            machine: span.machine,
        })
    }

    /// `methods`.
    pub fn methods(self) -> impl Iterator<Item = MethodRow<'a>> {
        self.dimensions.methods.iter().map(move |span| MethodRow {
            process_id: id(span.scope),
            base: span.key.cast_signed(),
            size: signed(span, method::SIZE),
            namespace: self.text(span, method::NAMESPACE),
            name: self.text(span, method::NAME),
            signature: self.text(span, method::SIGNATURE),
            tier: span.number(method::FLAGS).and_then(method::tier),
            from_ns: span.from_ns,
            to_ns: span.to_ns,
            source_of: self.source(span),
            machine: span.machine,
        })
    }

    fn shown_paths(self) -> &'a ShownPaths {
        self.shown.get_or_init(|| ShownPaths::of(self.dimensions, &self.dimensions.images, image::PATH))
    }

    fn text(self, span: &Span, place: usize) -> Option<&'a str> {
        self.dimensions.text(span, place)
    }

    /// The name of the event that described a subject first.
    fn source(self, span: &Span) -> Option<&'a str> {
        let shape = self.plan.shapes.get(span.shape as usize)?;
        self.plan.entry(shape).event_name()
    }
}

/// Of a 32-bit system no process is; of others the kernel's own events say it from version 4 on.
fn is_64_bit(span: &Span) -> Option<bool> {
    span.number(process::FLAGS).map(|flags| flags & (process::WOW64 | process::SYSTEM_32) == 0)
}

/// Ids have 32 bits.
fn id(key: u64) -> u32 {
    u32::try_from(key).unwrap_or(u32::MAX)
}

fn number(span: &Span, place: usize) -> Option<u32> {
    u32::try_from(span.number(place)?).ok()
}

/// A number with its bits unchanged.
fn signed(span: &Span, place: usize) -> Option<i64> {
    span.number(place).map(u64::cast_signed)
}

/// When a process was started: seen, or recorded.
fn started(span: &Span) -> Option<i64> {
    span.started_ns().or_else(|| signed(span, process::CREATE_TIME))
}
