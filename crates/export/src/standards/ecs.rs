//! The Elastic Common Schema, version 8.17: <https://www.elastic.co/docs/reference/ecs>.

use base::calendar::rfc3339;
use serde_json::Value;

use super::action::{Action, End, FileAccess, KeyAccess, Question, Step, Traffic, ValueAccess, Way, What, Whom};
use super::document::{Document, Told, Written};
use super::machines::Machine;
use super::parts::{folder, is_success, name};
use super::records::{Answer, answers, response_code, type_name};

const VERSION: &str = "8.17.0";

/// All fields, in the order of their columns.
pub(super) const FIELDS: [&str; 56] = [
    "@timestamp",
    "message",
    "ecs.version",
    "event.kind",
    "event.category",
    "event.type",
    "event.action",
    "event.code",
    "event.provider",
    "event.sequence",
    "event.outcome",
    "host.hostname",
    "host.os.type",
    "host.os.version",
    "process.pid",
    "process.name",
    "process.executable",
    "process.command_line",
    "process.start",
    "process.end",
    "process.exit_code",
    "process.thread.id",
    "process.parent.pid",
    "process.parent.name",
    "process.parent.executable",
    "process.parent.command_line",
    "process.parent.start",
    "user.id",
    "dll.name",
    "dll.path",
    "file.name",
    "file.directory",
    "file.path",
    "registry.hive",
    "registry.key",
    "registry.value",
    "registry.path",
    "network.transport",
    "network.type",
    "network.direction",
    "network.bytes",
    "network.protocol",
    "source.ip",
    "source.address",
    "source.port",
    "destination.ip",
    "destination.address",
    "destination.port",
    "dns.type",
    "dns.question.name",
    "dns.question.type",
    "dns.response_code",
    "dns.answers",
    "dns.resolved_ip",
    "related.ip",
    "labels.trace",
];

/// The document of an action.
pub(super) fn document(action: &Action<'_>, machine: Option<&Machine>, told: &Told<'_>) -> Written {
    let Some((category, kind)) = class(&action.what) else { return Written::NotNamed };
    let mut document = Document::default();
    document.put("@timestamp", rfc3339(told.time));
    document.put("message", (told.message)());
    document.put("ecs.version", VERSION);
    document.put("event.kind", "event");
    document.put("event.category", vec![category]);
    document.put("event.type", kind);
    document.maybe("event.action", told.name);
    document.maybe("event.code", told.id.map(|id| id.to_string()));
    document.maybe("event.provider", told.provider);
    document.maybe("event.sequence", told.seq);
    document.put("host.os.type", "windows");
    if let Some(machine) = machine {
        document.maybe("host.hostname", machine.name.as_deref());
        document.maybe("host.os.version", machine.version.as_deref());
    }
    document.put("labels.trace", told.trace);
    match &action.what {
        What::Started { process } => started(&mut document, process, action.actor.as_ref()),
        What::Ended { process, exit } => {
            process_of(&mut document, process);
            document.put("process.end", rfc3339(told.time));
            document.maybe("process.exit_code", *exit);
        }
        what => {
            if let Some(actor) = &action.actor {
                process_of(&mut document, actor);
                document.maybe("process.thread.id", told.thread.filter(|_| has_thread(what)));
            }
            of_what(&mut document, what);
        }
    }
    Written::Document(document)
}

/// The category of an event, and its types.
fn class(what: &What<'_>) -> Option<(&'static str, Vec<&'static str>)> {
    Some(match what {
        What::Started { .. } => ("process", vec!["start"]),
        What::Ended { .. } => ("process", vec!["end"]),
        What::Module { is_loaded: true, .. } => ("library", vec!["start"]),
        // Of libraries the standard names the begin alone.
        What::Module { is_loaded: false, .. } => return None,
        What::Network(Traffic { step: Step::Opened, .. }) => ("network", vec!["connection", "start"]),
        What::Network(Traffic { step: Step::Closed, .. }) => ("network", vec!["connection", "end"]),
        What::Network(Traffic { step: Step::Moved, .. }) => ("network", vec!["connection", "info"]),
        What::Asked(_) | What::Answered { .. } => ("network", vec!["protocol", "info"]),
        What::Key { access, .. } => ("registry", vec![of_key(*access)]),
        What::Value { access: ValueAccess::Read, .. } => ("registry", vec!["access"]),
        What::Value { access: ValueAccess::Set, .. } => ("registry", vec!["change"]),
        What::Value { access: ValueAccess::Deleted, .. } => ("registry", vec!["deletion"]),
        What::File { access, .. } => ("file", vec![of_file(*access)]),
    })
}

fn of_key(access: KeyAccess) -> &'static str {
    match access {
        KeyAccess::Opened | KeyAccess::OpenedOrCreated | KeyAccess::Read => "access",
        KeyAccess::Modified | KeyAccess::Secured => "change",
        KeyAccess::Deleted => "deletion",
    }
}

fn of_file(access: FileAccess) -> &'static str {
    match access {
        FileAccess::Created => "creation",
        FileAccess::Deleted => "deletion",
        FileAccess::Opened | FileAccess::Read | FileAccess::AttributesRead | FileAccess::SecurityRead => "access",
        FileAccess::Written | FileAccess::Renamed | FileAccess::AttributesSet | FileAccess::SecuritySet => "change",
    }
}

