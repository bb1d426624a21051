//! One field of the pack's text: `u32/pid ProcessID`, `w=#3 Name`, `{*#1 Values` to `}`.

use std::sync::Arc;

use crate::model::{Count, Field, FieldKind, FieldRef, Length, Meaning, ValueMap, Wire};

/// The wire types by their code.
#[rustfmt::skip]
const WIRES: &[(&str, Wire)] = &[
    ("null", Wire::Null), ("w", Wire::Utf16), ("a", Wire::Ansi), ("cw", Wire::CountedUtf16), ("ca", Wire::CountedAnsi),
    ("rcw", Wire::ReverseCountedUtf16), ("rca", Wire::ReverseCountedAnsi), ("restw", Wire::RestUtf16),
    ("resta", Wire::RestAnsi), ("wc", Wire::Utf16Unit), ("ac", Wire::AnsiChar), ("i8", Wire::Int8),
    ("i16", Wire::Int16), ("i32", Wire::Int32), ("i64", Wire::Int64), ("u8", Wire::UInt8), ("u16", Wire::UInt16),
    ("u32", Wire::UInt32), ("u64", Wire::UInt64), ("x32", Wire::HexInt32), ("x64", Wire::HexInt64),
    ("ptr", Wire::Pointer), ("size", Wire::SizeT), ("f32", Wire::Float), ("f64", Wire::Double), ("b32", Wire::Bool32),
    ("b8", Wire::Bool8), ("bin", Wire::Binary), ("cbin", Wire::CountedBinary), ("dump", Wire::HexDump),
    ("restbin", Wire::RestBinary), ("guid", Wire::Guid), ("ft", Wire::FileTime), ("st", Wire::SystemTime),
    ("tt", Wire::TraceTime), ("sid", Wire::Sid), ("wsid", Wire::WbemSid), ("ip4", Wire::IPv4), ("ip6", Wire::IPv6),
    ("port", Wire::Port), ("sock", Wire::SocketAddress), ("gaff", Wire::GroupAffinity),
];

/// The meanings by their code.
#[rustfmt::skip]
const MEANINGS: &[(&str, Meaning)] = &[
    ("hex", Meaning::Hex), ("text", Meaning::Text), ("utf8", Meaning::Utf8), ("xml", Meaning::Xml),
    ("json", Meaning::Json), ("bool", Meaning::Boolean), ("pid", Meaning::ProcessId), ("tid", Meaning::ThreadId),
    ("port", Meaning::Port), ("ip4", Meaning::IPv4), ("ip6", Meaning::IPv6), ("sock", Meaning::SocketAddress),
    ("win32", Meaning::Win32Error), ("ntstatus", Meaning::NtStatus), ("hresult", Meaning::HResult), ("ndis", Meaning::NdisStatus),
    ("ft", Meaning::FileTime), ("utc", Meaning::UtcTime), ("ticks", Meaning::Ticks), ("signed", Meaning::Signed),
    ("unsigned", Meaning::Unsigned), ("code", Meaning::CodePointer), ("pkcs7", Meaning::Pkcs7),
    ("noprint", Meaning::NoPrint),
];

/// Every wire type: the text has a code for each.
pub fn wire_types() -> impl Iterator<Item = Wire> {
    WIRES.iter().map(|&(_, wire)| wire)
}

/// Every meaning but [`Meaning::Plain`], which the text does not write.
pub fn meanings() -> impl Iterator<Item = Meaning> {
    MEANINGS.iter().map(|&(_, meaning)| meaning)
}

/// Reads a layout's cells; `maps` are the section's maps by number. The error says what is wrong with which cell.
pub(super) fn parse_layout(cells: &[&str], maps: &[Arc<ValueMap>]) -> Result<Vec<Field>, String> {
    let mut levels: Vec<(String, Count, Vec<Field>)> = vec![(String::new(), Count::One, vec![])];
    for cell in cells {
        if *cell == "}" {
            let (name, count, members) = levels.pop().expect("the outermost level is never closed");
            let (_, _, outer) = levels.last_mut().ok_or("`}` without `{`")?;
            outer.push(Field { count, ..Field::structure(name, members) });
            continue;
        }
        let (code, name) = cell.split_once(' ').ok_or_else(|| format!("`{cell}`: no blank between type and name"))?;
        let fault = |what: &str| format!("`{cell}`: {what}");
        let mut rules = Rules::parse(code, &levels).map_err(|what| fault(&what))?;
        if rules.code == "{" {
            levels.push((name.to_owned(), rules.count, vec![]));
            continue;
        }
        let field = rules.field(name, maps).map_err(|what| fault(&what))?;
        levels.last_mut().expect("the outermost level is never closed").2.push(field);
    }
    match (levels.pop(), levels.is_empty()) {
        (Some((_, _, fields)), true) => Ok(fields),
        _ => Err("`{` without `}`".to_owned()),
    }
}

