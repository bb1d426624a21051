//! Amounts in the texts of advice.

/// A number of bytes: `4024 bytes`, `64 KiB`, `1.5 MiB`.
pub(super) fn bytes(count: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match count {
        1 => "1 byte".to_owned(),
        0..KIB => format!("{count} bytes"),
        KIB..MIB => in_units(count, KIB, "KiB"),
        _ => in_units(count, MIB, "MiB"),
    }
}

/// With one decimal, where it is not 0, rounded down.
fn in_units(count: u64, unit: u64, name: &str) -> String {
    let tenths = u128::from(count) * 10 / u128::from(unit);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        tenth => format!("{}.{tenth} {name}", tenths / 10),
    }
}

/// `1 event`, `2 events`.
pub(super) fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// How often a whole goes into an amount, with one decimal, rounded down: `2.8`; 0 of nothing.
pub(super) fn times(amount: u64, whole: u64) -> String {
    let tenths = (u128::from(amount) * 10).checked_div(u128::from(whole)).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A part of a whole in percent, rounded down; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> u128 {
    (u128::from(part) * 100).checked_div(u128::from(whole)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_unit() {
        let sizes = [0, 1, 1023, 1024, 65_536, 1600, (1 << 20) - 1, 1 << 20, 35 << 19, u64::MAX].map(bytes);
        let expected = [
            "0 bytes",
            "1 byte",
            "1023 bytes",
            "1 KiB",
            "64 KiB",
            "1.5 KiB",
            "1023.9 KiB",
            "1 MiB",
            "17.5 MiB",
            "17592186044415.9 MiB",
        ];
        assert_eq!(sizes, expected);
        assert_eq!([1, 2].map(|count| counted(count, "event")), ["1 event", "2 events"]);
        assert_eq!([(1, 0), (0, 3), (29, 10)].map(|(amount, whole)| times(amount, whole)), ["0.0", "0.0", "2.9"]);
        assert_eq!([(0, 0), (1, 3), (3, 3)].map(|(part, whole)| percent(part, whole)), [0, 33, 100]);
    }
}
