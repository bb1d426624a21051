//! Events that become markers: pauses and exceptions of .NET, disk, files, network, modules that are loaded, activities.

use base::error::Result;
use conversion::read_columns;
use fxprof_processed_profile::{MarkerTiming, Profile};
use published::event_names::{EXCEPTION, NETWORK, is_finished_disk_operation};
use published::gc_pauses::gc_pauses;

use super::chosen::Chosen;
use super::kinds::Kind;
use super::markers::{Markers, Said};
use super::threads::Threads;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::pairs::activities;

/// What markers are added to.
pub(super) struct Target<'a, 't> {
    pub(super) opened: &'a Opened<'t>,
    pub(super) chosen: &'a Chosen,
    pub(super) profile: &'a mut Profile,
    pub(super) threads: &'a mut Threads,
    pub(super) markers: &'a mut Markers,
    /// Those that are added.
    pub(super) count: u64,
}

/// Whose a marker is.
struct Whose {
    input: Option<i64>,
    process: Option<i64>,
    thread: Option<i64>,
}

read_columns! {
    /// An exception of .NET.
    struct Thrown<'b> {
        id: Option<i64> = "event_id",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        input: Option<i64> = "input",
        exception: Option<&'b str> = "ExceptionType",
        message: Option<&'b str> = "ExceptionMessage",
    }
}

read_columns! {
    /// A row of `Kernel-DiskIo`.
    struct DiskEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        input: Option<i64> = "input",
        disk: Option<u64> = "DiskNumber",
        bytes: Option<u64> = "TransferSize",
        took_ns: Option<i64> = "HighResResponseTime_ns",
    }
}

read_columns! {
    /// A row of `Kernel-FileIo`.
    struct FileEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "process_id",
        thread: Option<i64> = "thread_id",
        input: Option<i64> = "input",
        open_path: Option<&'b str> = "OpenPath",
        file_name: Option<&'b str> = "FileName",
        bytes: Option<u64> = "IoSize",
    }
}

read_columns! {
    /// A row of TCP or UDP.
    struct NetworkEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "PID",
        input: Option<i64> = "input",
        source: Option<&'b str> = "saddr",
        source_port: Option<i64> = "sport",
        destination: Option<&'b str> = "daddr",
        destination_port: Option<i64> = "dport",
        bytes: Option<u64> = "size",
    }
}

read_columns! {
    /// A row of `Kernel-Image`.
    struct LoadEvent<'b> {
        name: Option<&'b str> = "event_name",
        time: Option<i64> = "timestamp_ns",
        process: Option<i64> = "ProcessId",
        thread: Option<i64> = "thread_id",
        input: Option<i64> = "input",
        path: Option<&'b str> = "FileName",
        bytes: Option<u64> = "ImageSize",
    }
}

impl Target<'_, '_> {
    /// Reads all of them.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](base::error::ErrorKind::Output) when a table cannot be read.
    pub(super) fn read(&mut self, exported: &mut Exported) -> Result<()> {
        self.pauses(exported)?;
        self.exceptions()?;
        self.disk()?;
        self.files()?;
        for dataset in NETWORK {
            self.network(dataset)?;
        }
        self.image_loads()?;
        self.activities(exported)?;
        exported.events = exported.events.saturating_add(self.count);
        exported.warn_of(self.markers.left_out, "markers are left out: there are too many");
        Ok(())
    }

    fn add(&mut self, whose: &Whose, (from, to): (i64, i64), kind: Kind, said: &[Said<'_>]) {
        let machine = self.opened.source.machine(whose.input);
        self.add_on(machine, whose, (from, to), kind, said);
    }

    fn add_on(&mut self, machine: i64, whose: &Whose, (from, to): (i64, i64), kind: Kind, said: &[Said<'_>]) {
        if !self.chosen.has(machine, whose.process) {
            return;
        }
        let thread = self.threads.thread(self.profile, (machine, whose.process), whose.thread);
        let timing = if from < to {
            MarkerTiming::Interval(self.threads.at(from), self.threads.at(to))
        } else {
            MarkerTiming::Instant(self.threads.at(to))
        };
        let added = self.markers.add(self.profile, thread, timing, kind, said);
        self.count = self.count.saturating_add(u64::from(added.is_some()));
    }

    fn pauses(&mut self, exported: &mut Exported) -> Result<()> {
        let found = gc_pauses(&self.opened.source, self.opened.filter.as_deref())?;
        exported.warn_of(found.left_out, "begins and ends of pauses of .NET are left out: there are too many");
        for pause in &found.pauses {
            let whose = Whose { input: None, process: pause.process, thread: None };
            let said = [Said::Text(found.reason(pause))];
            self.add_on(pause.machine, &whose, (pause.from, pause.to), Kind::GcPause, &said);
        }
        Ok(())
    }

    fn exceptions(&mut self) -> Result<()> {
        let opened = self.opened;
        opened.events::<Thrown<'_>>("Microsoft-Windows-DotNETRuntime", |row| {
            let Some(time) = row.time.filter(|_| row.id == Some(EXCEPTION)) else { return };
            let whose = Whose { input: row.input, process: row.process, thread: row.thread };
            self.add(&whose, (time, time), Kind::Exception, &[Said::Text(row.exception), Said::Text(row.message)]);
        })?;
        Ok(())
    }