/// A type code taken apart.
struct Rules<'a> {
    code: &'a str,
    meaning: &'a str,
    length: Length,
    count: Count,
    map: Option<usize>,
    optional: bool,
    hidden: bool,
}

impl<'a> Rules<'a> {
    /// From the right end to the left: each mark stands once, in the order `/ = * @ ? !`.
    fn parse(text: &'a str, levels: &[(String, Count, Vec<Field>)]) -> Result<Rules<'a>, String> {
        let (text, hidden) = text.strip_suffix('!').map_or((text, false), |t| (t, true));
        let (text, optional) = text.strip_suffix('?').map_or((text, false), |t| (t, true));
        let (text, map) = split_mark(text, '@');
        let map = map.map(|m| m.parse().map_err(|_| format!("map `{m}`"))).transpose()?;
        let (text, count) = split_mark(text, '*');
        let (text, length) = split_mark(text, '=');
        let (code, meaning) = split_mark(text, '/');
        let count = match count {
            None => Count::One,
            Some("rest") => Count::Rest,
            Some(rule) => match parse_rule(rule, levels)? {
                Rule::Constant(n) => Count::Fixed(n),
                Rule::Field(r) => Count::Field(r),
            },
        };
        let length = match length.map(|rule| parse_rule(rule, levels)).transpose()? {
            None => Length::Natural,
            Some(Rule::Constant(n)) => Length::Fixed(n),
            Some(Rule::Field(r)) => Length::Field(r),
        };
        Ok(Rules { code, meaning: meaning.unwrap_or(""), length, count, map, optional, hidden })
    }

    fn field(&mut self, name: &str, maps: &[Arc<ValueMap>]) -> Result<Field, String> {
        let wire = find(WIRES, self.code).ok_or_else(|| format!("type `{}`", self.code))?;
        let meaning = match self.meaning {
            "" => Meaning::Plain,
            code => find(MEANINGS, code).ok_or_else(|| format!("meaning `{code}`"))?,
        };
        let map = match self.map {
            None => None,
            Some(m) => Some(maps.get(m).ok_or_else(|| format!("map {m}"))?.clone()),
        };
        let takes_length = matches!(wire, Wire::Utf16 | Wire::Ansi | Wire::Binary | Wire::SocketAddress);
        if !takes_length && self.length != Length::Natural || wire == Wire::Binary && self.length == Length::Natural {
            return Err("length".to_owned());
        }
        let kind = FieldKind::Value { wire, meaning, length: self.length };
        let Rules { count, optional, hidden, .. } = *self;
        Ok(Field { name: name.to_owned(), kind, count, map, optional, hidden })
    }
}

fn split_mark(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(left, right)| (left, Some(right)))
}

fn find<T: Copy>(table: &[(&str, T)], code: &str) -> Option<T> {
    table.iter().find(|(c, _)| *c == code).map(|(_, value)| *value)
}

enum Rule {
    Constant(u32),
    Field(FieldRef),
}

/// `12`, or `#3` for the fourth field of the same level, with a `^` in front for each level outwards.
fn parse_rule(text: &str, levels: &[(String, Count, Vec<Field>)]) -> Result<Rule, String> {
    let outward = text.trim_start_matches('^');
    let Some(index) = outward.strip_prefix('#') else {
        return text.parse().map(Rule::Constant).map_err(|_| format!("rule `{text}`"));
    };
    let up = text.len() - outward.len();
    let index: u16 = index.parse().map_err(|_| format!("rule `{text}`"))?;
    let level =
        levels.len().checked_sub(up + 1).and_then(|l| levels.get(l)).ok_or_else(|| format!("level of `{text}`"))?;
    let target = level.2.get(usize::from(index)).ok_or_else(|| format!("field of `{text}`"))?;
    if !counts(target) {
        return Err(format!("`{text}` is not one integer"));
    }
    let up = u8::try_from(up).map_err(|_| format!("level of `{text}`"))?;
    Ok(Rule::Field(FieldRef { up, index }))
}

/// Whether a field can say a length or a count.
fn counts(field: &Field) -> bool {
    let FieldKind::Value { wire, .. } = field.kind else { return false };
    wire.is_integer() && field.count == Count::One
}
