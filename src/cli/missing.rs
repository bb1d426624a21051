//! What a filter names and a trace does not have, with what may have been meant.

use super::suggest::nearest;
use crate::convert::job::Report;
use crate::plan::filter::NamePattern;

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
