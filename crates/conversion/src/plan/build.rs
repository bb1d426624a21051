//! Makes the plan of a recording.

use std::sync::Arc;

use base::error::Result;
use base::progress::{Progress, Step, timed};
use etl::input::Inputs;
use schema::Registry;

use super::describe::Describer;
use super::descriptions::{self, TraceSchemas};
use super::filter::CompiledFilter;
use super::options::PlanOptions;
use super::resolve::{self, Resolution};
use super::result::PlanResult;
use super::tables::{self, Tables};
use super::{doubts, field_limit, locked, mismatch, templates};
use crate::survey::{FileSurvey, Issue, Issues};

/// Plans what becomes of the events of one recording, and says per input what is unusual about it, beside the issues of the
/// survey. What a conversion needs besides are its partitions.
///
/// # Errors
/// When a file cannot be read; [`ErrorKind::Interrupted`](base::error::ErrorKind::Interrupted) when the caller asked to stop.
pub fn plan(
    files: &[FileSurvey],
    inputs: &Inputs,
    options: &PlanOptions,
    progress: &dyn Progress,
) -> Result<(PlanResult, Vec<Issues>)> {
    let language = options.language.as_deref();
    let TraceSchemas { eventsource, event_info, mut issues } =
        descriptions::descriptions(files, inputs, language, progress)?;
    let user = Arc::clone(&options.schemas);
    let registry = timed(progress, Step::Plan, || Registry::new(eventsource, event_info, user));
    let Resolution { shapes: mut resolved, images, issues: of_shapes } =
        resolve::resolve(files, inputs, &registry, progress)?;
    locked::settle_events(&mut resolved, &registry);
    for (all, more) in issues.iter_mut().zip(of_shapes) {
        more.into_iter().for_each(|issue| all.push(issue));
    }
    for (issues, file) in issues.iter_mut().zip(files) {
        mismatch::report(issues, file, &resolved, &registry);
    }
    let mut report = |input: u16, issue: Issue| issues[usize::from(input)].push(issue);
    doubts::of_choices(&resolved, &registry).into_iter().for_each(|(input, issue)| report(input, issue));
    let mut filter = CompiledFilter::new(&options.filter, files, resolved.len());
    let Tables { tables, columns, lock_use, issues: of_tables } =
        tables::tables(&resolved, &registry, options, filter.as_mut(), progress)?;
    of_tables.into_iter().for_each(|(input, issue)| report(input, issue));
    let others = tables.iter().filter(|table| table.is_other()).flat_map(|table| &table.shapes);
    others.for_each(|&shape| resolved[shape as usize].forget_layout());
    let (lists_fields, too_many) = field_limit::listed(&columns, &resolved);
    too_many.into_iter().for_each(|(input, issue)| report(input, issue));
    let of_shapes = resolved.iter_mut().map(|shape| (shape.input, &mut shape.template));
    templates::limit(of_shapes).into_iter().for_each(|(input, issue)| report(input, issue));
    let describer = Describer { tables: &tables, registry: &registry, images: &images };
    let described = describer.describe(resolved, &columns, &lists_fields, progress)?;
    Ok((PlanResult { tables, filter, lock_use, ..described }, issues))
}
