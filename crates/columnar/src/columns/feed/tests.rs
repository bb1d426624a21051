use proptest::prelude::*;

use super::*;
use crate::columns::packed::{BytesValues, Elements, FixedValues, ListValues, PackedColumn, StructValues};
use crate::columns::prefix::{NumberForm, Prefix, PrefixField, PrefixForm, PrefixValues, TextForm};
use crate::columns::presence::RowNumbers;

/// What a batch says of each row.
fn shown(batch: &ColumnBatch<'_>) -> Vec<Option<String>> {
    let ColumnBatch::Values { rows, present, values } = batch else { panic!("an array: {batch:?}") };
    let list = |items: &ListItems<'_>, range: Range<usize>| match items {
        ListItems::Int32(items) => format!("{:?}", &items[range]),
        ListItems::Int64(items) => format!("{:?}", &items[range]),
        ListItems::Bytes(items) => format!("{:?}", &items[range]),
    };
    let value = |at: usize| match values {
        BatchValues::Int32(values) => Some(values[at].to_string()),
        BatchValues::Int64(values) => Some(values[at].to_string()),
        BatchValues::Flags(values) => Some(values[at].to_string()),
        BatchValues::Bytes(values) => Some(String::from_utf8(values[at].to_vec()).unwrap()),
        BatchValues::Keys { keys, table } => match &***table {
            KeyTable::Numbers(numbers) => numbers[keys[at] as usize].map(|number| number.to_string()),
            KeyTable::Guids(guids) => guids[keys[at] as usize].map(|guid| format!("guid {}", guid[0])),
            KeyTable::Texts { places, labels } => {
                places[keys[at] as usize].map(|place| labels.value(place as usize).to_owned())
            }
        },
        BatchValues::Lists { ends, items } => {
            let start = at.checked_sub(1).map_or(0, |before| ends[before] as usize);
            Some(list(items, start..ends[at] as usize))
        }
    };
    let mut all = vec![None; *rows];
    match present {
        Present::All => {
            assert_eq!(values.len(), *rows);
            (0..*rows).for_each(|row| all[row] = value(row));
        }
        Present::Rows(present) => {
            assert_eq!(values.len(), present.len());
            assert!(present.is_sorted_by(|a, b| a < b));
            present.iter().enumerate().for_each(|(at, &row)| all[row as usize] = value(at));
        }
    }
    all
}

fn handed_on(parts: &[(&PackedColumns, Range<u32>)], data_type: &DataType) -> Vec<Option<String>> {
    let mut found = None;
    let mut sink = |batch: ColumnBatch<'_>| {
        assert!(found.replace(shown(&batch)).is_none(), "handed on once");
        Ok(())
    };
    PackedRows::new(parts, 0).emit(data_type, &mut BatchScratch::default(), &mut sink).unwrap();
    found.unwrap()
}

fn numbers(rows: &[u32]) -> RowNumbers {
    let mut numbers = RowNumbers::default();
    rows.iter().for_each(|&row| numbers.push(row));
    numbers
}

fn packed(rows: &[u32], values: Packed) -> PackedColumns {
    PackedColumns::new(vec![(0, PackedColumn { rows: numbers(rows), values })], Vec::new(), 0)
}

fn fixed(width: usize, bytes: &[u8]) -> Packed {
    Packed::Fixed(FixedValues::new(width, bytes.to_vec()))
}

fn list_type() -> DataType {
    DataType::List(Arc::new(arrow_schema::Field::new("element", DataType::UInt8, true)))
}

fn texts(found: &[Option<String>]) -> Vec<&str> {
    found.iter().map(|text| text.as_deref().unwrap_or("NULL")).collect()
}

#[test]
fn texts_and_lists_are_handed_on_from_several_batches() {
    let text = packed(&[0, 2, 3], Packed::Bytes(BytesValues { ends: vec![1, 1, 3], bytes: b"abc".to_vec() }));
    let (none, full) =
        (PackedColumns::default(), packed(&[0], Packed::Bytes(BytesValues { ends: vec![2], bytes: b"xy".to_vec() })));
    let parts = [(&full, 0..1), (&text, 1..4), (&none, 0..2), (&text, 0..1)];
    assert_eq!(texts(&handed_on(&parts, &DataType::Utf8)), ["xy", "NULL", "", "bc", "NULL", "NULL", "a"]);
    assert_eq!(texts(&handed_on(&parts[..1], &DataType::Binary)), ["xy"]);
    assert_eq!(texts(&handed_on(&[(&none, 3..5)], &DataType::Utf8)), ["NULL", "NULL"]);

    let items = Elements { nulls: Vec::new(), values: fixed(1, &[7, 8, 9]) };
    let list = packed(&[1, 2, 4], Packed::List(Box::new(ListValues { ends: vec![2, 2, 3], items })));
    let parts = [(&list, 2..5), (&none, 0..1), (&list, 1..3)];
    assert_eq!(texts(&handed_on(&parts, &list_type())), ["[]", "NULL", "[9]", "NULL", "[7, 8]", "[]"]);
}

