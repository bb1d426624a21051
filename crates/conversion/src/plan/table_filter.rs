//! A filter for the events of some tables of a plan.

use super::filter::{CompiledFilter, Filter, ShapeInfo};
use super::result::{PlanResult, PlannedTable};
use crate::survey::FileSurvey;

impl PlanResult {
    /// A filter that passes the events of these tables that `filter` passes, and no others.
    pub fn table_filter(&self, tables: &[PlannedTable], filter: &Filter, files: &[FileSurvey]) -> CompiledFilter {
        let mut compiled = CompiledFilter::undecided(filter, files, self.shapes.len());
        let shapes = tables.iter().flat_map(|table| &table.shapes);
        for &number in shapes {
            let entry = self.entry(&self.shapes[number as usize]);
            let info = ShapeInfo {
                identity: &entry.shape.key.identity,
                provider_name: entry.provider_name(),
                dataset: entry.dataset(),
                event_name: entry.event_name(),
                keyword_names: entry.keyword_names(),
                range: (entry.shape.first_ns, entry.shape.last_ns),
            };
            compiled.decide(number, &info);
        }
        compiled
    }
}
