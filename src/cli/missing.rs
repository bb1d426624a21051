//! What a filter names and a trace does not have, with what may have been meant.

use std::collections::BTreeSet;

use super::filters::Keywords;
use super::suggest::nearest;
use crate::convert::job::Report;
use crate::plan::filter::NamePattern;

/// Names that are told; the rest is a number.
const SHOWN: usize = 20;

/// Why a trace is empty, and which provider may have been meant.
pub(super) fn nothing_passes(report: &Report, wanted: &[NamePattern]) -> String {
    let names = || report.plan.catalog().flat_map(|entry| [entry.provider_name(), Some(entry.dataset())]);
    let names = || names().flatten();
    let ids = |name: &NamePattern| {
        let mut ids = report.plan.shapes.iter().filter_map(|shape| shape.key.identity.provider_id());
        ids.any(|id| name.matches(&id.to_string()))
    };
    let missing = wanted.iter().find(|wanted| !names().any(|name| wanted.matches(name)) && !ids(wanted));
    let Some(missing) = missing else { return "no event passes the filters".to_owned() };
    match nearest(&missing.to_string(), names()) {
        Some(name) => {
            format!("no event passes the filters: no provider here is called {missing}; did you mean {name}?")
        }
        None => format!("no event passes the filters: no provider here is called {missing}"),
    }
}

/// A sentence for every name of keywords that no event of a trace has.
pub(super) fn keywords(report: &Report, wanted: &[Keywords]) -> Vec<String> {
    let mut wanted = wanted.iter().filter_map(Keywords::name).peekable();
    if wanted.peek().is_none() {
        return Vec::new();
    }
    let names: BTreeSet<&str> =
        report.plan.catalog().flat_map(|entry| entry.keyword_names().iter().map(String::as_str)).collect();
    let missing = wanted.filter(|wanted| !names.iter().any(|name| wanted.matches(name)));
    missing.map(|keyword| unknown_keyword(&keyword.to_string(), &names)).collect()
}

fn unknown_keyword(keyword: &str, names: &BTreeSet<&str>) -> String {
    let what = format!("no event here has a keyword called {keyword}");
    if let Some(name) = nearest(keyword, names.iter().copied()) {
        return format!("{what}; did you mean {name}?");
    }
    if names.is_empty() {
        return format!("{what}, or any with a name; masks such as 0x30 work on all");
    }
    let shown: Vec<&str> = names.iter().take(SHOWN).copied().collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{what}; there are {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_keyword_is_told_with_those_that_are_there() {
        let t = |keyword: &str, names: &[&str], expected: &str| {
            let message = unknown_keyword(keyword, &names.iter().copied().collect());
            assert_eq!(message, format!("no event here has a keyword called {keyword}{expected}"));
        };
        t("gcc", &["GC", "Loader", "Jit"], "; did you mean GC?");
        t("network", &["Loader", "GC"], "; there are GC, Loader");
        t("network", &[], ", or any with a name; masks such as 0x30 work on all");
        let many: Vec<String> = (10..35).map(|n| format!("K{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(unknown_keyword("network", &many.into_iter().collect()).ends_with("K28, K29 and 5 more"));
    }
}
