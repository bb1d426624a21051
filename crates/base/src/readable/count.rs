//! Numbers of things as people read them.

use indicatif::HumanCount;

/// So many of what `things` names in the plural: `1 buffer`, `1,200 buffers`.
pub fn counted(number: u64, things: &str) -> String {
    let things = if number == 1 { things.strip_suffix('s').unwrap_or(things) } else { things };
    format!("{} {things}", HumanCount(number))
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0, "events"), "0 events");
        assert_eq!(counted(1, "events"), "1 event");
        assert_eq!(counted(1234, "events"), "1,234 events");
    }
}
