//! What somebody may have meant who named something that is not there.

/// The candidate nearest to what was typed, if it is near: it differs in few letters, or one contains the other. Case
/// does not matter; of several the first.
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = typed.to_lowercase().chars().take(LONGEST).collect();
    // A third of the letters may be wrong.
    let limit = typed.len() / 3;
    let ranked = candidates.filter_map(|candidate| {
        let folded: Vec<char> = candidate.to_lowercase().chars().take(LONGEST).collect();
        let distance = distance(&typed, &folded);
        let is_part = typed.len() >= 3 && (contains(&folded, &typed) || contains(&typed, &folded));
        (distance <= limit || is_part).then_some((distance, candidate))
    });
    ranked.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Letters of a name that count.
const LONGEST: usize = 128;

fn contains(whole: &[char], part: &[char]) -> bool {
    part.len() >= 3 && whole.windows(part.len()).any(|window| window == part)
}

/// The fewest letters to put in, take out or exchange.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, letter) in a.iter().enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for column in 0..b.len() {
            let exchanged = diagonal + usize::from(*letter != b[column]);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["Kernel-Process", "Kernel-Thread", "Microsoft-Windows-DNS-Client", "WPP"];
        let t =
            |typed: &str, expected: Option<&str>| assert_eq!(nearest(typed, names.into_iter()), expected, "{typed}");
        t("Kernel-Proces", Some("Kernel-Process"));
        t("kernel-threda", Some("Kernel-Thread"));
        t("dns-client", Some("Microsoft-Windows-DNS-Client"));
        t("Microsoft-Windows-Kernel-Process", Some("Kernel-Process"));
        t("Mikrosoft-Windows-DNS-Klient", Some("Microsoft-Windows-DNS-Client"));
        t("Contoso-Shop", None);
        t("x", None);
        t("", None);
    }

    #[test]
    fn letters_are_put_in_taken_out_and_exchanged() {
        let t = |a: &str, b: &str, expected| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(distance(&letters(a), &letters(b)), expected, "{a} {b}");
        };
        t("", "", 0);
        t("", "abc", 3);
        t("abc", "", 3);
        t("kitten", "sitting", 3);
        t("flaw", "lawn", 2);
    }
}
