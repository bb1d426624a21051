//! Points in time and durations as people read them.

use std::fmt::Write as _;

/// A duration in nanoseconds, in the units that fit its size: `1 d 02 h 03 min`, `4 min 05.6 s`, `1.234 ms`, `100 ns`.
pub fn duration(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let tenths = ns / 100_000_000 % 600;
    match ns {
        _ if days > 0 => format!("{days} d {hours:02} h {minutes:02} min"),
        _ if hours > 0 => format!("{hours} h {minutes:02} min {:02} s", seconds % 60),
        _ if minutes > 0 => format!("{minutes} min {:02}.{} s", tenths / 10, tenths % 10),
        1_000_000_000.. => decimal(ns / 1_000_000, "s"),
        1_000_000.. => decimal(ns / 1_000, "ms"),
        1_000.. => decimal(ns, "µs"),
        _ => format!("{ns} ns"),
    }
}

/// A signed distance between two times: `+1.234 ms`.
pub fn difference(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", duration(ns.unsigned_abs()))
}

/// Thousandths with up to three decimals.
fn decimal(thousandths: u64, unit: &str) -> String {
    let mut text = format!("{}", thousandths / 1000);
    if !thousandths.is_multiple_of(1000) {
        // Writing to a string cannot fail.
        let _ = write!(text, ".{:03}", thousandths % 1000);
        text.truncate(text.trim_end_matches('0').len());
    }
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_that_fit() {
        let t = |ns: u64, text: &str| assert_eq!(duration(ns), text);
        t(0, "0 ns");
        t(999, "999 ns");
        t(1_500, "1.5 µs");
        t(1_234_567, "1.234 ms");
        t(2_000_000_000, "2 s");
        t(59_999_999_999, "59.999 s");
        t(245_600_000_000, "4 min 05.6 s");
        t(3_723_000_000_000, "1 h 02 min 03 s");
        t(93_780_000_000_000, "1 d 02 h 03 min");
        assert_eq!(difference(-1_500_000), "-1.5 ms");
        assert_eq!(difference(0), "+0 ns");
        assert_eq!(difference(i64::MIN), "-106751 d 23 h 47 min");
    }
}