/// Whether the thread of an event is one of the process that did it: packets come in while anybody runs, and modules may be loaded
/// by others.
fn has_thread(what: &What<'_>) -> bool {
    !matches!(what, What::Network(_) | What::Module { .. })
}

fn started(document: &mut Document, process: &Whom<'_>, parent: Option<&Whom<'_>>) {
    process_of(document, process);
    if let Some(parent) = parent {
        texts_of(document, "process.parent", parent);
    }
}

/// A process, with its user and the id of its parent.
fn process_of(document: &mut Document, process: &Whom<'_>) {
    document.put("process.pid", process.id);
    texts_of(document, "process", process);
    document.maybe("user.id", process.user);
    document.maybe("process.parent.pid", process.parent);
}

fn texts_of(document: &mut Document, at: &str, process: &Whom<'_>) {
    document.maybe(&format!("{at}.name"), process.name);
    document.maybe(&format!("{at}.executable"), process.path);
    document.maybe(&format!("{at}.command_line"), process.command_line);
    document.maybe(&format!("{at}.start"), process.started.map(rfc3339));
}

fn of_what(document: &mut Document, what: &What<'_>) {
    match what {
        What::Module { path, .. } => {
            document.maybe("dll.path", *path);
            document.maybe("dll.name", path.and_then(name));
        }
        What::Network(traffic) => network(document, traffic),
        What::Asked(question) => asked(document, question, "query"),
        What::Answered { question, status, results } => {
            asked(document, question, "answer");
            answered(document, *status, results.unwrap_or_default());
        }
        What::Key { path, status, .. } => {
            registry(document, path.as_deref(), None);
            outcome(document, *status);
        }
        What::Value { key, name, status, .. } => {
            registry(document, *key, Some(name));
            outcome(document, *status);
        }
        What::File { path, .. } => {
            document.maybe("file.path", *path);
            document.maybe("file.name", path.and_then(name));
            document.maybe("file.directory", path.and_then(folder));
        }
        What::Started { .. } | What::Ended { .. } => {}
    }
}

fn outcome(document: &mut Document, status: Option<i64>) {
    let is_success = status.and_then(is_success);
    document.maybe("event.outcome", is_success.map(|is_success| if is_success { "success" } else { "failure" }));
}

fn network(document: &mut Document, traffic: &Traffic<'_>) {
    document.put("network.transport", if traffic.is_tcp { "tcp" } else { "udp" });
    let [from, to] = &traffic.ends;
    let kind = from.address.or(to.address).map(|address| if address.contains(':') { "ipv6" } else { "ipv4" });
    document.maybe("network.type", kind);
    document.maybe("network.bytes", traffic.bytes);
    document.maybe("network.direction", traffic.way.map(|way| if way == Way::In { "ingress" } else { "egress" }));
    if traffic.is_way_known {
        end(document, "source", from);
        end(document, "destination", to);
    }
    let mut related: Vec<&str> = [from, to].into_iter().filter_map(|end| end.address).collect();
    related.dedup();
    document.maybe("related.ip", Some(related).filter(|related| !related.is_empty()));
}

fn end(document: &mut Document, at: &str, end: &End<'_>) {
    document.maybe(&format!("{at}.ip"), end.address);
    document.maybe(&format!("{at}.address"), end.address);
    document.maybe(&format!("{at}.port"), end.port);
}

fn asked(document: &mut Document, question: &Question<'_>, kind: &str) {
    document.put("network.protocol", "dns");
    document.put("dns.type", kind);
    document.put("dns.question.name", question.name);
    document.maybe("dns.question.type", question.kind.map(|kind| type_name(kind).into_owned()));
}

fn answered(document: &mut Document, status: Option<i64>, results: &str) {
    document.maybe("dns.response_code", status.and_then(response_code).map(|(_, name, _)| name));
    let all: Vec<Answer<'_>> = answers(results).collect();
    let objects: Vec<Value> = all.iter().map(|answer| answer.object("data")).collect();
    document.maybe("dns.answers", Some(objects).filter(|objects| !objects.is_empty()));
    let addresses = all.iter().filter(|answer| answer.is_address());
    let addresses: Vec<String> = addresses.map(|answer| answer.data.clone().into_owned()).collect();
    document.maybe("dns.resolved_ip", Some(addresses).filter(|addresses| !addresses.is_empty()));
}

/// Hives that have an abbreviation.
const HIVES: [(&str, &str); 2] = [(r"\registry\machine", "HKLM"), (r"\registry\user", "HKU")];

fn registry(document: &mut Document, key: Option<&str>, value: Option<&str>) {
    document.maybe("registry.value", value);
    let Some(key) = key else { return };
    let found = HIVES.iter().find_map(|(prefix, hive)| {
        let (front, rest) = key.split_at_checked(prefix.len())?;
        (front.eq_ignore_ascii_case(prefix) && (rest.is_empty() || rest.starts_with('\\'))).then_some((*hive, rest))
    });
    let whole = match found {
        Some((hive, rest)) => {
            document.put("registry.hive", hive);
            document.put("registry.key", rest.trim_start_matches('\\'));
            format!("{hive}{rest}")
        }
        None => key.to_owned(),
    };
    document.put(
        "registry.path",
        match value {
            Some(value) => format!("{whole}\\{value}"),
            None => whole,
        },
    );
}
