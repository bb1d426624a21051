//! The Open Cybersecurity Schema Framework, version 1.8: <https://schema.ocsf.io/1.8.0>.

use base::calendar::rfc3339;
use serde_json::{Value, json};

use super::action::{Action, End, FileAccess, KeyAccess, Question, Step, Traffic, ValueAccess, Way, What, Whom};
use super::document::{Document, Told, Written};
use super::machines::Machine;
use super::parts::{folder, is_success, name};
use super::records::{answers, response_code, type_name};

const VERSION: &str = "1.8.0";

/// All attributes, in the order of their columns.
pub(super) const FIELDS: [&str; 87] = [
    "time",
    "time_dt",
    "message",
    "category_uid",
    "class_uid",
    "class_name",
    "activity_id",
    "activity_name",
    "type_uid",
    "severity_id",
    "status_id",
    "status_code",
    "metadata.version",
    "metadata.profiles",
    "metadata.product.name",
    "metadata.product.vendor_name",
    "metadata.log_name",
    "metadata.log_provider",
    "metadata.event_code",
    "metadata.sequence",
    "device.type_id",
    "device.hostname",
    "device.uid",
    "device.os.name",
    "device.os.type_id",
    "device.os.version",
    "device.os.build",
    "actor.process.pid",
    "actor.process.name",
    "actor.process.path",
    "actor.process.cmd_line",
    "actor.process.created_time",
    "actor.process.created_time_dt",
    "actor.process.user.uid",
    "actor.process.parent_process.pid",
    "process.pid",
    "process.name",
    "process.path",
    "process.cmd_line",
    "process.created_time",
    "process.created_time_dt",
    "process.terminated_time",
    "process.terminated_time_dt",
    "process.user.uid",
    "process.parent_process.pid",
    "process.parent_process.name",
    "process.parent_process.path",
    "process.parent_process.cmd_line",
    "process.parent_process.created_time",
    "process.parent_process.created_time_dt",
    "process.parent_process.user.uid",
    "process.parent_process.parent_process.pid",
    "exit_code",
    "module.base_address",
    "module.load_type_id",
    "module.file.name",
    "module.file.parent_folder",
    "module.file.path",
    "module.file.type_id",
    "file.name",
    "file.parent_folder",
    "file.path",
    "file.type_id",
    "reg_key.path",
    "reg_value.path",
    "reg_value.name",
    "reg_value.is_default",
    "connection_info.direction_id",
    "connection_info.protocol_name",
    "connection_info.protocol_num",
    "connection_info.protocol_ver_id",
    "src_endpoint.ip",
    "src_endpoint.port",
    "src_endpoint.hostname",
    "src_endpoint.uid",
    "dst_endpoint.ip",
    "dst_endpoint.port",
    "is_src_dst_assignment_known",
    "traffic.bytes",
    "query.hostname",
    "query.type",
    "query_time",
    "query_time_dt",
    "response_time",
    "rcode",
    "rcode_id",
    "answers",
];

/// A class of events, and what of it: the category, the class, its name, the activity, its name.
type Class = (u32, u32, &'static str, u32, &'static str);

const SYSTEM: u32 = 1;
const NETWORK: u32 = 4;
/// What no enumeration has a number for: the name says it.
const OTHER: u32 = 99;
const INFORMATIONAL: u32 = 1;
const WINDOWS: u32 = 100;
const REGULAR_FILE: u32 = 1;
const UNKNOWN: u32 = 0;

/// The document of an action.
pub(super) fn document(action: &Action<'_>, machine: Option<&Machine>, told: &Told<'_>) -> Written {
    let class = class(&action.what);
    if !has_what_is_demanded(action) {
        return Written::Lacking;
    }
    let mut document = Document::default();
    times(&mut document, "time", told.time);
    document.put("message", (told.message)());
    let (category, class, class_name, activity, activity_name) = class;
    document.put("category_uid", category);
    document.put("class_uid", class);
    document.put("class_name", class_name);
    document.put("activity_id", activity);
    document.put("activity_name", activity_name);
    document.put("type_uid", u64::from(class).saturating_mul(100).saturating_add(activity.into()));
    document.put("severity_id", INFORMATIONAL);
    metadata(&mut document, told);
    let uid = format!("{}/{}", told.trace, action.machine);
    device(&mut document, machine, &uid);
    if let Some(actor) = &action.actor {
        process(&mut document, "actor.process", actor);
    }
    match &action.what {
        What::Asked(_) | What::Answered { .. } => match machine.and_then(|machine| machine.name.as_deref()) {
            Some(name) => document.put("src_endpoint.hostname", name),
            None => document.put("src_endpoint.uid", uid),
        },
        _ => {}
    }
    of_what(&mut document, action, told);
    Written::Document(document)
}

