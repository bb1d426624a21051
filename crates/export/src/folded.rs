//! Folded stacks: a line for each stack of each process, as `flamegraph.pl`, inferno, speedscope and others read it.
//!
//! ```text
//! chrome.exe (4660);ntdll.dll!RtlUserThreadStart;chrome.dll+0x1f2e 12
//! ```
//!
//! The format is that of Brendan Gregg's FlameGraph: functions from the outermost to the leaf with semicolons between, a blank, and a
//! number. It has no quotes: a semicolon within a name becomes a colon, a line break a blank, as `stackcollapse-perf.pl` has it.

use std::collections::HashMap;
use std::fmt::Write as _;

use base::error::Result;
use base::progress::stop_if_cancelled;

use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::profile::{Code, Place, Weights, amounts};
use crate::request::Of;

/// Texts of frames that are kept; of others the text is made each time.
const MOST_TEXTS: usize = 1 << 17;

/// Writes a trace as folded stacks: counts of samples, or nanoseconds of waits.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the lines cannot be written.
pub(crate) fn folded(opened: &Opened<'_>, of: Of, output: &mut Output<'_>) -> Result<Exported> {
    let (mut exported, mut weights) = (Exported::default(), Weights::default());
    amounts(opened, of, &mut exported, |amount| _ = weights.add(&amount))?;
    weights.warn(&mut exported);
    let code = Code::of(opened, &mut weights, &mut exported)?;
    let mut lines = Lines { code: &code, weights: &weights, texts: HashMap::new() };
    for (process, place, weight) in weights.iter() {
        stop_if_cancelled(opened.source.progress())?;
        if weight.amount > 0 {
            output.put(lines.line(process, place, weight.amount).as_bytes())?;
        }
    }
    Ok(exported)
}

/// The lines, one after another.
struct Lines<'a> {
    code: &'a Code,
    weights: &'a Weights,
    /// By the number of a frame its functions, those that are inlined in it behind it.
    texts: HashMap<u32, String>,
}

impl Lines<'_> {
    fn line(&mut self, process: u32, place: Place, amount: u64) -> String {
        let mut line =
            self.weights.processes.get(process).map(|process| plain(&process.to_string())).unwrap_or_default();
        let frames = self.code.stack(place);
        if frames.is_empty() {
            line += ";";
            line += place.text();
        }
        for frame in frames.iter().rev() {
            line += ";";
            self.push(*frame, &mut line);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(line, " {amount}");
        line
    }

    fn push(&mut self, frame: u32, line: &mut String) {
        if let Some(text) = self.texts.get(&frame) {
            line.push_str(text);
            return;
        }
        let mut calls: Vec<String> = self.code.calls(frame).map(|call| plain(&call.to_string())).collect();
        calls.reverse();
        let text = calls.join(";");
        line.push_str(&text);
        if self.texts.len() < MOST_TEXTS {
            self.texts.insert(frame, text);
        }
    }
}

/// A name without what means something in a line.
fn plain(name: &str) -> String {
    name.replace(';', ":").replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_to_their_line() {
        assert_eq!(plain("a;b\r\nc d\t"), "a:b  c d ");
    }
}