    fn disk(&mut self) -> Result<()> {
        let opened = self.opened;
        opened.events::<DiskEvent<'_>>("Kernel-DiskIo", |row| {
            let Some((time, name)) = row.time.zip(row.name) else { return };
            if !is_finished_disk_operation(name) {
                return;
            }
            let from = row.took_ns.and_then(|took| time.checked_sub(took)).unwrap_or(time);
            let said = [operation(name, "DiskIo/"), Said::Number(row.bytes), Said::Number(row.disk)];
            let whose = Whose { input: row.input, process: row.process, thread: row.thread };
            self.add(&whose, (from, time), Kind::Disk, &said);
        })?;
        Ok(())
    }

    fn files(&mut self) -> Result<()> {
        let opened = self.opened;
        opened.events::<FileEvent<'_>>("Kernel-FileIo", |row| {
            let Some((time, name)) = row.time.zip(row.name) else { return };
            // Those describe files that are open, and ends of operations.
            if ["FileIo/FileRundown", "FileIo/Name", "FileIo/OperationEnd"].contains(&name) {
                return;
            }
            let path = Said::Text(row.open_path.or(row.file_name));
            let said = [operation(name, "FileIo/"), path, Said::Number(row.bytes)];
            let whose = Whose { input: row.input, process: row.process, thread: row.thread };
            self.add(&whose, (time, time), Kind::File, &said);
        })?;
        Ok(())
    }

    fn network(&mut self, dataset: &str) -> Result<()> {
        let opened = self.opened;
        opened.events::<NetworkEvent<'_>>(dataset, |row| {
            let Some((time, name)) = row.time.zip(row.name) else { return };
            let end = |address: Option<&str>, port: Option<i64>| {
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                format!("{}{port}", address.unwrap_or("?"))
            };
            let ends = format!("{} {}", end(row.source, row.source_port), end(row.destination, row.destination_port));
            let said = [Said::Text(Some(name)), Said::Text(Some(&ends)), Said::Number(row.bytes)];
            self.add(
                &Whose { input: row.input, process: row.process, thread: None },
                (time, time),
                Kind::Network,
                &said,
            );
        })?;
        Ok(())
    }

    fn image_loads(&mut self) -> Result<()> {
        let opened = self.opened;
        opened.events::<LoadEvent<'_>>("Kernel-Image", |row| {
            let Some(time) = row.time.filter(|_| row.name == Some("Image/Load")) else { return };
            let whose = Whose { input: row.input, process: row.process, thread: row.thread };
            self.add(&whose, (time, time), Kind::ImageLoad, &[Said::Text(row.path), Said::Number(row.bytes)]);
        })?;
        Ok(())
    }

    fn activities(&mut self, exported: &mut Exported) -> Result<()> {
        let found = activities(self.opened)?;
        found.warn("activities", exported);
        for (start, stop) in found.iter() {
            let whose = Whose { input: None, process: start.process, thread: start.thread };
            let activity = start.key.activity.to_string();
            let related = start.detail.0.map(|related| related.to_string());
            let said = [found.name(start), found.provider(start), Some(&*activity), related.as_deref()].map(Said::Text);
            self.add_on(start.machine, &whose, (start.time, stop.time), Kind::Activity, &said);
        }
        Ok(())
    }
}

/// What an event did, without the name of its class.
fn operation<'a>(name: &'a str, class: &str) -> Said<'a> {
    Said::Text(Some(name.strip_prefix(class).unwrap_or(name)))
}