/// Whether an action has what its class demands.
fn has_what_is_demanded(action: &Action<'_>) -> bool {
    match &action.what {
        What::Network(traffic) => traffic.ends.iter().any(|end| end.address.is_some()),
        What::Asked(_) | What::Answered { .. } => true,
        What::Started { .. } | What::Ended { .. } => action.actor.is_some(),
        What::Module { path, .. } | What::File { path, .. } => action.actor.is_some() && path.and_then(name).is_some(),
        What::Key { path, .. } => action.actor.is_some() && path.is_some(),
        What::Value { key, .. } => action.actor.is_some() && key.is_some(),
    }
}

fn class(what: &What<'_>) -> Class {
    let of_process = |activity, name| (SYSTEM, 1007, "Process Activity", activity, name);
    let of_module = |activity, name| (SYSTEM, 1005, "Module Activity", activity, name);
    let of_network = |activity, name| (NETWORK, 4001, "Network Activity", activity, name);
    let of_dns = |activity, name| (NETWORK, 4003, "DNS Activity", activity, name);
    let of_value = |activity, name| (SYSTEM, 201_002, "Registry Value Activity", activity, name);
    match what {
        What::Started { .. } => of_process(1, "Launch"),
        What::Ended { .. } => of_process(2, "Terminate"),
        What::Module { is_loaded: true, .. } => of_module(1, "Load"),
        What::Module { is_loaded: false, .. } => of_module(2, "Unload"),
        What::Network(Traffic { step: Step::Opened, .. }) => of_network(1, "Open"),
        What::Network(Traffic { step: Step::Closed, .. }) => of_network(2, "Close"),
        What::Network(Traffic { step: Step::Moved, .. }) => of_network(6, "Traffic"),
        What::Asked(_) => of_dns(1, "Query"),
        What::Answered { .. } => of_dns(2, "Response"),
        What::Key { access, .. } => {
            let (activity, name) = of_key(*access);
            (SYSTEM, 201_001, "Registry Key Activity", activity, name)
        }
        What::Value { access: ValueAccess::Read, .. } => of_value(1, "Get"),
        What::Value { access: ValueAccess::Set, .. } => of_value(2, "Set"),
        What::Value { access: ValueAccess::Deleted, .. } => of_value(4, "Delete"),
        What::File { access, .. } => {
            let (activity, name) = of_file(*access);
            (SYSTEM, 1001, "File System Activity", activity, name)
        }
    }
}

fn of_key(access: KeyAccess) -> (u32, &'static str) {
    match access {
        KeyAccess::Opened => (OTHER, "Open"),
        KeyAccess::OpenedOrCreated => (OTHER, "Open or Create"),
        KeyAccess::Read => (2, "Read"),
        KeyAccess::Modified => (3, "Modify"),
        KeyAccess::Deleted => (4, "Delete"),
        KeyAccess::Secured => (6, "Set Security"),
    }
}

fn of_file(access: FileAccess) -> (u32, &'static str) {
    match access {
        FileAccess::Created => (1, "Create"),
        FileAccess::Read => (2, "Read"),
        FileAccess::Written => (3, "Update"),
        FileAccess::Deleted => (4, "Delete"),
        FileAccess::Renamed => (5, "Rename"),
        FileAccess::AttributesSet => (6, "Set Attributes"),
        FileAccess::SecuritySet => (7, "Set Security"),
        FileAccess::AttributesRead => (8, "Get Attributes"),
        FileAccess::SecurityRead => (9, "Get Security"),
        FileAccess::Opened => (14, "Open"),
    }
}

/// A time in milliseconds, as all events have it, and with nanoseconds, as the profile of dates has it.
fn times(document: &mut Document, at: &str, time: i64) {
    document.put(at, time.div_euclid(1_000_000));
    document.put(&format!("{at}_dt"), rfc3339(time));
}

fn metadata(document: &mut Document, told: &Told<'_>) {
    document.put("metadata.version", VERSION);
    document.put("metadata.profiles", vec!["datetime", "host"]);
    document.put("metadata.product.name", "Windows");
    document.put("metadata.product.vendor_name", "Microsoft");
    document.put("metadata.log_name", told.trace);
    document.maybe("metadata.log_provider", told.provider);
    let code = told.name.map(str::to_owned).or(told.id.map(|id| id.to_string()));
    document.maybe("metadata.event_code", code);
    document.maybe("metadata.sequence", told.seq);
}

fn device(document: &mut Document, machine: Option<&Machine>, uid: &str) {
    document.put("device.type_id", UNKNOWN);
    document.put("device.uid", uid);
    document.put("device.os.name", "Windows");
    document.put("device.os.type_id", WINDOWS);
    if let Some(machine) = machine {
        document.maybe("device.hostname", machine.name.as_deref());
        document.maybe("device.os.version", machine.version.as_deref());
        document.maybe("device.os.build", machine.build.map(|build| build.to_string()));
    }
}

