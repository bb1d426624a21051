//! Whether the numbers in a plan that was read stand for something.

use super::result::{PlanResult, PlannedShape};

/// Says what contradicts itself, so that nobody who uses the plan finds a number for which there is nothing.
pub(super) fn check(plan: &PlanResult) -> Result<(), String> {
    for (number, shape) in plan.shapes.iter().enumerate() {
        check_shape(plan, shape).map_err(|fault| format!("{fault} of shape {number}"))?;
    }
    let mut placed = 0;
    for (number, table) in plan.tables.iter().enumerate() {
        let is_own = |&shape: &u32| plan.shapes.get(shape as usize).is_some_and(|shape| shape.table as usize == number);
        if !table.shapes.is_sorted_by(|a, b| a < b) || !table.shapes.iter().all(is_own) {
            return Err(format!("other shapes of table {number}"));
        }
        placed += table.shapes.len();
    }
    if placed != plan.shapes.len() {
        return Err(format!("{placed} shapes in tables instead of {}", plan.shapes.len()));
    }
    match &plan.filter {
        Some(filter) if filter.shapes() != plan.shapes.len() => {
            Err(format!("a filter of {} shapes instead of {}", filter.shapes(), plan.shapes.len()))
        }
        _ => Ok(()),
    }
}

fn check_shape(plan: &PlanResult, shape: &PlannedShape) -> Result<(), &'static str> {
    let Some(table) = plan.tables.get(shape.table as usize) else { return Err("no table") };
    let is_beyond = |number: Option<u32>, len: usize| number.is_some_and(|number| number as usize >= len);
    match () {
        () if is_beyond(shape.schema, plan.schemas.len()) => Err("no schema"),
        () if is_beyond(shape.message, plan.messages.len()) => Err("no message format"),
        () if is_beyond(shape.binding, table.columns.bindings()) => Err("no columns"),
        () if shape.binding.is_some() && shape.schema.is_none() => Err("columns without a schema"),
        () => Ok(()),
    }
}
