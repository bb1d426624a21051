//! What becomes of files.

use super::action::{Action, FileAccess, What};
use super::known::Known;
use super::row::ActionRow;

/// What became of a file; the path is that of the view `file_io`.
pub(super) fn action<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    let machine = known.machines.of(row.input);
    let name = row.name?;
    let access = access(name.strip_prefix("FileIo/").unwrap_or(name))?;
    let key = row.file_key.or(row.file_object);
    let by_key = key.and_then(|key| known.files.at(machine, key, row.time?));
    let told = row.open_path.or(row.file_name).or(row.file_path).filter(|path| !path.is_empty());
    // An event of opening has the path as it was asked for; the key means what was found.
    let is_opened = matches!(access, FileAccess::Opened | FileAccess::Created);
    let path = if is_opened { by_key.or(told) } else { told.or(by_key) };
    Some(Action { machine, actor: known.actor(row), what: What::File { access, path } })
}

fn access(operation: &str) -> Option<FileAccess> {
    Some(match operation {
        "Create" => FileAccess::Opened,
        "CreateNewFile" => FileAccess::Created,
        "Read" => FileAccess::Read,
        "Write" => FileAccess::Written,
        "Delete" | "SetDelete" | "DeletePath" => FileAccess::Deleted,
        "Rename" | "RenamePath" => FileAccess::Renamed,
        "SetInfo" | "SetInformation" => FileAccess::AttributesSet,
        "QueryInfo" | "QueryInformation" => FileAccess::AttributesRead,
        "SetSecurity" => FileAccess::SecuritySet,
        "QuerySecurity" => FileAccess::SecurityRead,
        _ => return None,
    })
}
