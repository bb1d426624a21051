//! Parts of paths.

/// The last part of a path of Windows, where there is one.
pub(super) fn name(path: &str) -> Option<&str> {
    path.rsplit('\\').next().filter(|name| !name.is_empty())
}

/// What stands before the last part.
pub(super) fn folder(path: &str) -> Option<&str> {
    path.rsplit_once('\\').map(|(folder, _)| folder).filter(|folder| !folder.is_empty())
}

/// How an operation ended, by its NTSTATUS: its two highest bits are 0 or 1 of success and of information, 3 of errors, and warnings are
/// neither.
pub(super) fn is_success(status: i64) -> Option<bool> {
    match status.to_le_bytes()[3] >> 6 {
        0 | 1 => Some(true),
        3 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!((name(r"C:\a\b.txt"), folder(r"C:\a\b.txt")), (Some("b.txt"), Some(r"C:\a")));
        assert_eq!((name("b.txt"), folder("b.txt"), name(r"C:\"), folder(r"\b")), (Some("b.txt"), None, None, None));
    }

    #[test]
    fn errors_are_told_from_warnings() {
        assert_eq!(
            [0, 0x4000_0000, 0x8000_0005, 0xC000_0034].map(is_success),
            [Some(true), Some(true), None, Some(false)]
        );
        assert_eq!(is_success(-0x3FFF_FFCC), Some(false));
    }
}