#[test]
fn items_of_lists_have_the_bytes_of_their_batch() {
    let list = |width, bytes: &[u8], ends: &[i32]| {
        let items = Elements { nulls: Vec::new(), values: fixed(width, bytes) };
        packed(&[0, 1], Packed::List(Box::new(ListValues { ends: ends.to_vec(), items })))
    };
    let narrow = list(4, &[0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0], &[1, 2]);
    let wide = list(8, &[[0xff; 8], [9, 0, 0, 0, 0, 0, 0, 1]].concat(), &[1, 2]);
    let bytes = list(1, &[0x80, 1], &[0, 2]);
    let data_type = DataType::List(Arc::new(arrow_schema::Field::new("element", DataType::Int64, true)));
    let found = handed_on(&[(&narrow, 0..2), (&wide, 0..2), (&bytes, 1..2), (&narrow, 1..2)], &data_type);
    assert_eq!(texts(&found), ["[4294967295]", "[7]", "[-1]", "[72057594037927945]", "[128, 1]", "[7]"]);
}

#[test]
fn guids_are_keys_of_those_that_are_distinct() {
    let guids = packed(&[0, 2], fixed(16, &[[1; 16], [2; 16]].concat()));
    assert_eq!(texts(&handed_on(&[(&guids, 1..3)], &DataType::Utf8)), ["NULL", "guid 2"]);
    let both = [(&guids, 2..3), (&guids, 0..2)];
    assert_eq!(texts(&handed_on(&both, &DataType::FixedSizeBinary(16))), ["guid 2", "guid 1", "NULL"]);
}

/// Records of one value each.
fn records(rows: &[u32], form: TextForm, values: &[[u8; 16]]) -> PrefixValues {
    let field = PrefixField { column: 0, start: 0, width: form.width(), form: PrefixForm::Text(form) };
    let mut prefix = Prefix { fields: Arc::new([field]), record: form.width(), ..Prefix::default() };
    rows.iter().zip(values).for_each(|(&row, value)| prefix.push(row, &value[..form.width()]));
    prefix.take()
}

#[test]
fn texts_are_made_of_what_stands_for_them() {
    let last = |octet| {
        let mut value = [0; 16];
        value[15] = octet;
        value
    };
    let v4 = records(&[0, 4], TextForm::IPv4, &[[10; 16], [9; 16]]);
    let v6 = records(&[1, 3], TextForm::IPv6, &[last(1), last(2)]);
    let guid = records(&[5], TextForm::Guid, &[[7; 16]]);
    let made = PackedColumns::new(Vec::new(), vec![v4, v6, guid], 0);
    let expected = ["10.10.10.10", "::1", "NULL", "::2", "9.9.9.9", "07070707-0707-0707-0707-070707070707"];
    assert_eq!(texts(&handed_on(&[(&made, 0..6)], &DataType::Utf8)), expected);
    let twice = handed_on(&[(&made, 3..5), (&made, 4..5)], &DataType::Utf8);
    assert_eq!(texts(&twice), ["::2", "9.9.9.9", "9.9.9.9"]);
    // Payloads that are too short for their records have texts of their own.
    let own = PackedColumn {
        rows: numbers(&[2]),
        values: Packed::Bytes(BytesValues { ends: vec![3], bytes: b"::5".to_vec() }),
    };
    let v4 = records(&[0, 3], TextForm::IPv4, &[[10; 16], [9; 16]]);
    let both = PackedColumns::new(vec![(0, own)], vec![v4], 0);
    assert_eq!(texts(&handed_on(&[(&both, 0..4)], &DataType::Utf8)), ["10.10.10.10", "NULL", "::5", "9.9.9.9"]);
    assert_eq!(texts(&handed_on(&[(&both, 1..3), (&made, 1..2)], &DataType::Utf8)), ["NULL", "::5", "::1"]);
}

