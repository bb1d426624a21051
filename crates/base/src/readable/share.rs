//! Parts of a whole as people read them.

/// A part as a percentage that is 0 or 100 only where that is exact.
pub fn share(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    match tenths {
        _ if whole == 0 => "-".to_owned(),
        0 if part > 0 => "<0.1%".to_owned(),
        1000 => "100%".to_owned(),
        0 => "0%".to_owned(),
        _ => format!("{}.{}%", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_whole_only_where_that_is_exact() {
        let t = |part, whole, text: &str| assert_eq!(share(part, whole), text);
        t(0, 0, "-");
        t(0, 5, "0%");
        t(5, 5, "100%");
        t(1, 3, "33.3%");
        t(999_999, 1_000_000, "99.9%");
        t(1, 1_000_000, "<0.1%");
        t(u64::MAX, u64::MAX, "100%");
    }
}
