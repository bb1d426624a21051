//! Names as people know them, from those that compilers make for linkers.

use std::thread;

use undname::Flags;

use crate::bytes::shown;

/// Names of C++ are no longer: compilers make a hash of what would be.
const MAX_LEN: usize = 4096;
/// Bytes up to which a name can be taken apart on any stack.
const SHALLOW: usize = 256;
/// Bytes of stack that any name of up to [`MAX_LEN`] can be taken apart on.
const STACK: usize = 64 << 20;
/// Longer names stay as they are: one that refers to itself again and again would fill memory.
const MAX_PLAIN: usize = 16 << 10;

/// A name without what compilers add to it, and, where it is one of C++, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) short: String,
    pub(crate) full: Option<String>,
}

/// What a public is called. Names of C++ that nothing can be made of, and all others, stay as they are; but on 32-bit x86 names of C
/// have signs of their calling convention around them.
pub(crate) fn plain(public: &[u8], is_x86: bool) -> Plain {
    let name = shown(public);
    if name.starts_with('?') {
        return demangled(&name).unwrap_or(Plain { short: name, full: None });
    }
    let short = if is_x86 { without_convention(&name).to_owned() } else { name };
    Plain { short, full: None }
}

/// `_name`, `_name@8`, `@name@8` and `name@@8` without the signs.
fn without_convention(name: &str) -> &str {
    let bare = name.strip_prefix(['_', '@']).unwrap_or(name);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let bare = bare.rsplit_once('@').filter(|(_, bytes)| is_number(bytes)).map_or(bare, |(bare, _)| bare);
    let bare = bare.strip_suffix('@').unwrap_or(bare);
    if bare.is_empty() { name } else { bare }
}

/// How compilers begin the name of a namespace that has none; digits of a hash follow.
const ANONYMOUS: &str = "?A0x";

/// A name that is no longer decorated, but for namespaces without a name, as people write them.
pub(crate) fn with_anonymous(name: &str) -> String {
    let mut parts = name.split(ANONYMOUS);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str("`anonymous namespace'");
        shown.push_str(part.trim_start_matches(|sign: char| sign.is_ascii_hexdigit()));
    }
    shown
}

/// Takes a name of C++ apart, on a stack that is large enough: its parts nest.
fn demangled(name: &str) -> Option<Plain> {
    match name.len() {
        len if len <= SHALLOW => demangle(name),
        len if len <= MAX_LEN => thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || demangle(name));
            thread.ok()?.join().ok()?
        }),
        _ => None,
    }
}

fn demangle(name: &str) -> Option<Plain> {
    let text = |flags| undname::demangle(name, flags).ok().filter(|text| text.len() <= MAX_PLAIN);
    let short = text(Flags::NAME_ONLY)?;
    let full = text(Flags::empty()).and_then(|whole| with_parameters(&whole).map(str::to_owned));
    Some(Plain { full: full.filter(|full| *full != short), short })
}

/// Words for conventions by which a function is called, which stand before its name.
const CONVENTIONS: [&str; 8] =
    ["__cdecl", "__thiscall", "__stdcall", "__fastcall", "__vectorcall", "__clrcall", "__regcall", "__pascal"];

/// The name of a function with its parameters, from the whole declaration: `public: int __cdecl A::b(int) const` becomes
/// `A::b(int) const`.
///
/// It begins behind the first convention that stands in no brackets. The declaration of a function that returns a pointer to one has
/// it within brackets, behind the convention of the other, and ends with them: `int (__cdecl *__cdecl f(void))(int)`.
fn with_parameters(whole: &str) -> Option<&str> {
    let (mut depth, mut within) = (0_usize, None);
    for (at, sign) in whole.char_indices() {
        match sign {
            '<' | '(' | '`' => depth = depth.saturating_add(1),
            '>' | ')' | '\'' => {
                depth = depth.saturating_sub(1);
                if let Some(from) = within.filter(|_| depth == 0) {
                    return whole.get(from..at);
                }
            }
            '_' if depth <= 1 && within.is_none() && !whole.get(..at)?.ends_with(['(', '_']) => {
                let from = behind_convention(whole, at);
                if depth == 0 && from.is_some() {
                    return whole.get(from?..);
                }
                within = from;
            }
            _ => {}
        }
    }
    None
}

/// Where the name begins, if the word at a place is a convention.
fn behind_convention(whole: &str, at: usize) -> Option<usize> {
    let rest = whole.get(at..)?;
    let behind = CONVENTIONS.iter().find_map(|word| rest.strip_prefix(word)?.strip_prefix(' '))?;
    whole.len().checked_sub(behind.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_lose_what_the_linker_needs() {
        let cases = [
            ("?b@A@@QEBAHH@Z", "A::b", Some("A::b(int) const")),
            ("?f@@YAP6AHH@ZXZ", "f", Some("f(void)")),
            ("??$f@P6AHH@Z@@YAXH@Z", "f<int (__cdecl *)(int)>", Some("f<int (__cdecl *)(int)>(int)")),
            ("?data@@3HA", "data", None),
            ("?broken", "?broken", None),
            ("main", "main", None),
            ("_main", "_main", None),
            ("_ZN4core3fmt5writeE", "_ZN4core3fmt5writeE", None),
        ];
        for (public, short, full) in cases {
            let expected = Plain { short: short.to_owned(), full: full.map(str::to_owned) };
            assert_eq!(plain(public.as_bytes(), false), expected, "{public}");
        }
    }

    #[test]
    fn namespaces_without_a_name_are_called_so() {
        let cases = [
            ("?A0xc60ee810::f", "`anonymous namespace'::f"),
            ("A::?A0x1::?A0x2", "A::`anonymous namespace'::`anonymous namespace'"),
            ("f", "f"),
        ];
        for (name, shown) in cases {
            assert_eq!(with_anonymous(name), shown, "{name}");
        }
    }

    #[test]
    fn names_of_c_lose_their_convention_on_x86() {
        let cases = [
            ("_main", "main"),
            ("_Sleep@4", "Sleep"),
            ("@fast@8", "fast"),
            ("vector@@16", "vector"),
            ("_", "_"),
            ("at@home", "at@home"),
        ];
        for (public, short) in cases {
            assert_eq!(plain(public.as_bytes(), true), Plain { short: short.to_owned(), full: None }, "{public}");
        }
    }

    /// Names that nest as deep as their length allows need a stack of their own, and one that grows by each byte is given up.
    #[test]
    fn names_that_nest_overflow_no_stack() {
        for unit in ["PEA", "P6AX", "V?$a@", "?$a@V", "Y00", "??$a@", "?_", "$1?", "?0?", "?A", "P8", "PQ", "W4", "A6A"]
        {
            for len in [SHALLOW - 20, MAX_LEN - 20, MAX_LEN + 1] {
                let nested = unit.repeat(len / unit.len());
                let closed = "@@".repeat((MAX_LEN - 20).saturating_sub(nested.len()) / 2);
                for name in
                    [format!("?f@@YAX{nested}H@Z"), format!("?{nested}f{closed}@@YAXXZ"), format!("??${nested}")]
                {
                    let found = plain(name.as_bytes(), false);
                    assert!(found.short.len() <= MAX_PLAIN.max(name.len()), "{unit}");
                }
            }
        }
    }
}
