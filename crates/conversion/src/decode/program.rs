//! A schema made ready to be run over payloads.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::TimeUnit;
use columnar::columns::prefix::{PrefixField, TextForm};
use schema::model::ValueMap;
use schema::pack::CodeTable;

/// The decoding steps of one event layout for one pointer size.
#[derive(Debug)]
pub struct Program {
    /// The fields, in order.
    pub(super) nodes: Vec<Node>,
    /// What distinguishes the program from the others of its table.
    pub(super) number: usize,
    /// The leading values of fixed width that columns read out of the payload themselves.
    pub(super) prefix_fields: Arc<[PrefixField]>,
    /// The Arrow bytes of those, but for texts whose length varies.
    pub(super) prefix_weight: usize,
    /// Where what stands for those texts lies.
    pub(super) prefix_texts: Vec<(Range<usize>, TextForm)>,
    /// The leading values of fixed width that are converted.
    pub(super) prefix_steps: Vec<ConvertStep>,
    /// Both kinds stand for so many leading nodes.
    pub(super) prefix_nodes: usize,
    /// The bytes those take.
    pub(super) prefix_size: usize,
    /// Which of them are remembered.
    pub(super) prefix_slots: Vec<Remembered>,
    /// From this field on, all may be left out.
    pub(super) optional_from: usize,
    /// How many fields others refer to.
    pub(super) slots: usize,
    /// Whether the columns leave out a field, so that only the payload holds all of them.
    pub(super) is_partial: bool,
}

/// A value at a known offset and the operation that makes a column's value of it.
#[derive(Debug)]
pub(super) struct ConvertStep {
    /// Where it begins and ends in the payload.
    pub bytes: Range<usize>,
    /// The number of the column.
    pub target: usize,
    pub op: Convert,
}

/// A value at a known offset that later fields refer to.
#[derive(Debug)]
pub(super) struct Remembered {
    pub slot: Slot,
    pub span: FieldExtent,
}

/// One field, compiled.
#[derive(Debug)]
pub(super) struct Node {
    pub item: FieldBody,
    pub repeat: Repeat,
    pub slot: Option<Slot>,
    pub outputs: Vec<Output>,
    /// The least bytes of one item.
    pub item_min: usize,
    /// Whether every item has exactly `item_min` bytes.
    pub item_fixed: bool,
    /// How many values without bytes an item of fixed size holds.
    pub item_empty: usize,
}

/// What a field consists of.
#[derive(Debug)]
pub(super) enum FieldBody {
    Leaf(LengthRule),
    Struct(Vec<Node>),
    /// Nothing shows how far it reaches.
    Unreadable,
}

/// Where a value goes: the number of a column, or of a member within the enclosing structure.
#[derive(Debug)]
pub(super) struct Output {
    pub target: usize,
    pub op: Convert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    One,
    Times(Number),
    Prefixed,
    Rest,
}

/// A length or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Constant(usize),
    /// The remembered value of an earlier field.
    Slot(usize),
}

/// Where an integer field's value is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub index: usize,
    pub signed: bool,
}

/// The bytes of a value, and where the next one begins (behind terminators).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldExtent {
    pub start: usize,
    pub end: usize,
    pub next: usize,
    /// The number of values: 1, or the length of a list.
    pub items: usize,
}

impl FieldExtent {
    pub(super) fn one(start: usize, end: usize, next: usize) -> FieldExtent {
        FieldExtent { start, end, next, items: 1 }
    }
}

/// How the reach of one value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthRule {
    Fixed(usize),
    NulUtf16,
    NulAnsi,
    /// So many units of so many bytes.
    Units {
        count: Number,
        unit: usize,
    },
    /// A count of units (`unit` bytes each) stands before them.
    Counted {
        counter: Counter,
        unit: usize,
        per_unit: bool,
    },
    /// To the end of the payload, in units of so many bytes.
    Rest {
        unit: usize,
    },
    Sid,
    /// A leading zero `u32` alone, or so many bytes and a SID. All of these bytes can be zero, too.
    WbemSid {
        skip: usize,
    },
    SocketAddress,
}

/// An integer that says how much follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    U16,
    BigEndianU16,
    U32,
}

/// What is done with the bytes of one value.
#[derive(Clone, Debug)]
pub(super) enum Convert {
    /// Always NULL.
    Null,
    /// A number that the column stores as the payload does, of so many bytes.
    Copy(usize),
    /// Extended to the column's width, so many bytes.
    Integer {
        signed: bool,
        width: usize,
    },
    /// Big-endian, 2 bytes, extended to the column's width, so many bytes.
    Port {
        width: usize,
    },
    Boolean,
    FloatToDouble,
    FileTime(TimeUnit),
    SystemTime(TimeUnit),
    TraceTime,
    /// A span of the performance counter; its ticks stand in a column, too.
    TickSpan,
    GuidText,
    /// 16 bytes in the order of the text form.
    GuidBytes,
    Bytes,
    Utf16 {
        cut: bool,
    },
    Ansi {
        cut: bool,
        utf8: bool,
    },
    Sid,
    IPv4,
    IPv6,
    SocketAddress,
    Label(Arc<ValueMap>),
    /// The name of a status code.
    Status(CodeTable),
    /// The members of a structure, which the walk takes apart.
    Members,
}