fn process(document: &mut Document, at: &str, process: &Whom<'_>) {
    document.put(&format!("{at}.pid"), process.id);
    document.maybe(&format!("{at}.name"), process.name);
    document.maybe(&format!("{at}.path"), process.path);
    document.maybe(&format!("{at}.cmd_line"), process.command_line);
    if let Some(started) = process.started {
        times(document, &format!("{at}.created_time"), started);
    }
    document.maybe(&format!("{at}.user.uid"), process.user);
}

fn of_what(document: &mut Document, action: &Action<'_>, told: &Told<'_>) {
    let parent_of = |process: &Whom<'_>| process.parent;
    match &action.what {
        What::Started { process: it } => {
            process(document, "process", it);
            if let Some(parent) = &action.actor {
                process(document, "process.parent_process", parent);
            }
        }
        What::Ended { process: it, exit } => {
            process(document, "process", it);
            document.maybe("process.parent_process.pid", parent_of(it));
            times(document, "process.terminated_time", told.time);
            document.maybe("exit_code", *exit);
        }
        What::Module { path, base, .. } => {
            document.maybe("module.base_address", base.map(|base| format!("{base:#x}")));
            document.put("module.load_type_id", UNKNOWN);
            file(document, "module.file", *path, REGULAR_FILE);
        }
        What::Network(traffic) => network(document, traffic),
        What::Asked(question) => {
            asked(document, question);
            times(document, "query_time", told.time);
        }
        What::Answered { question, status, results } => {
            asked(document, question);
            document.put("response_time", told.time.div_euclid(1_000_000));
            answered(document, *status, results.unwrap_or_default());
        }
        What::Key { path, status, .. } => {
            document.maybe("reg_key.path", path.as_deref());
            outcome(document, *status);
        }
        What::Value { key, name, status, .. } => {
            document.maybe("reg_value.path", *key);
            document.put("reg_value.name", *name);
            document.put("reg_value.is_default", name.is_empty());
            outcome(document, *status);
        }
        What::File { path, .. } => file(document, "file", *path, UNKNOWN),
    }
}

fn file(document: &mut Document, at: &str, path: Option<&str>, kind: u32) {
    document.maybe(&format!("{at}.name"), path.and_then(name));
    document.maybe(&format!("{at}.parent_folder"), path.and_then(folder));
    document.maybe(&format!("{at}.path"), path);
    document.put(&format!("{at}.type_id"), kind);
}

/// How an operation ended, by its NTSTATUS.
fn outcome(document: &mut Document, status: Option<i64>) {
    document.maybe("status_id", status.and_then(is_success).map(|is_success| if is_success { 1 } else { 2 }));
    document.maybe("status_code", status.map(|status| format!("{:#010x}", status & 0xFFFF_FFFF)));
}

fn network(document: &mut Document, traffic: &Traffic<'_>) {
    let [from, to] = &traffic.ends;
    let direction = match traffic.way {
        Some(Way::In) => 1,
        Some(Way::Out) => 2,
        None => 0,
    };
    document.put("connection_info.direction_id", direction);
    let (name, number) = if traffic.is_tcp { ("tcp", 6) } else { ("udp", 17) };
    document.put("connection_info.protocol_name", name);
    document.put("connection_info.protocol_num", number);
    let version = from.address.or(to.address).map(|address| if address.contains(':') { 6 } else { 4 });
    document.maybe("connection_info.protocol_ver_id", version);
    endpoint(document, "src_endpoint", from);
    endpoint(document, "dst_endpoint", to);
    document.put("is_src_dst_assignment_known", traffic.is_way_known);
    document.maybe("traffic.bytes", traffic.bytes);
}

fn endpoint(document: &mut Document, at: &str, end: &End<'_>) {
    if let Some(address) = end.address {
        document.put(&format!("{at}.ip"), address);
        document.maybe(&format!("{at}.port"), end.port);
    }
}

fn asked(document: &mut Document, question: &Question<'_>) {
    document.put("query.hostname", question.name);
    document.maybe("query.type", question.kind.map(|kind| type_name(kind).into_owned()));
}

fn answered(document: &mut Document, status: Option<i64>, results: &str) {
    let code = status.and_then(response_code);
    document.maybe("rcode_id", code.map(|(number, ..)| number));
    document.maybe("rcode", code.map(|(.., name)| name));
    document.maybe("status_id", status.map(|status| if status == 0 { 1 } else { 2 }));
    document.maybe("status_code", status.map(|status| status.to_string()));
    let objects: Vec<Value> = answers(results).map(|answer| answer.object("rdata")).collect();
    document.maybe("answers", (!objects.is_empty()).then(|| json!(objects)));
}
