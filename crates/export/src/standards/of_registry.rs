//! What becomes of keys and values of the registry.

use std::borrow::Cow;

use super::action::{Action, KeyAccess, ValueAccess, What};
use super::known::Known;
use super::row::ActionRow;

/// What became of a key or a value.
pub(super) fn action<'a>(known: &'a Known, row: &ActionRow<'a>) -> Option<Action<'a>> {
    let machine = known.machines.of(row.input);
    let base = row.key_handle.and_then(|handle| known.keys.at(machine, handle, row.time?));
    let (name, status) = (row.key_name.unwrap_or_default(), row.status);
    let of_value = |access| What::Value { access, key: base, name, status };
    let of_key = |access| What::Key { access, path: below(base, row.key_handle, name), status };
    let what = match row.name?.strip_prefix("Registry/")? {
        "Create" => of_key(KeyAccess::OpenedOrCreated),
        "Open" => of_key(KeyAccess::Opened),
        // What a list is asked for is a number, and what its event names is no key below.
        "EnumerateKey" | "EnumerateValueKey" | "QueryMultipleValue" | "Query" => of_key(KeyAccess::Read),
        "SetInformation" => of_key(KeyAccess::Modified),
        "SetSecurity" => of_key(KeyAccess::Secured),
        "Delete" => of_key(KeyAccess::Deleted),
        "QueryValue" => of_value(ValueAccess::Read),
        "SetValue" => of_value(ValueAccess::Set),
        "DeleteValue" => of_value(ValueAccess::Deleted),
        _ => return None,
    };
    Some(Action { machine, actor: known.actor(row), what })
}

/// The path of a key below another one; `None` where that is not known.
fn below<'a>(base: Option<&'a str>, handle: Option<i64>, name: &'a str) -> Option<Cow<'a, str>> {
    match (base, name) {
        (_, name) if name.starts_with('\\') => Some(Cow::Borrowed(name)),
        (Some(base), "") => Some(Cow::Borrowed(base)),
        (Some(base), name) => Some(Cow::Owned(format!("{}\\{name}", base.trim_end_matches('\\')))),
        // Below no other: the path is whole.
        (None, name) if handle == Some(0) && !name.is_empty() => Some(Cow::Borrowed(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lies_below_that_of_its_handle() {
        let of = |base, handle, name| below(base, Some(handle), name).map(Cow::into_owned);
        assert_eq!(of(Some(r"\REGISTRY\USER"), 8, "S-1-5").as_deref(), Some(r"\REGISTRY\USER\S-1-5"));
        assert_eq!(of(Some(r"\REGISTRY\USER"), 8, "").as_deref(), Some(r"\REGISTRY\USER"));
        assert_eq!(of(Some(r"\REGISTRY\USER"), 8, r"\REGISTRY\MACHINE").as_deref(), Some(r"\REGISTRY\MACHINE"));
        assert_eq!([of(None, 8, "Run"), of(None, 0, "")], [None, None]);
        assert_eq!(of(None, 0, "Software").as_deref(), Some("Software"));
    }
}