#[test]
fn booleans_are_handed_on_as_they_are() {
    let column = packed(&[1, 2], fixed(1, &[1, 0]));
    assert_eq!(texts(&handed_on(&[(&column, 0..4)], &DataType::Boolean)), ["NULL", "true", "false", "NULL"]);
}

#[test]
fn floating_point_numbers_are_handed_on_by_their_bits() {
    let column = packed(&[1], fixed(8, &(-1.5_f64).to_le_bytes()));
    assert_eq!(texts(&handed_on(&[(&column, 0..2)], &DataType::Float64)), ["NULL", "-4613937818241073152"]);
    let column = packed(&[1], fixed(4, &1.5_f32.to_le_bytes()));
    assert_eq!(texts(&handed_on(&[(&column, 0..2)], &DataType::Float32)), ["NULL", "1069547520"]);
}

#[test]
fn what_has_no_form_is_an_array() {
    let t = |values: Packed, data_type: &DataType| {
        let column = packed(&[0], values);
        let mut is_array = false;
        let mut sink = |batch: ColumnBatch<'_>| {
            is_array = matches!(&batch, ColumnBatch::Array(array) if array.data_type() == data_type);
            Ok(())
        };
        let rows = PackedRows::new(&[(&column, 0..2)], 0);
        rows.emit(data_type, &mut BatchScratch::default(), &mut sink).unwrap();
        assert!(is_array, "{data_type}");
    };
    let items = Elements { nulls: vec![1], values: fixed(1, &[7, 0]) };
    t(Packed::List(Box::new(ListValues { ends: vec![2], items })), &list_type());
    let member = |nulls: &[u32], values| Elements { nulls: nulls.to_vec(), values };
    let structure = |member| Packed::Struct(StructValues { len: 1, members: vec![member] });
    let of = |member| DataType::Struct(vec![arrow_schema::Field::new("x", member, true)].into());
    // A member that is NULL beside others, and one that is nested.
    t(structure(member(&[0], fixed(1, &[0]))), &of(DataType::UInt8));
    let items = member(&[], fixed(1, &[7]));
    t(structure(member(&[], Packed::List(Box::new(ListValues { ends: vec![1], items })))), &of(list_type()));
}

#[test]
fn the_members_of_structures_are_handed_on_one_after_another() {
    let member = |nulls: &[u32], values| Elements { nulls: nulls.to_vec(), values };
    let text = Packed::Bytes(BytesValues { ends: vec![1, 1, 3], bytes: b"abc".to_vec() });
    // The last one has a NULL, which does not lie in the rows that are handed on.
    let members = vec![member(&[2], fixed(1, &[5, 6, 0])), member(&[], text)];
    let some = packed(&[0, 2, 3], Packed::Struct(StructValues { len: 3, members }));
    let none = PackedColumns::default();
    let field = |name, data_type| arrow_schema::Field::new(name, data_type, true);
    let record = DataType::Struct(vec![field("x", DataType::UInt8), field("y", DataType::Utf8)].into());
    let handed_on = |parts: &[(&PackedColumns, Range<u32>)]| {
        let mut found = Vec::new();
        let mut sink = |batch: ColumnBatch<'_>| {
            found.push(shown(&batch));
            Ok(())
        };
        PackedRows::new(parts, 0).emit(&record, &mut BatchScratch::default(), &mut sink).unwrap();
        found
    };
    let found = handed_on(&[(&some, 1..3), (&none, 0..1), (&some, 0..1)]);
    assert_eq!(
        found.iter().map(|member| texts(member)).collect::<Vec<_>>(),
        [["NULL", "6", "NULL", "5"], ["NULL", "", "NULL", "a"]]
    );
    assert_eq!(handed_on(&[(&none, 0..2)]), [[None, None], [None, None]]);
}

#[test]
fn keys_and_times_follow_from_numbers() {
    let column = packed(&[0, 1, 3], fixed(1, &[2, 0, 1]));
    let rows = PackedRows::new(&[(&column, 0..4)], 0);
    let table = Arc::new(KeyTable::Numbers(vec![Some(10), None, Some(12)]));
    let (mut found, mut scratch) = (Vec::new(), BatchScratch::default());
    let mut sink = |batch: ColumnBatch<'_>| {
        found = shown(&batch);
        Ok(())
    };
    rows.emit_keys(&table, |key| 2 - key, &mut scratch, &mut sink).unwrap();
    assert_eq!(texts(&found), ["10", "12", "NULL", "NULL"]);

    let column = packed(&[0, 1], fixed(8, &[(-1i64).to_le_bytes(), 1999i64.to_le_bytes()].concat()));
    let mut sink = |batch: ColumnBatch<'_>| {
        found = shown(&batch);
        Ok(())
    };
    let rows = PackedRows::new(&[(&column, 0..2)], 0);
    rows.emit_converted(|ns| ns.div_euclid(1000), &mut scratch, &mut sink).unwrap();
    assert_eq!(texts(&found), ["-1", "1"]);
}

