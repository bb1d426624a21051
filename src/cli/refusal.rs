//! Refusals of the command line, as one line each.

use base::error::ErrorCode;
use batch::notice::Notice;
use clap::error::{ContextKind, ContextValue};

/// What is wrong, without the usage and whom to ask.
pub(super) fn message(refusal: &clap::Error) -> String {
    let text = refusal.render().to_string();
    let what = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n").next().unwrap_or_default();
    what.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same with what may have been meant.
pub(super) fn notice(refusal: &clap::Error) -> Notice {
    let tips: Vec<String> = if let Some(ContextValue::StyledStrs(tips)) = refusal.get(ContextKind::Suggested) {
        tips.iter().map(ToString::to_string).collect()
    } else {
        let text = refusal.render().to_string();
        text.lines().filter_map(|line| line.trim().strip_prefix("tip: ")).map(str::to_owned).collect()
    };
    let hint = (!tips.is_empty()).then(|| tips.join("; "));
    Notice::error(message(refusal)).with_code(ErrorCode::Usage.as_str()).with_hint(hint)
}
