//! Programs that measure payloads, for the choice among schemas.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use schema::model::EventSchema;

use crate::decode::Program;

/// A schema made ready to be held against payloads.
#[derive(Debug)]
pub struct Measure {
    /// Its program.
    pub program: Program,
    /// Whether the pointer size of the writer changes what it measures.
    pub has_pointers: bool,
}

/// The programs of the wide schemas that were measured with last. Shapes that share a schema come one after the other,
/// and tens of thousands of them may share one with as many fields.
#[derive(Debug, Default)]
pub struct Measures(Mutex<VecDeque<KeptProgram>>);

#[derive(Debug)]
struct KeptProgram {
    schema: Arc<EventSchema>,
    pointer_size: u8,
    measure: Arc<Measure>,
}

/// Programs that are kept: some for each thread.
const KEPT: usize = 32;

/// Fields from which on a program is kept; others are compiled faster than they are found.
const WIDE: usize = 256;

impl Measures {
    /// The program of a schema.
    pub fn get(&self, schema: &Arc<EventSchema>, pointer_size: u8) -> Arc<Measure> {
        if schema.field_count_to(WIDE) < WIDE {
            return Arc::new(Measure::new(schema, pointer_size));
        }
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |kept: &&KeptProgram| Arc::ptr_eq(&kept.schema, schema) && kept.pointer_size == pointer_size;
        if let Some(known) = lock().iter().find(is_it) {
            return Arc::clone(&known.measure);
        }
        let measure = Arc::new(Measure::new(schema, pointer_size));
        let mut kept = lock();
        kept.truncate(KEPT - 1);
        kept.push_front(KeptProgram { schema: Arc::clone(schema), pointer_size, measure: Arc::clone(&measure) });
        measure
    }
}

impl Measure {
    fn new(schema: &EventSchema, pointer_size: u8) -> Self {
        Measure { program: Program::measuring(schema, pointer_size), has_pointers: schema.has_pointers() }
    }
}

#[cfg(test)]
mod tests {
    use schema::model::{Field, Wire};

    use super::*;
    use crate::decode::Status;

    fn schema(fields: usize, wire: Wire) -> Arc<EventSchema> {
        let fields = (0..fields).map(|_| Field::value("f", wire)).collect();
        Arc::new(EventSchema { fields, ..EventSchema::default() })
    }

    #[test]
    fn wide_schemas_are_compiled_once() {
        let (narrow, wide) = (schema(WIDE - 1, Wire::UInt8), schema(WIDE, Wire::Pointer));
        let measures = Measures::default();
        let again = |schema, size| Arc::ptr_eq(&measures.get(schema, size), &measures.get(schema, size));
        assert!(!again(&narrow, 8) && again(&wide, 8) && again(&wide, 4));
        let (eight, four) = (measures.get(&wide, 8), measures.get(&wide, 4));
        assert_eq!(eight.program.consumes(&[0; WIDE * 8]), Status::Ok);
        assert_eq!(four.program.consumes(&[0; WIDE * 4]), Status::Ok);
        assert!(eight.has_pointers && !measures.get(&narrow, 8).has_pointers);
        for _ in 0..KEPT {
            measures.get(&schema(WIDE, Wire::UInt8), 8);
        }
        assert!(!Arc::ptr_eq(&measures.get(&wide, 8), &eight));
        assert_eq!(measures.0.lock().unwrap().len(), KEPT);
    }
}
