//! The targets by name.

use std::time::Duration;

use crate::digest::Digest;
use crate::targets::{
    binaries, buffers, containers, decode, lake, loss, report, schemas, stored, symbols, traces, values, xpress,
};

/// A room with its oracle.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of the folder of its seeds, too, unless `seeds` says another.
    pub name: &'static str,
    /// What holds for every input.
    pub oracle: &'static str,
    /// Takes an input; adds to the digest what came of it.
    pub run: fn(&[u8], &mut Digest),
    /// What inputs are.
    pub form: Form,
    /// The folder of seeds, where several targets share one.
    pub seeds: &'static str,
    /// Inputs are not longer.
    pub max_len: usize,
    /// Inputs of one run of the loop.
    pub count: u64,
    /// What an input may take.
    pub limits: Limits,
}

/// What an input may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes on the heap at a time.
    pub memory: usize,
    /// Time of all threads.
    pub time: Duration,
}

/// What the bytes of an input stand for, which decides how inputs are made from seeds.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Anything.
    Binary,
    /// Text of which these are frequent words.
    Text(&'static [&'static str]),
    /// A trace; most changes are to the known fields of it.
    Trace,
    /// A number of 32 bits that goes through all values below a limit, then anything.
    Numbered(fn() -> usize),
}

const MIB: usize = 1 << 20;

impl Target {
    const fn new(name: &'static str, run: fn(&[u8], &mut Digest), oracle: &'static str) -> Target {
        let limits = Limits { memory: 64 * MIB, time: Duration::from_secs(5) };
        Target { name, oracle, run, form: Form::Binary, seeds: name, max_len: 4096, count: 100_000, limits }
    }

    const fn form(self, form: Form) -> Target {
        Target { form, ..self }
    }

    const fn max_len(self, max_len: usize) -> Target {
        Target { max_len, ..self }
    }

    const fn count(self, count: u64) -> Target {
        Target { count, ..self }
    }

    const fn heavy(self) -> Target {
        Target { limits: Limits { memory: 256 * MIB, ..self.limits }, ..self }
    }

    /// The window that a compressed stream may ask for, and what stands around it.
    const fn unpacking(self) -> Target {
        Target { limits: Limits { memory: 320 * MIB, ..self.limits }, ..self }
    }

    const fn of_traces(self) -> Target {
        Target { form: Form::Trace, seeds: "trace", max_len: 128 << 10, ..self.heavy() }
    }

    /// The target of a name.
    pub fn find(name: &str) -> Option<&'static Target> {
        ALL.iter().find(|target| target.name == name)
    }
}

const XML: &[&str] = &[
    "<provider ",
    "<event ",
    "<template ",
    "<data ",
    "<struct ",
    "<map ",
    "<valueMap ",
    "<bitMap ",
    "<task ",
    "<opcode ",
    "<string ",
    "</template>",
    "/>",
    " name=\"",
    " value=\"",
    " guid=\"{",
    " id=\"",
    " count=\"",
    " length=\"",
    " tid=\"",
    " template=\"",
    " inType=\"win:UnicodeString\"",
    " inType=\"win:UInt32\"",
    " inType=\"win:Pointer\"",
    "&amp;",
    "&lt;",
    "&",
    "$(string.",
    "65535",
    "-1",
    "0x",
    "4294967296",
    "\u{FEFF}",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "\"",
];

const TMF: &[&str] = &[
    "#typev ",
    "#enumv ",
    "{",
    "}",
    "\n",
    "\"%0",
    "%10!s!",
    "%11!d!",
    "%255!s!",
    "Arg",
    ", ItemString -- 10",
    ", ItemLong -- 11",
    ", ItemListLong(a,b) -- 12",
    ", ItemEnum(",
    ", ItemPtr -- 10",
    ", ItemHexDump -- 10",
    ", ItemWString -- 10",
    ", ItemSetLong(",
    "// SRC=",
    " PDB: ",
    "FUNC=",
    "LEVEL=",
    "FLAGS=",
    "!*s!",
    "!-08.3x!",
    "%%",
    "%n",
    "%t",
    "0xFFFFFFFF",
];

