//! Names that providers of all kinds share which describe themselves (`schemas/recurring.txt`).

use std::sync::OnceLock;

use super::Pack;
use crate::settled::SettledNames;

impl Pack {
    /// What is settled of names that providers share which describe themselves: structures have the members of all their
    /// variants.
    pub fn recurring_names(&self) -> &'static SettledNames {
        static NAMES: OnceLock<SettledNames> = OnceLock::new();
        NAMES.get_or_init(|| {
            let read = SettledNames::read(schemas::RECURRING);
            let names = read.unwrap_or_else(|e| panic!("the embedded names are checked by the tests: {e}"));
            names.into_values().next().unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use base::guid::Guid;

    use super::*;

    #[test]
    fn the_text_is_what_would_be_written() {
        let names = Pack::builtin().recurring_names();
        let text = schemas::RECURRING;
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(['P', 'N'])).collect();
        assert_eq!(lines.join("\n") + "\n", names.lines(&Guid::ZERO));
        let members = |name: &str| names.columns().keys().filter(|key| key.starts_with(name)).count();
        assert_eq!((members("wilactivity."), members("wilresult."), names.columns().len()), (17, 17, 37));
    }
}
