//! Starts and ends of processes, and modules.

use super::action::{Action, What, Whom};
use super::known::Known;
use super::row::ActionRow;

/// The start or the end of a process, or a module of one, of the kernel's own provider.
pub(super) fn of_manifest<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    match row.id? {
        1 => started(known, row),
        2 => ended(known, row),
        5 => Some(module(known, row, true)),
        6 => Some(module(known, row, false)),
        _ => None,
    }
}

/// The start or the end of a process, of the kernel's events without a manifest.
pub(super) fn of_kernel<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    match row.name? {
        "Process/Start" => started(known, row),
        "Process/End" => ended(known, row),
        _ => None,
    }
}

/// A module that is loaded or unloaded, of the kernel's events without a manifest.
pub(super) fn of_image<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    match row.name? {
        "Image/Load" => Some(module(known, row, true)),
        "Image/UnLoad" => Some(module(known, row, false)),
        _ => None,
    }
}

/// The process that an event is about: what the event says itself, before what the sidecar has of the id.
fn subject<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Whom<'a>> {
    let id = row.kernel_subject.or(row.manifest_subject)?;
    let whom = known.processes.at(known.machines.of(row.input), id, row.time?);
    let user = row.user.or(whom.user);
    let command_line = row.command_line.filter(|line| !line.is_empty()).or(whom.command_line);
    let parent = row.kernel_parent.or(row.manifest_parent).or(whom.parent);
    Some(Whom { name: row.image.or(whom.name), command_line, user, parent, ..whom })
}

fn started<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    let machine = known.machines.of(row.input);
    let process = subject(known, row)?;
    let actor = process.parent.map(|parent| known.processes.at(machine, parent, row.time.unwrap_or(0)));
    Some(Action { machine, actor, what: What::Started { process: Whom { started: row.time, ..process } } })
}

fn ended<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    let process = subject(known, row)?;
    let exit = row.exit_status.or(row.exit_code);
    let machine = known.machines.of(row.input);
    Some(Action { machine, actor: Some(process.clone()), what: What::Ended { process, exit } })
}

fn module<'a>(known: &'a Known, row: &ActionRow<'a>, is_loaded: bool) -> Action<'a> {
    let machine = known.machines.of(row.input);
    let id = row.kernel_subject.or(row.manifest_subject);
    let actor = id.map(|id| known.processes.at(machine, id, row.time.unwrap_or(0)));
    let path = row.file_name.or(row.image_name).filter(|path| !path.is_empty());
    Action { machine, actor, what: What::Module { is_loaded, path, base: row.base } }
}
