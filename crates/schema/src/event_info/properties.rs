//! The property array of a `TRACE_EVENT_INFO`: a tree laid out flat, with members behind the top level.

use std::ops::Range;
use std::sync::Arc;

use super::reader::Blob;
use super::source::DecodingSource;
use crate::model::{Count, Field, FieldKind, FieldRef, Length, MapKind, SchemaError, ValueMap, Wire};
use crate::types;

const COUNTS: usize = 100;
const TOP_LEVEL: usize = 104;
const ARRAY: usize = 112;
const PROPERTY_BYTES: usize = 24;
const MAX_NESTING: usize = 32;

/// `PROPERTY_FLAGS` of `tdh.h`.
mod flag {
    pub(super) const STRUCT: u32 = 0x01;
    pub(super) const LENGTH_IS_INDEX: u32 = 0x02;
    pub(super) const COUNT_IS_INDEX: u32 = 0x04;
    pub(super) const FIXED_COUNT: u32 = 0x20;
    pub(super) const CUSTOM_SCHEMA: u32 = 0x80;
}

/// Walks the tree once.
pub(super) struct Properties<'b, 'a> {
    blob: &'b mut Blob<'a>,
    source: DecodingSource,
    total: usize,
    top: usize,
    visited: usize,
    /// The levels from the outermost to the current one: their properties, and the one being read.
    levels: Vec<(Range<usize>, usize)>,
}

/// One `EVENT_PROPERTY_INFO` as it lies there.
struct Property {
    at: usize,
    flags: u32,
    in_type: u16,
    out_type: u16,
    count: u16,
    length: u16,
}

impl<'b, 'a> Properties<'b, 'a> {
    pub(super) fn new(blob: &'b mut Blob<'a>, source: DecodingSource) -> Result<Self, SchemaError> {
        let total = blob.array(COUNTS, ARRAY, PROPERTY_BYTES, "properties")?;
        let top = blob.u32(TOP_LEVEL, "number of top-level properties")?;
        let top = usize::try_from(top).ok().filter(|&top| top <= total).ok_or_else(|| {
            blob.fault(TOP_LEVEL, format!("expected at most {total} top-level properties, found {top}"))
        })?;
        Ok(Properties { blob, source, total, top, visited: 0, levels: Vec::new() })
    }

    pub(super) fn top_level(mut self) -> Result<Vec<Field>, SchemaError> {
        self.level(0..self.top)
    }

    fn level(&mut self, range: Range<usize>) -> Result<Vec<Field>, SchemaError> {
        let mut fields = Vec::with_capacity(range.len());
        self.levels.push((range.clone(), range.start));
        for index in range {
            if let Some((_, current)) = self.levels.last_mut() {
                *current = index;
            }
            self.visited += 1;
            let property = self.property(index)?;
            if self.visited > self.total {
                return Err(self.blob.fault(property.at, "expected separate structures, found overlapping ones"));
            }
            fields.push(self.field(&property)?);
        }
        self.levels.pop();
        Ok(fields)
    }

    fn property(&self, index: usize) -> Result<Property, SchemaError> {
        let at = ARRAY + index * PROPERTY_BYTES;
        Ok(Property {
            at,
            flags: self.blob.u32(at, "property flags")?,
            in_type: self.blob.u16(at + 8, "in type")?,
            out_type: self.blob.u16(at + 10, "out type")?,
            count: self.blob.u16(at + 16, "count")?,
            length: self.blob.u16(at + 18, "length")?,
        })
    }

    fn field(&mut self, property: &Property) -> Result<Field, SchemaError> {
        let name = self.blob.name_at(property.at + 4, "property name")?.unwrap_or_default();
        let hidden = types::hidden(&name);
        let count = self.count(property)?;
        if property.flags & flag::STRUCT != 0 {
            let members = self.members(property)?;
            return Ok(Field { count, hidden, ..Field::structure(name, members) });
        }
        let kind = self.value(property)?;
        let map = self.map(property)?;
        Ok(Field { name, kind, count, map, optional: false, hidden })
    }

    fn members(&mut self, property: &Property) -> Result<Vec<Field>, SchemaError> {
        let (start, length) = (usize::from(property.in_type), usize::from(property.out_type));
        let end = start + length;
        if end > self.total {
            let message = format!("expected members among {} properties, found {start} to {end}", self.total);
            return Err(self.blob.fault(property.at + 8, message));
        }
        if self.levels.len() >= MAX_NESTING {
            let message = format!("expected at most {MAX_NESTING} levels of structures, found more");
            return Err(self.blob.fault(property.at, message));
        }
        self.level(start..end)
    }

    fn count(&self, property: &Property) -> Result<Count, SchemaError> {
        Ok(match property.count {
            index if property.flags & flag::COUNT_IS_INDEX != 0 => {
                Count::Field(self.earlier(index, property.at + 16, "count")?)
            }
            count if count > 1 || property.flags & flag::FIXED_COUNT != 0 => Count::Fixed(u32::from(count)),
            _ => Count::One,
        })
    }

    fn value(&self, property: &Property) -> Result<FieldKind, SchemaError> {
        let Some(wire) = types::wire(property.in_type) else { return Ok(types::UNDECODABLE) };
        let wire = match wire {
            // MOF has one-byte booleans under the number of the four-byte ones; the length decides.
            Wire::Bool32 if property.length == 1 => Wire::Bool8,
            Wire::Bool32 if property.length == 0 && self.source == DecodingSource::Mof => Wire::Bool8,
            other => other,
        };
        let length = match property.length {
            index if property.flags & flag::LENGTH_IS_INDEX != 0 => {
                Length::Field(self.earlier(index, property.at + 18, "length")?)
            }
            0 => Length::Natural,
            length => Length::Fixed(u32::from(length)),
        };
        Ok(types::value(wire, property.out_type, length))
    }

    /// Finds an earlier integer by its index in the whole array, from the current level outwards.
    fn earlier(&self, index: u16, at: usize, what: &str) -> Result<FieldRef, SchemaError> {
        let wanted = usize::from(index);
        let levels = self.levels.iter().rev().zip(0u8..);
        let found = levels.into_iter().find(|((range, current), _)| (range.start..*current).contains(&wanted));
        let refused = || self.blob.fault(at, format!("expected an earlier integer as {what}, found property {index}"));
        let ((range, _), up) = found.ok_or_else(refused)?;
        let holder = self.property(wanted)?;
        let scalar = holder.flags & (flag::STRUCT | flag::COUNT_IS_INDEX | flag::FIXED_COUNT) == 0 && holder.count <= 1;
        if !scalar || !types::wire(holder.in_type).is_some_and(types::counts) {
            return Err(refused());
        }
        let index = u16::try_from(wanted - range.start).map_err(|_| refused())?;
        Ok(FieldRef { up, index })
    }

    /// The map's name, as a map without entries.
    fn map(&mut self, property: &Property) -> Result<Option<Arc<ValueMap>>, SchemaError> {
        if property.flags & flag::CUSTOM_SCHEMA != 0 {
            return Ok(None);
        }
        let name = self.blob.name_at(property.at + 12, "map name")?;
        Ok(name.map(|name| Arc::new(ValueMap::new(name, MapKind::Values, Vec::new()))))
    }
}