const MOF: &[&str] = &[
    "#pragma autorecover\n",
    "[Dynamic, Guid(\"{3f92e6e0-9886-434e-85db-0d11d3904c0a}\")]",
    "Guid(\"{b49d5931-ad85-4070-b1b1-3f81f1532875}\")",
    "EventVersion(1)",
    "EventType{1, 2}",
    "EventType(10)",
    "EventTypeName{\"Start\", \"End\"}",
    "DisplayName(\"Work\") : amended",
    "class Lab : EventTrace {",
    "class Work : Lab {};\n",
    "class ",
    " : ",
    "};\n",
    "[WmiDataId(1), ",
    "[WmiDataId(2)] ",
    "WmiSizeIs(\"A\")",
    "MAX(16)",
    "pointer",
    "extension(\"Sid\")",
    "extension(\"SizeT\")",
    "extension(\"Variant\")",
    "format(\"w\")",
    "format(\"s\")",
    "StringTermination(\"ReverseCounted\")",
    "StringTermination(\"NotCounted\")",
    "ValueMap{\"0x1\", \"2\"}",
    "Values{\"One\", \"Two\"}",
    "BitMap{\"0\", \"63\"}",
    "BitValues{\"a\", \"b\"}",
    "ValueType(\"flag\")",
    ", ",
    "] ",
    "uint32 A;",
    "string B;",
    "object C;",
    "char16 D[4];",
    "uint8 E[];",
    "/*",
    "*/",
    "//",
    "\\x41",
    "\"",
];

const PACK: &[&str] = &[
    "P\t",
    "C\t",
    "K\t",
    "T\t",
    "O\t*\t",
    "M\t0\tv\t",
    "M\t0\tb\t",
    "L\t0\t",
    "L\t1\t",
    "W\t",
    "E\t",
    "V\t",
    "\t",
    "\n",
    "-",
    "=",
    "*",
    "65535",
    "65536",
    "i",
    "d",
    "#",
    "ffffffffffffffff",
];

const LOCK: &[&str] = &[
    "# etl2parquet schema lock, format 1\n",
    "P\t11111111-2222-3333-4444-555555555555\tLab\n",
    "N\t",
    "E\t",
    "V\t",
    "\tint",
    "\ttext",
    "\tstruct",
    "\tlist_struct",
    "\ttime/value/filetime",
    "\tint/value/label",
    "/ns",
    "S.a",
    ".",
    "0-65535",
    "65536",
    "\t",
    "\n",
    "\r\n",
    "#",
];

const FACTS: &[&str] = &[
    "{\"format\":1,\"providers\":[",
    "{\"name\":\"Lab\",\"guid\":\"11111111-2222-3333-4444-555555555555\",\"kind\":\"manifest\",\"known_events\":[",
    "\"kind\":\"classic\"",
    "\"kind\":\"wpp\",\"known_messages\":[",
    "{\"id\":1,\"version\":0,\"layouts\":[{\"fields\":[",
    "{\"name\":\"A\",\"in_type\":\"UInt16\"}",
    "\"in_type\":\"Utf16\"",
    "\"in_type\":\"Struct\",\"fields\":[",
    "\"count\":{\"field\":\"A\"}",
    "\"count_at\":{\"up\":0,\"index\":0}",
    "\"length\":{\"constant\":65535}",
    "\"count\":\"rest\"",
    "\"count\":\"prefixed\"",
    "\"map\":{\"name\":\"M\",\"kind\":\"bits\",\"entries\":[{\"value\":1,\"name\":\"x\"}]}",
    "\"event\":{\"task_value\":7,\"opcode_value\":1}",
    "\"build\":26100",
    "\"trust\":\"doubtful\"",
    "\"keyword_mask\":\"0x8000000000000000\"",
    "\"item\":\"ItemEnum\"",
    "18446744073709551616",
    "]}",
    "}]",
    ",",
    "null",
];

