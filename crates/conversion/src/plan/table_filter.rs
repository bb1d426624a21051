//! A filter for the events of one table of a plan.

use super::filter::{CompiledFilter, Filter, ShapeInfo};
use super::result::PlanResult;
use crate::survey::FileSurvey;

impl PlanResult {
    /// A filter that passes the events of the table with this number that `filter` passes, and no others.
    pub fn table_filter(&self, table: usize, filter: &Filter, files: &[FileSurvey]) -> CompiledFilter {
        let mut compiled = CompiledFilter::undecided(filter, files, self.shapes.len());
        let shapes = self.tables.get(table).into_iter().flat_map(|table| &table.shapes);
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
