//! The layout that an event version has where payloads fit another layout as well.

use std::fmt;

use super::family::Family;

/// A layout by what is seen of it: the names that its columns begin with and their families, in order; structures in front of
/// their members, whose names stand behind theirs and a dot.
#[derive(Clone, Debug)]
pub struct SettledLayout {
    fields: Vec<(String, Family)>,
}

impl SettledLayout {
    /// The layout of these fields.
    pub fn new(fields: Vec<(String, Family)>) -> SettledLayout {
        SettledLayout { fields }
    }

    /// Reads cells like `Size int`; `None` where one is none, or there is none.
    pub(super) fn read(cells: &[&str]) -> Option<SettledLayout> {
        let field = |cell: &&str| {
            let (name, family) = cell.rsplit_once(' ')?;
            Some((name.to_owned(), Family::of_name(family)?)).filter(|(name, _)| !name.is_empty())
        };
        let fields: Vec<_> = cells.iter().map(field).collect::<Option<_>>()?;
        (!fields.is_empty()).then_some(SettledLayout { fields })
    }

    /// Whether nothing of it is seen.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// Names that differ in case alone are one column.
impl PartialEq for SettledLayout {
    fn eq(&self, other: &Self) -> bool {
        let key = |(name, family): &(String, Family)| (name.to_lowercase(), family.clone());
        self.fields.iter().map(key).eq(other.fields.iter().map(key))
    }
}

impl Eq for SettledLayout {}

impl fmt::Display for SettledLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells: Vec<String> = self.fields.iter().map(|(name, family)| format!("{name} {family}")).collect();
        f.write_str(&cells.join("\t"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_read_as_it_is_written() {
        let layout = SettledLayout::read(&["S list_struct", "S.Id int"]).unwrap();
        assert_eq!(layout.to_string(), "S list_struct\tS.Id int");
        assert_eq!(Some(&layout), SettledLayout::read(&["s list_struct", "s.id int"]).as_ref());
        for other in [&["S list_struct"][..], &["S list_struct", "S.Id text"], &["S.Id int", "S list_struct"]] {
            assert_ne!(Some(&layout), SettledLayout::read(other).as_ref(), "{other:?}");
        }
        for refused in [&[][..], &["Id"], &[" int"], &["Id number"], &["Id int", ""]] {
            assert_eq!(SettledLayout::read(refused), None, "{refused:?}");
        }
    }
}
