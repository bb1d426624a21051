//! Whether the numbers in a plan that was read stand for something.

use base::names::stays_below;
use etl::layout::buffer::MAX_BUFFER_SIZE;

use super::input::PlannedInput;
use super::partition::Partition;
use super::result::{PlanResult, PlannedShape};

/// Inputs have numbers of 16 bits.
const MAX_INPUTS: usize = 1 << 16;

/// Says what contradicts itself, so that nobody who uses the plan finds a number for which there is nothing.
pub(super) fn check(inputs: &[PlannedInput], result: &PlanResult, partitions: &[Partition]) -> Result<(), String> {
    check_inputs(inputs)?;
    check_result(result)?;
    check_partitions(partitions)
}

fn check_inputs(inputs: &[PlannedInput]) -> Result<(), String> {
    if inputs.len() > MAX_INPUTS {
        return Err(format!("{} inputs", inputs.len()));
    }
    let large = inputs.iter().position(|input| input.rules.max_buffer_size > MAX_BUFFER_SIZE);
    large.map_or(Ok(()), |input| Err(format!("buffers of more than {MAX_BUFFER_SIZE} bytes in input {input}")))
}

/// Every partition begins where the one before it ends, and they cover everything.
fn check_partitions(partitions: &[Partition]) -> Result<(), String> {
    let (mut seq, mut from) = (0_u64, None);
    for (place, partition) in (0..).zip(partitions) {
        let fault = |what| Err(format!("{what} partition {place}"));
        if partition.number != place {
            return fault("another partition in the place of");
        }
        if partition.first_seq != seq {
            return fault("a wrong number of events before");
        }
        if partition.range.from != from || (place > 0 && from.is_none()) {
            return fault("a gap in the order before");
        }
        let Some(next) = seq.checked_add(partition.events).filter(|next| next.checked_add(partition.damaged).is_some())
        else {
            return fault("more events than can be counted up to");
        };
        (seq, from) = (next, partition.range.to);
    }
    match partitions.last() {
        None => Err("no partition".to_owned()),
        Some(last) if last.range.to.is_some() => Err("an end of the order behind the last partition".to_owned()),
        Some(_) => Ok(()),
    }
}

fn check_result(plan: &PlanResult) -> Result<(), String> {
    for (number, shape) in plan.shapes.iter().enumerate() {
        check_shape(plan, shape).map_err(|fault| format!("{fault} of shape {number}"))?;
    }
    let mut placed = 0;
    for (number, table) in plan.tables.iter().enumerate() {
        if !stays_below(&table.dataset) {
            return Err(format!("a dataset {:?} of table {number}, which leads out of the trace,", table.dataset));
        }
        let is_own = |&shape: &u32| plan.shapes.get(shape as usize).is_some_and(|shape| shape.table as usize == number);
        if !table.shapes.is_sorted_by(|a, b| a < b) || !table.shapes.iter().all(is_own) {
            return Err(format!("other shapes of table {number}"));
        }
        if !table.columns.is_sound() {
            return Err(format!("other columns of table {number}"));
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
        () if is_beyond(shape.template, plan.templates.len()) => Err("no message template"),
        () if is_beyond(shape.binding, table.columns.bindings()) => Err("no columns"),
        () if shape.binding.is_some() && shape.schema.is_none() => Err("columns without a schema"),
        () => Ok(()),
    }
}
