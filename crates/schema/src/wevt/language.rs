//! Which of several languages is taken.

/// American English.
const EN_US: u16 = 0x409;
/// The primary language English: the lower ten bits of a `LANGID`.
const ENGLISH: u16 = 9;
const PRIMARY: u16 = 0x3FF;

/// Whether texts of a language are English, or of none in particular.
pub(super) fn is_english(language: u16) -> bool {
    language == 0 || language & PRIMARY == ENGLISH
}

/// What orders languages: American English, none in particular, other English, any other; of these by number.
pub(super) fn rank(language: u16) -> (u8, u16) {
    let class = match language {
        EN_US => 0,
        0 => 1,
        _ if is_english(language) => 2,
        _ => 3,
    };
    (class, language)
}

/// The same for a folder that is called like its language; `None` where it is not.
pub(super) fn rank_of_folder(name: &str) -> Option<(u8, String)> {
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split('-');
    let first = parts.next().unwrap_or_default();
    let is_language = matches!(first.len(), 2 | 3) && first.bytes().all(|c| c.is_ascii_lowercase());
    let is_rest = parts.all(|part| matches!(part.len(), 2..=8) && part.bytes().all(|c| c.is_ascii_alphanumeric()));
    let class = match (lower.as_str(), first) {
        ("en-us", _) => 0,
        (_, "en") => 2,
        _ => 3,
    };
    (is_language && is_rest).then_some((class, lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn american_english_comes_first() {
        let mut languages = [0x407, 0x809, 0, 0x409, 0x40C];
        languages.sort_by_key(|&language| rank(language));
        assert_eq!(languages, [0x409, 0, 0x809, 0x407, 0x40C]);
        assert_eq!(languages.map(is_english), [true, true, true, false, false]);
    }

    #[test]
    fn folders_of_languages_are_ordered_alike() {
        let mut folders = ["fr-FR", "de-DE", "en-GB", "wbem", "EN-us", "zh-Hant-TW", "drivers", "a-b"];
        folders.sort_by_key(|name| rank_of_folder(name).map_or((9, String::new()), |rank| rank));
        assert_eq!(folders[..5], ["EN-us", "en-GB", "de-DE", "fr-FR", "zh-Hant-TW"]);
        assert_eq!(folders[5..].iter().map(|name| rank_of_folder(name)).collect::<Vec<_>>(), [None, None, None]);
    }
}
