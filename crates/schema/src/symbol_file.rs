//! WPP messages of a program, from its PDB, as the text of a TMF file.
//!
//! The preprocessor of WPP puts each format into the source code as an annotation, whose texts are `TMF:` and the lines that a TMF
//! file has: that of the group, that of the message, and the arguments in braces. Enumerations that arguments show are types
//! of the program. `tracepdb` writes both into TMF files; so does this module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use base::guid::Guid;
use symbols::{Pdb, Reason};

use super::text;

/// What the first text of an annotation is that has the format of a message.
const MESSAGE: &str = "TMF:";
/// What the last text is of a message whose text anybody may see.
const PUBLIC: &str = "PUBLIC_TMF:";
/// How PDBs begin, and MSFZ, which are PDBs in another container.
const BEGINNINGS: [&[u8]; 2] =
    [b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", b"Microsoft MSFZ Container\r\n\x1aALD\0\0"];
/// Bytes of a PDB that are in memory at a time; an MSFZ takes no more when it is unpacked.
const MAX_IN_MEMORY: u64 = 512 << 20;
/// Bytes of all messages; those of all programs of Windows take less.
const MAX_TEXT: usize = 64 << 20;

/// Whether a file is a PDB, by its first bytes.
pub fn is_symbol_file(head: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| head.starts_with(beginning))
}

/// The messages of a PDB in a file; see [`messages`].
///
/// # Errors
/// Those of [`messages`], and when the file cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    some(Pdb::open(path, MAX_IN_MEMORY).and_then(|pdb| messages(&pdb)))
}

/// The messages of a PDB in memory; see [`messages`].
///
/// # Errors
/// Those of [`messages`].
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    some(Pdb::from_bytes(name, bytes, MAX_IN_MEMORY).and_then(|pdb| messages(&pdb)))
}

fn some(text: Result<Vec<u8>, Reason>) -> Result<Vec<u8>, String> {
    let text = text.map_err(|reason| format!("expected a PDB that can be read: {reason}"))?;
    let none = "expected formats of WPP messages in a PDB, found none: they are in the private PDB of a program that traces \
                with WPP, not in the public one of a symbol server";
    if text.is_empty() { Err(none.to_owned()) } else { Ok(text) }
}

/// All messages of a PDB as the text of a TMF file, empty where it has none. Groups and messages are sorted and each is there once,
/// so that PDBs of the same messages give the same text.
///
/// # Errors
/// When the PDB is damaged, or has more messages than fit into 64 MiB.
pub fn messages(pdb: &Pdb) -> Result<Vec<u8>, Reason> {
    let mut groups = Groups::default();
    pdb.annotations(MESSAGE, |texts| groups.add(texts))?;
    if groups.bytes > MAX_TEXT {
        return Err(Reason::Unreadable(format!("its messages take more than {MAX_TEXT} bytes")));
    }
    let enumerations = pdb.enumerations(&groups.enumerations)?;
    let mut text = groups.text();
    for (name, values) in enumerations {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#enumv {}\n{{", line(name.as_bytes()));
        for (value, label) in values {
            let _ = writeln!(text, "{},0x{value:X}", line(label.as_bytes()));
        }
        text += "}\n";
    }
    Ok(text.into_bytes())
}

/// Messages by the line of their group.
#[derive(Debug, Default)]
struct Groups {
    messages: BTreeMap<String, BTreeSet<String>>,
    /// The names of enumerations that arguments show.
    enumerations: BTreeSet<String>,
    /// Bytes of all that is kept.
    bytes: usize,
}

impl Groups {
    /// Adds the message of an annotation. What is beyond the room for them is counted, not kept.
    fn add(&mut self, texts: &[&[u8]]) {
        let lines = texts.iter().map(|text| line(text)).filter(|line| !line.trim().is_empty() && line.trim() != PUBLIC);
        let mut lines = lines.collect::<Vec<_>>().into_iter();
        let is_group = |line: &String| line.split_whitespace().next().is_some_and(|word| word.parse::<Guid>().is_ok());
        let Some(group) = lines.next().filter(is_group) else { return };
        let lines: Vec<String> = lines.collect();
        let message = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        if self.messages.get(&group).is_some_and(|known| known.contains(&message)) {
            return;
        }
        let bytes = group.len().saturating_add(message.len());
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_TEXT {
            return;
        }
        self.enumerations.extend(lines.iter().filter_map(|line| enumeration(line)).map(str::to_owned));
        self.messages.entry(group).or_default().insert(message);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (group, messages) in &self.messages {
            text += group;
            text.push('\n');
            messages.iter().for_each(|message| text += message);
        }
        text
    }
}

/// The enumeration that an argument shows: `expression, ItemEnum(Name) -- 10`.
fn enumeration(argument: &str) -> Option<&str> {
    let (_, item) = ["ItemEnum(", "ItemFlagsEnum("].iter().find_map(|item| argument.rsplit_once(item))?;
    let (name, _) = item.rsplit_once(')')?;
    Some(name.trim()).filter(|name| !name.is_empty())
}

/// A text as one line of a file.
fn line(text: &[u8]) -> String {
    text::ansi(text).chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect()
}
