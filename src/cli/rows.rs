//! Rows as text: a line of CSV or JSON each.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{EncoderOptions, LineDelimited, NullableEncoder, WriterBuilder, make_encoder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowFormat {
    /// The names of the columns, then a line per row. NULL is nothing, an empty text is `""`, and lists and structures are
    /// JSON.
    Csv,
    /// An object per row, without the columns that are NULL.
    JsonLines,
}

impl RowFormat {
    /// What stands before the first row.
    pub(super) fn head(self, schema: &Schema) -> Vec<u8> {
        let mut text = Vec::new();
        if self == RowFormat::Csv {
            for (position, field) in schema.fields().iter().enumerate() {
                push_cell(position, Some(field.name()), &mut text);
            }
            text.push(b'\n');
        }
        text
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// Where a column has a type that has no text; none of a dataset does.
    pub(super) fn append(self, batch: &RecordBatch, text: &mut Vec<u8>) -> Result<(), ArrowError> {
        let batch = with_offset(batch)?;
        match self {
            RowFormat::Csv => append_csv(&batch, text),
            RowFormat::JsonLines => WriterBuilder::new().build::<_, LineDelimited>(text).write(&batch),
        }
    }
}

/// The batch with times at the offset `+00:00`: what is called UTC arrow-rs writes with a database of all time zones only.
fn with_offset(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let fields: Vec<FieldRef> = schema.fields().iter().map(field_with_offset).collect();
    let columns = batch.columns().iter().zip(&fields).map(|(column, field)| cast(column, field.data_type()));
    let columns = columns.collect::<Result<Vec<ArrayRef>, _>>()?;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn field_with_offset(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        DataType::List(element) => DataType::List(field_with_offset(element)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field_with_offset).collect()),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Writes the cells of a column.
enum CellWriter<'a> {
    Plain(ArrayFormatter<'a>),
    Nested(NullableEncoder<'a>),
}

impl<'a> CellWriter<'a> {
    fn of(
        field: &'a FieldRef,
        column: &'a ArrayRef,
        plain: &FormatOptions<'a>,
        nested: &'a EncoderOptions,
    ) -> Result<CellWriter<'a>, ArrowError> {
        match field.data_type() {
            DataType::List(_) | DataType::Struct(_) => make_encoder(field, column, nested).map(CellWriter::Nested),
            _ => ArrayFormatter::try_new(column, plain).map(CellWriter::Plain),
        }
    }
}

fn append_csv(batch: &RecordBatch, text: &mut Vec<u8>) -> Result<(), ArrowError> {
    let (plain, nested) = (FormatOptions::new().with_display_error(true), EncoderOptions::default());
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let writers = columns.map(|(field, column)| CellWriter::of(field, column, &plain, &nested));
    let mut writers = writers.collect::<Result<Vec<_>, _>>()?;
    let (mut cell, mut json) = (String::new(), Vec::new());
    for row in 0..batch.num_rows() {
        for (position, (writer, column)) in writers.iter_mut().zip(batch.columns()).enumerate() {
            if column.is_null(row) {
                push_cell(position, None, text);
                continue;
            }
            cell.clear();
            match writer {
                // Writing to a string cannot fail.
                CellWriter::Plain(values) => _ = write!(cell, "{}", values.value(row)),
                CellWriter::Nested(values) => {
                    json.clear();
                    values.encode(row, &mut json);
                    cell.push_str(&String::from_utf8_lossy(&json));
                }
            }
            push_cell(position, Some(&cell), text);
        }
        text.push(b'\n');
    }
    Ok(())
}

/// Appends a cell of CSV: in quotes where it is empty or has a character that means something there, as RFC 4180 has it.
fn push_cell(position: usize, cell: Option<&str>, text: &mut Vec<u8>) {
    if position > 0 {
        text.push(b',');
    }
    let Some(cell) = cell else { return };
    if cell.is_empty() || cell.contains([',', '"', '\n', '\r']) {
        text.extend_from_slice(format!("\"{}\"", cell.replace('"', "\"\"")).as_bytes());
    } else {
        text.extend_from_slice(cell.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Int64Builder, ListBuilder};
    use arrow_array::types::Int64Type;
    use arrow_array::{BinaryArray, Float64Array, ListArray, StringArray, StructArray, TimestampMicrosecondArray};

    use super::*;

    fn text(format: RowFormat, batch: &RecordBatch) -> String {
        let mut text = format.head(&batch.schema());
        format.append(batch, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// A row of values, one of NULL, one of what is empty or has no usual text.
    fn batch() -> RecordBatch {
        let times = || TimestampMicrosecondArray::from(vec![Some(1_500_000), None, Some(-1)]).with_timezone("UTC");
        let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None, Some(vec![])]);
        let time_field = Arc::new(Field::new("at", times().data_type().clone(), true));
        let columns: [(&str, ArrayRef); 6] = [
            ("time", Arc::new(times())),
            ("a \"name\"", Arc::new(StringArray::from(vec![Some("x,\"y\"\r\nz"), None, Some("")]))),
            ("number", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(f64::NAN)]))),
            ("bytes", Arc::new(BinaryArray::from(vec![Some(&[0x01, 0xAB][..]), None, Some(&[][..])]))),
            ("list", Arc::new(lists)),
            ("parts", Arc::new(StructArray::from(vec![(time_field, Arc::new(times()) as ArrayRef)]))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    #[test]
    fn null_and_an_empty_text_are_different_cells() {
        let expected = "time,\"a \"\"name\"\"\",number,bytes,list,parts\n\
            1970-01-01T00:00:01.500Z,\"x,\"\"y\"\"\r\nz\",0.5,01ab,\"[1,null]\",\"{\"\"at\"\":\"\"1970-01-01T00:00:01.500Z\"\"}\"\n\
            ,,,,,{}\n\
            1969-12-31T23:59:59.999999Z,\"\",NaN,\"\",[],\"{\"\"at\"\":\"\"1969-12-31T23:59:59.999999Z\"\"}\"\n";
        assert_eq!(text(RowFormat::Csv, &batch()), expected);
    }

    #[test]
    fn objects_have_no_nulls_of_columns() {
        let expected = concat!(
            r#"{"time":"1970-01-01T00:00:01.500Z","a \"name\"":"x,\"y\"\r\nz","number":0.5,"bytes":"01ab","#,
            r#""list":[1,null],"parts":{"at":"1970-01-01T00:00:01.500Z"}}"#,
            "\n{\"parts\":{}}\n",
            r#"{"time":"1969-12-31T23:59:59.999999Z","a \"name\"":"","number":null,"bytes":"","list":[],"#,
            r#""parts":{"at":"1969-12-31T23:59:59.999999Z"}}"#,
            "\n"
        );
        assert_eq!(text(RowFormat::JsonLines, &batch()), expected);
    }

    #[test]
    fn lists_of_numbers_need_no_offset() {
        let mut lists = ListBuilder::new(Int64Builder::new());
        lists.append_value([Some(7)]);
        let batch = RecordBatch::try_from_iter([("list", Arc::new(lists.finish()) as ArrayRef)]).unwrap();
        assert_eq!(text(RowFormat::JsonLines, &batch), "{\"list\":[7]}\n");
    }
}