/// Rows of a batch: for each whose value is kept where, 0 for NULL, 1 for the column, else a layout, and the value.
type Rows = Vec<(u8, u64)>;

/// Layouts are of different lengths and widths; the column has `width` bytes.
fn batch_of(rows: &Rows, width: usize) -> PackedColumns {
    let kept_in = |place: u8| (0u32..).zip(rows).filter(move |(_, (at, _))| *at == place);
    let rows_in = |place| kept_in(place).map(|(row, _)| row).collect::<Vec<_>>();
    let bytes = kept_in(1).flat_map(|(_, (_, value))| value.to_le_bytes()[..width].to_vec()).collect();
    let column = PackedColumn { rows: numbers(&rows_in(1)), values: Packed::Fixed(FixedValues::new(width, bytes)) };
    let prefix = |place: u8| {
        let (start, field_width) = (usize::from(place), if place == 2 { width } else { 1 });
        let form = if place == 4 { NumberForm::Signed } else { NumberForm::Unsigned };
        let mut prefix = Prefix {
            fields: Arc::new([PrefixField { column: 0, start, width: field_width, form: PrefixForm::Number(form) }]),
            record: start + field_width + usize::from(place == 3),
            ..Prefix::default()
        };
        for (row, (_, value)) in kept_in(place) {
            let mut record = vec![0xEE; prefix.record];
            record[start..start + field_width].copy_from_slice(&value.to_le_bytes()[..field_width]);
            prefix.push(row, &record);
        }
        prefix.take()
    };
    let filled = |prefix: &PrefixValues| prefix.rows.count() > 0;
    let columns = if column.rows.count() > 0 { vec![(0, column)] } else { Vec::new() };
    PackedColumns::new(columns, (2..5).map(prefix).filter(filled).collect(), 0)
}

/// The value that a column of a type has of one that is kept somewhere.
fn expected(place: u8, value: u64, data_type: &DataType) -> Option<String> {
    let bytes = value.to_le_bytes();
    let narrow = bytes[0];
    Some(match data_type {
        _ if place == 0 => return None,
        DataType::Int8 => bytes[0].cast_signed().to_string(),
        // A number of fewer bytes than the column is extended as its layout says.
        _ if place == 4 => narrow.cast_signed().to_string(),
        _ if place > 2 => narrow.to_string(),
        DataType::Int16 => i16::from_le_bytes([bytes[0], bytes[1]]).to_string(),
        DataType::UInt32 => i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).to_string(),
        _ => value.cast_signed().to_string(),
    })
}

proptest! {
    #[test]
    fn numbers_of_several_layouts_come_in_the_order_of_their_rows(
        batches in prop::collection::vec((0u8..=4, prop::collection::vec((0u8..=4, any::<u64>()), 1..150)), 1..4),
        cuts in prop::collection::vec((0usize..150, 0usize..150), 4),
        kind in 0usize..4,
    ) {
        let (data_type, width) =
            [(DataType::Int8, 1), (DataType::Int16, 2), (DataType::UInt32, 4), (DataType::UInt64, 8)][kind].clone();
        // Few NULLs in some, so that batches are full.
        let limited = |(least, rows): &(u8, Rows)| -> Rows { rows.iter().map(|&(at, value)| (at.max(*least), value)).collect() };
        let batches: Vec<Rows> = batches.iter().map(limited).collect();
        let all: Vec<_> = batches.iter().map(|rows| batch_of(rows, width)).collect();
        let (mut parts, mut wanted) = (Vec::new(), Vec::new());
        for ((rows, columns), (from, to)) in batches.iter().zip(&all).zip(cuts) {
            let (from, to) = (from.min(rows.len() - 1), to.clamp(from.min(rows.len() - 1) + 1, rows.len().max(from + 1)));
            let to = to.min(rows.len());
            parts.push((columns, u32::try_from(from).unwrap()..u32::try_from(to).unwrap()));
            wanted.extend(rows[from..to].iter().map(|&(place, value)| expected(place, value, &data_type)));
        }
        prop_assert_eq!(handed_on(&parts, &data_type), wanted);
    }
}