/// All targets.
pub const ALL: &[Target] = &[
    Target::new("walk", buffers::walk, "tiling, alignment").count(400_000),
    Target::new("items", buffers::items, "equal to a plain reading of the chain").count(400_000),
    Target::new("scan", buffers::scan, "tiling, conserved bytes").max_len(16 << 10),
    Target::new("xpress", xpress::expanded, "equal to a plain decoder").count(400_000),
    Target::new("xpress_round_trip", xpress::round_trip, "read-back equality"),
    Target::new("clock", values::clock, "monotone, equal to exact arithmetic").count(200_000),
    Target::new("names", values::folder_names, "names unique and safe"),
    Target::new("texts", values::texts, "read-back equality").count(200_000),
    Target::new("string_events", decode::string_events, "`consumes` = `decode`, arrays valid in full, messages end"),
    Target::new(
        "any_schema",
        decode::any_schema,
        "names unique, `consumes` = `decode`, arrays valid in full, messages end",
    ),
    Target::new("pack_layout", decode::pack_layout, "`consumes` = `decode`, arrays valid in full, messages end")
        .form(Form::Numbered(decode::pack_layout_count)),
    Target::new("tracelogging", schemas::tracelogging, "those of any_schema").count(20_000),
    Target::new("event_info", schemas::event_info, "those of any_schema, room kept").count(20_000),
    Target::new("manifest", schemas::manifest, "those of any_schema, order").form(Form::Text(XML)).count(20_000),
    Target::new("eventsource", schemas::eventsource, "those of manifest, standing").max_len(16 << 10).count(20_000),
    Target::new("wevt", binaries::wevt, "those of manifest, read-back equality, room kept")
        .heavy()
        .max_len(16 << 10)
        .count(20_000),
    Target::new("message_table", binaries::message_table, "equal to a plain reading of the blocks").count(100_000),
    Target::new("resources", binaries::resources, "those of wevt, parts are bytes of the file")
        .heavy()
        .max_len(32 << 10)
        .count(20_000),
    Target::new("tmf", schemas::tmf, "arguments and bytes conserved").form(Form::Text(TMF)).count(20_000),
    Target::new("mof", schemas::mof, "those of manifest, found in place of a version above")
        .form(Form::Text(MOF))
        .count(20_000),
    Target::new("pack_text", schemas::pack_text, "those of any_schema, order").form(Form::Text(PACK)).count(20_000),
    Target::new("facts", schemas::facts, "those of manifest, read-back equality").form(Form::Text(FACTS)).count(20_000),
    Target::new("lock", schemas::lock, "read-back equality, every name once").form(Form::Text(LOCK)).count(20_000),
    Target::new("containers", containers::containers, "alone as with others, sizes and check sums as recorded")
        .unpacking()
        .count(20_000),
    Target::new("pdb", symbols::pdb, "alike with and without lines, alone as with others, within its symbol")
        .max_len(32 << 10)
        .count(20_000),
    Target::new("msfz", symbols::pdb, "those of pdb").max_len(32 << 10).count(20_000),
    Target::new("pdb_messages", symbols::pdb_messages, "no more messages than annotations, the same each time")
        .max_len(32 << 10)
        .count(20_000),
    Target::new(
        "portable_pdb",
        symbols::portable_pdb,
        "alone as with others, in any order, found by its identity alone",
    )
    .max_len(32 << 10)
    .count(20_000),
    Target::new("pe", symbols::pe, "found by its own identity alone").max_len(32 << 10).count(20_000),
    Target::new("loss", loss::loss, "events go only where damage, an issue or a gap is said")
        .form(Form::Numbered(loss::subject_count))
        .count(200_000),
    Target::new("stored", stored::stored, "refused, or read-back equality of what is published")
        .heavy()
        .max_len(64)
        .count(400),
    Target::new("survey", traces::survey, "tiling, counts per buffer = per shape, two alike").of_traces().count(20_000),
    Target::new("plan", traces::plan, "names unique, read-back equality").of_traces().count(2000),
    Target::new("convert", traces::convert, "conserved, arrays valid in full, each `seq` once").of_traces().count(200),
    Target::new("report", report::report, "a small page without foreign markup, damage reported alike")
        .of_traces()
        .count(100),
    Target::new("report_stored", report::report_stored, "refused, or a small page without foreign markup")
        .heavy()
        .max_len(64)
        .count(400),
    Target::new("lake_stored", lake::lake_stored, "refused, or the lake that would have been")
        .heavy()
        .max_len(64)
        .count(400),
    Target::new("threads", traces::threads, "1 thread = 4 threads, byte by byte").of_traces().count(100),
];
