//! Arguments and text of one message.

use std::fmt::Write;
use std::ops::Range;

use super::argument::ArgumentType;
use super::compiled::CompiledMessage;
use super::format::Piece;
use super::message::MessageFormat;
use super::time::push_unix_ns;
use crate::message::MAX_TEXT_BYTES;

/// What the header of a message adds to its text (`%3` to `%9`); what it does not carry stays empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeaderValues {
    /// The thread.
    pub thread_id: Option<u32>,
    /// The process.
    pub process_id: Option<u32>,
    /// The sequence number.
    pub sequence: Option<u32>,
    /// The processor.
    pub cpu: Option<u16>,
    /// The time in nanoseconds since 1970-01-01 UTC.
    pub timestamp_ns: Option<i64>,
}

/// How the arguments of a message agree with its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentStatus {
    /// All were read and nothing is left.
    Exact,
    /// All were read, and bytes are left.
    Extra,
    /// The bytes end where an argument would begin.
    Short,
    /// The bytes end within an argument, or it is no value of its type.
    Error,
    /// An argument is of a type of unknown length.
    UnknownType,
}

/// The outcome of [`Renderer::render`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// How the arguments agree with the format.
    pub status: ArgumentStatus,
    /// How many arguments were handed out: those that could be read, unless their texts are too long.
    pub arguments: usize,
    /// How many bytes they take.
    pub consumed: usize,
    /// Whether the texts of the arguments are all there is to them: `false` when one was not valid text, or something
    /// was cut.
    pub faithful: bool,
}

/// Renders messages one after the other, with room that is used again.
#[derive(Debug, Default)]
pub struct Renderer {
    /// Where in the arguments each value stands.
    values: Vec<Range<usize>>,
    /// The texts of the values, one after another, and where each ends.
    texts: String,
    ends: Vec<usize>,
    scratch: String,
}

impl Renderer {
    /// A renderer.
    pub fn new() -> Self {
        Renderer::default()
    }

    /// Appends the text of a message to `message` and hands the text of each argument, in wire order, to `argument`.
    ///
    /// `pointer_size` is 4 or 8. An insertion whose argument could not be read stays in the text as it is declared
    /// (`%11!d!`); the status shows that it happened. No bytes make this fail.
    pub fn render(
        &mut self,
        plan: &CompiledMessage,
        arguments: &[u8],
        pointer_size: u8,
        header: &HeaderValues,
        message: &mut String,
        mut argument: impl FnMut(&str),
    ) -> Rendered {
        let format = &plan.format;
        let (status, consumed) = self.locate(format, arguments, if pointer_size == 4 { 4 } else { 8 });
        let (handed, mut faithful) = self.arguments(plan, arguments, &mut argument);
        let limit = message.len().saturating_add(MAX_TEXT_BYTES);
        for piece in &plan.pieces {
            self.write_piece(piece, format, arguments, header, message);
            if message.len() > limit {
                message.truncate((0..=limit).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0));
                faithful = false;
                break;
            }
        }
        Rendered { status, arguments: handed, consumed, faithful }
    }

    /// Hands out the texts of the arguments. Returns how many, and whether they are all there is to them.
    fn arguments(&mut self, plan: &CompiledMessage, bytes: &[u8], argument: &mut impl FnMut(&str)) -> (usize, bool) {
        self.texts.clear();
        self.ends.clear();
        let mut faithful = true;
        for ((declared, &conversion), value) in plan.format.arguments.iter().zip(&plan.conversions).zip(&self.values) {
            let start = self.texts.len();
            let value = bytes.get(value.clone()).unwrap_or_default();
            faithful &= declared.encoding.write_whole(value, conversion, &mut self.texts);
            if self.texts.len() > MAX_TEXT_BYTES {
                return (self.ends.len(), false);
            }
            argument(self.texts.get(start..).unwrap_or_default());
            self.ends.push(self.texts.len());
        }
        (self.ends.len(), faithful)
    }

    /// The text of an argument in the list of them, if it is there.
    fn whole(&self, index: usize) -> Option<&str> {
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.texts.get(start..*self.ends.get(index)?)
    }

    /// Finds the values of the arguments.
    fn locate(&mut self, format: &MessageFormat, arguments: &[u8], pointer_bytes: usize) -> (ArgumentStatus, usize) {
        self.values.clear();
        let mut at = 0;
        for argument in &format.arguments {
            let rest = arguments.get(at..).unwrap_or_default();
            let Some((value, end)) = argument.encoding.extent(rest, pointer_bytes) else {
                let status = match argument.encoding {
                    ArgumentType::Unknown(_) => ArgumentStatus::UnknownType,
                    _ if rest.is_empty() => ArgumentStatus::Short,
                    _ => ArgumentStatus::Error,
                };
                return (status, at);
            };
            if end == 0 {
                return (ArgumentStatus::Short, at);
            }
            self.values.push(at + value.start..at + value.end);
            at += end;
        }
        (if at == arguments.len() { ArgumentStatus::Exact } else { ArgumentStatus::Extra }, at)
    }

    fn write_piece(
        &mut self,
        piece: &Piece,
        format: &MessageFormat,
        arguments: &[u8],
        header: &HeaderValues,
        out: &mut String,
    ) {
        match piece {
            Piece::Literal(text) => out.push_str(text),
            Piece::Origin { part, spec } => spec.write_text(&format.origin.part(*part), out),
            Piece::Argument { index, spec, source, is_whole } => {
                if let Some(text) = self.whole(*index).filter(|_| *is_whole) {
                    return out.push_str(text);
                }
                match (format.arguments.get(*index), self.values.get(*index)) {
                    (Some(item), Some(value)) => {
                        let value = arguments.get(value.clone()).unwrap_or_default();
                        item.encoding.write_formatted(value, spec, &mut self.scratch, out);
                    }
                    _ => out.push_str(source),
                }
            }
            Piece::Header { number, spec } => {
                let value = match number {
                    3 => header.thread_id,
                    7 => header.sequence,
                    8 => header.process_id,
                    9 => header.cpu.map(u32::from),
                    _ => None,
                };
                self.scratch.clear();
                match (number, value) {
                    (4, _) => {
                        if let Some(time) = header.timestamp_ns {
                            push_unix_ns(time, &mut self.scratch);
                        }
                    }
                    (_, Some(value)) => {
                        if spec.write_integer(u64::from(value), 32, out).is_some() {
                            return;
                        }
                        // Writing to a string cannot fail.
                        let _ = write!(self.scratch, "{value}");
                    }
                    (_, None) => {}
                }
                spec.write_text(&self.scratch, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::guid::Guid;
    use proptest::prelude::*;

    use super::*;
    use crate::model::ValueMap;
    use crate::printf::Spec;
    use crate::wpp::{Argument, MessageOrigin, Names};

    /// A message of some arguments.
    fn plan(origin: MessageOrigin, format: &str, arguments: Vec<Argument>) -> CompiledMessage {
        CompiledMessage::new(Arc::new(MessageFormat {
            guid: Guid::ZERO,
            number: 1,
            origin,
            format: format.into(),
            arguments,
        }))
    }

    fn format(text: &str, arguments: &[&str]) -> CompiledMessage {
        let origin = MessageOrigin { provider: "P".into(), function: Some("Run".into()), ..MessageOrigin::default() };
        let arguments = arguments
            .iter()
            .zip(10..)
            .map(|(declared, number)| Argument::new("x", number, ArgumentType::parse(declared)));
        plan(origin, text, arguments.collect())
    }

    fn render(text: &str, items: &[&str], arguments: &[u8]) -> (String, Vec<String>, Rendered) {
        let (mut message, mut values) = (String::new(), Vec::new());
        let header = HeaderValues {
            thread_id: Some(0xf4),
            process_id: Some(4),
            sequence: None,
            cpu: Some(2),
            timestamp_ns: Some(1_500_000_000_123_456_700),
        };
        let rendered = Renderer::new()
            .render(&format(text, items), arguments, 8, &header, &mut message, |value| values.push(value.to_owned()));
        (message, values, rendered)
    }

    /// Item type, bytes, and the text that both the message and the list of arguments show.
    const ALIKE: &[(&str, &[u8], &str)] = &[
        ("ItemChar", b"\xff", "-1"),
        ("ItemUChar", b"\xff", "255"),
        ("ItemShort", b"\xfe\xff", "-2"),
        ("ItemUShort", b"\xfe\xff", "65534"),
        ("ItemLong", b"\xff\xff\xff\xff", "-1"),
        ("ItemULong", b"\xff\xff\xff\xff", "4294967295"),
        ("ItemEnum(Kind)", b"\x1a\0\0\0", "0x1A"),
        ("ItemFlagsEnum(Kind)", b"\x1a\0\0\0", "0x1A"),
        ("ItemNTSTATUS", b"\0\0\0\0", "STATUS_SUCCESS"),
        ("ItemNTSTATUS", b"\x03\x01\0\0", "0x00000103(STATUS_PENDING)"),
        ("ItemNTSTATUS", b"\x34\x12\0\xe0", "0xe0001234"),
        ("ItemHRESULT", b"\0\0\0\0", "S_OK"),
        ("ItemHRESULT", b"\x01\0\0\0", "S_FALSE"),
        ("ItemHRESULT", b"\x05\0\x07\x80", "0x80070005(ERROR_ACCESS_DENIED)"),
        ("ItemHRESULT", b"\x05\x40\0\x80", "0x80004005(E_FAIL)"),
        ("ItemWINERROR", b"\0\0\0\0", "0(ERROR_SUCCESS)"),
        ("ItemWINERROR", b"\x05\0\0\0", "5(ERROR_ACCESS_DENIED)"),
        ("ItemWINERROR", b"\x31\xd4\0\0", "54321"),
        ("ItemNDIS_STATUS", b"\x0b\0\x01\x40", "0x4001000b(NDIS_STATUS_MEDIA_CONNECT)"),
        ("ItemNDIS_OID", b"\x01\x01\x01\0", "0x00010101(OID_GEN_SUPPORTED_LIST)"),
        ("ItemLongLong", b"\xff\xff\xff\xff\xff\xff\xff\xff", "-1"),
        ("ItemULongLong", b"\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
        ("ItemLongLongX", b"\x10\0\0\0\0\0\0\0", "0x10"),
        ("ItemLongLongO", b"\x10\0\0\0\0\0\0\0", "16"),
        ("ItemTimeDelta", b"\x80\xf0\xfa\x02\0\0\0\0", "5.000s"),
        ("ItemTimestamp", b"\0\0\x5a\xf6\x4c\xf5\xd4\x01", "2019-04-17T18:40:00.0000000Z"),
        ("ItemWaitTime", b"\0\0\x5a\xf6\x4c\xf5\xd4\x01", "2019-04-17T18:40:00.0000000Z"),
        ("ItemWaitTime", b"\xff\xff\xff\xff\xff\xff\xff\xff", "-1"),
        ("ItemDouble", b"\0\0\0\0\0\0\xf4\x3f", "1.25"),
        ("ItemDouble", b"\0\0\0\x20\x5f\xa0\x02\x42", "1e+10"),
        ("ItemDouble", b"\0\0\0\0\0\0\xf0\xff", "-inf"),
        ("ItemPtr", b"\x00\x10\0\0\0\x80\xff\xff", "0xffff800000001000"),
        ("ItemListByte(Low,APC,DPC)", b"\x02", "0x00000002(DPC)"),
        ("ItemListLong(FALSE,TRUE)", b"\x07\0\0\0", "0x00000007"),
        ("ItemListShort(A,B=0x10,C)", b"\x11\0", "0x00000011(C)"),
        ("ItemSetByte(a,b,,d)", b"\x0f", "[a,b,d,0x4]"),
        ("ItemSetShort(a)", b"\0\0", "[]"),
        ("ItemSetLong(a,z=31)", b"\x01\0\0\x80", "[a,z]"),
        ("ItemSetLong(a)", b"\0\0\0\x80", "[0x80000000]"),
        ("ItemChar4", b"RGBA", "RGBA"),
        ("ItemPort", b"\x01\xbb", "443"),
        ("ItemIPAddr", b"\x0a\0\0\x01", "10.0.0.1"),
        ("ItemIPV6Addr", b"\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", "fe80::1"),
        ("ItemMACAddr", b"\0\x01\x02\xaa\xbb\xcc", "00-01-02-AA-BB-CC"),
        (
            "ItemGuid",
            b"\x23\x0d\x3c\xe1\xbc\xcc\x12\x4e\x93\x1b\xd9\xcc\x2e\xee\x27\xe4",
            "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
        ),
        ("ItemString", b"abc\0", "abc"),
        ("ItemString", b"\0", ""),
        ("ItemRString", b"abc\0", "abc"),
        ("ItemWString", b"a\0\xe4\0\0\0", "a\u{e4}"),
        ("ItemPString", b"\x03\0abc", "abc"),
        ("ItemPWString", b"\x02\0\xe4\0", "\u{e4}"),
        ("ItemHexDump", b"\x03\0\x01\xab\xff", "01ABFF"),
        ("ItemHexDump", b"\0\0", ""),
        ("ItemSid", b"\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0", "S-1-5-32-544"),
        ("ItemSid", b"NULL\0", "NULL"),
    ];

    #[test]
    fn every_item_type_has_its_length_and_text() {
        for &(declared, bytes, expected) in ALIKE {
            let (message, values, rendered) = render("%10!s!", &[declared], bytes);
            assert_eq!((message.as_str(), &values[..]), (expected, &[expected.to_owned()][..]), "{declared}");
            assert_eq!(
                rendered,
                Rendered { status: ArgumentStatus::Exact, arguments: 1, consumed: bytes.len(), faithful: true },
                "{declared}"
            );
            let (_, _, longer) = render("", &[declared], &[bytes, b"\x01"].concat());
            assert_eq!((longer.status, longer.consumed), (ArgumentStatus::Extra, bytes.len()), "{declared}");
            let (_, _, empty) = render("", &[declared], b"");
            assert_eq!((empty.status, empty.arguments), (ArgumentStatus::Short, 0), "{declared}");
        }
    }

    #[test]
    fn text_that_is_taken_from_the_list_is_what_the_format_would_show() {
        const SPECS: [&str; 12] = ["d", "i", "u", "s", "S", "x", "p", "c", "5d", "-s", "+d", ".3s"];
        let taken = |encoding: &ArgumentType| {
            let shows_whole =
                |spec: &&str| encoding.shows_whole(&Spec::parse(spec).unwrap(), spec.as_bytes()[spec.len() - 1]);
            SPECS.into_iter().filter(shows_whole).collect::<Vec<_>>()
        };
        for &(declared, bytes, _) in ALIKE {
            let encoding = ArgumentType::parse(declared);
            let (value, _) = encoding.extent(bytes, 8).unwrap();
            for spec in taken(&encoding).into_iter().map(|spec| Spec::parse(spec).unwrap()) {
                let (mut whole, mut shown) = (String::new(), String::new());
                encoding.write_whole(&bytes[value.clone()], spec.conversion, &mut whole);
                encoding.write_formatted(&bytes[value.clone()], &spec, &mut String::new(), &mut shown);
                assert_eq!(whole, shown, "{declared} {spec:?}");
            }
        }
        for (declared, expected) in [
            ("ItemLong", &["d", "i", "u"][..]),
            ("ItemLongLongX", &["d", "i", "u"]),
            ("ItemPtr", &["d", "i", "u"]),
            ("ItemNTSTATUS", &["s", "S"]),
            ("ItemWString", &["s", "S"]),
            ("ItemGuid", &["s", "S"]),
            ("ItemRString", &[]),
            ("ItemDouble", &[]),
            ("ItemTimeDelta", &[]),
        ] {
            assert_eq!(taken(&ArgumentType::parse(declared)), expected, "{declared}");
        }
        // An argument has the form of its first insertion.
        assert!(!ArgumentType::parse("ItemLong").shows_whole(&Spec::parse("u").unwrap(), b'd'));
    }

    #[test]
    fn arguments_have_the_sign_of_the_message_and_all_that_it_leaves_out() {
        for (declared, insertion, bytes, shown, whole) in [
            ("ItemLong", "u", &b"\0\x28\x6b\xee"[..], "4000000000", "4000000000"),
            ("ItemLong", "08X", b"\xef\xbe\0\xc0", "C000BEEF", "3221274351"),
            ("ItemLong", "05d", b"\xd6\xff\xff\xff", "-0042", "-42"),
            ("ItemShort", "hu", b"\xfe\xff", "65534", "65534"),
            ("ItemULongLong", "I64d", b"\xff\xff\xff\xff\xff\xff\xff\xff", "-1", "-1"),
            ("ItemLongLongO", "I64o", b"\xff\x01\0\0\0\0\0\0", "777", "511"),
            ("ItemPtr", "p", b"\x78\x56\x34\x12\0\0\0\0", "0000000012345678", "0x12345678"),
            ("ItemPtr", "Id", b"\xf9\xff\xff\xff\xff\xff\xff\xff", "-7", "-7"),
            ("ItemPtr", "Iu", b"\x07\0\0\0\0\0\0\0", "7", "7"),
            ("ItemChar", "c", b"A", "A", "A"),
            ("ItemChar", "3c", b"\x80", "  \u{20ac}", "\u{20ac}"),
            ("ItemShort", "c", b"\xe4\0", "\u{e4}", "\u{e4}"),
            ("ItemDouble", "s", b"\x55\x55\x55\x55\x55\x55\xd5\x3f", "0.333333", "0.3333333333333333"),
            ("ItemDouble", ".4s", b"\x55\x55\x55\x55\x55\x55\xd5\x3f", "0.33", "0.3333333333333333"),
            ("ItemDouble", "s", b"\0\0\0\0\0\0\x10\0", "2.22507e-308", "2.2250738585072014e-308"),
            ("ItemDouble", ".2f", b"\0\0\0\0\0\0\xf4\x3f", "1.25", "1.25"),
            ("ItemTimeDelta", "s", b"\x81\xf0\xfa\x02\0\0\0\0", "5.000s", "5.0000001s"),
            ("ItemRString", "s", b"a\tb\nc \r\n\0", "a b c", "a\tb\nc \r\n"),
            ("ItemRWString", "s", b"a\0\r\0\n\0\0\0", "a", "a\r\n"),
            ("ItemNTSTATUS", "#x", b"\x22\0\0\xc0", "0xc0000022", "0xc0000022(STATUS_ACCESS_DENIED)"),
            ("ItemListByte(No,Yes)", "d", b"\x01", "1", "0x00000001(Yes)"),
        ] {
            let (message, values, rendered) = render(&format!("%10!{insertion}!"), &[declared], bytes);
            let found = (message.as_str(), values[0].as_str(), rendered.status);
            assert_eq!(found, (shown, whole, ArgumentStatus::Exact), "{declared} {insertion}");
        }
        // Half a character, and a number that is more than one.
        assert!(!render("%10!c!", &["ItemShort"], b"\0\xd8").2.faithful);
        assert!(!render("%10!c!", &["ItemLong"], b"A\0\x01\0").2.faithful);
        let (message, values, _) = render("%10!u! %10!d!", &["ItemLong"], b"\xff\xff\xff\xff");
        assert_eq!((message.as_str(), values[0].as_str()), ("4294967295 -1", "4294967295"));
    }

    /// An argument of an enumeration with the given names.
    fn enumerated(declared: &str, names: &[(u64, &str)], number: u32) -> (String, Rendered) {
        let mut kind = ArgumentType::parse(declared);
        let names = names.iter().map(|&(number, name)| (number, name.to_owned())).collect();
        let unknown = kind.enumeration_mut().unwrap();
        *unknown = Names::new(ValueMap::new("E", unknown.map().kind, names));
        let items = vec![Argument::new("x", 10, kind)];
        let format = plan(MessageOrigin::default(), "%10!s!", items);
        let (mut message, header) = (String::new(), HeaderValues::default());
        let rendered = Renderer::new().render(&format, &number.to_le_bytes(), 8, &header, &mut message, |_| ());
        (message, rendered)
    }

    #[test]
    fn enumerations_show_the_names_of_the_source_code() {
        let states = [(0, "Idle"), (2, "Active"), (0xffff_ffff, "Invalid")];
        let flags = [(4, "Exec"), (1, "Read"), (3, "ReadWrite"), (0, "None")];
        for (declared, names, number, expected) in [
            ("ItemEnum(State)", &states[..], 2, "Active"),
            ("ItemEnum(State)", &states, u32::MAX, "Invalid"),
            ("ItemEnum(State)", &states, 9, "0x9"),
            ("ItemFlagsEnum(Flags)", &flags, 5, "Exec | Read(0x5)"),
            ("ItemFlagsEnum(Flags)", &flags, 0xab, "Read | ReadWrite(0xAB)"),
            ("ItemFlagsEnum(Flags)", &flags, 0, "0x0"),
            ("ItemFlagsEnum(Flags)", &flags, 0x80, "0x80"),
        ] {
            assert_eq!(enumerated(declared, names, number).0, expected, "{declared} {number:#x}");
        }
    }

    #[test]
    fn names_have_an_end() {
        let long = "x".repeat(1025);
        let (text, rendered) = enumerated("ItemEnum(E)", &[(1, &long)], 1);
        assert_eq!((text.as_str(), rendered.faithful), ("…", false));
        // The number says it all.
        let (text, rendered) = enumerated("ItemFlagsEnum(E)", &[(1, "a"), (2, &long), (4, "c")], 7);
        assert_eq!((text.as_str(), rendered.faithful), ("a | …(0x7)", true));
        let (text, _, rendered) = render("%10!s!", &[&format!("ItemSetByte(a,{long},c)")], b"\x07");
        assert_eq!((text.as_str(), rendered.faithful), ("[a,…]", false));
        let (text, _, rendered) = render("%10!s!", &[&format!("ItemListByte({long})")], b"\0");
        assert_eq!((text.as_str(), rendered.faithful), ("0x00000000(…)", true));
    }

    #[test]
    fn a_list_of_arguments_has_an_end() {
        let declared = format!("ItemListByte({})", "x".repeat(1000));
        let items: Vec<&str> = std::iter::repeat_n(declared.as_str(), 300).collect();
        let (_, values, rendered) = render("", &items, &[0; 300]);
        let length = 1000 + "0x00000000()".len();
        assert_eq!((values.len(), rendered.arguments), (MAX_TEXT_BYTES / length, MAX_TEXT_BYTES / length));
        assert_eq!((rendered.status, rendered.faithful), (ArgumentStatus::Exact, false));
    }

    #[test]
    fn the_origin_is_inserted_where_the_file_records_it() {
        let text = |origin: MessageOrigin, format: &str| {
            let format = plan(origin, format, Vec::new());
            let mut message = String::new();
            Renderer::new().render(&format, b"", 8, &HeaderValues::default(), &mut message, |_| ());
            message
        };
        let origin = MessageOrigin {
            provider: "Sample".into(),
            source_file: "Main.c".into(),
            source_place: "Main_c141".into(),
            level: Some("ERROR".into()),
            flags: None,
            function: Some("Run".into()),
            component: Some("Storage".into()),
            subcomponent: Some("Cache".into()),
        };
        for (format, expected) in [
            ("%0 [%!FUNC!] <--", "[Run] <--"),
            ("%!LEVEL! %!FLAGS! %!FILE!:%!LINE!", "ERROR  Main.c:141"),
            ("%!COMPNAME!/%!SUBCOMP!", "Storage/Cache"),
            ("%1 %2!10s!|", "Sample  Main_c141|"),
        ] {
            assert_eq!(text(origin.clone(), format), expected, "{format}");
        }
        assert_eq!(text(MessageOrigin { provider: "P".into(), ..MessageOrigin::default() }, "<%!COMPNAME!>"), "<>");
    }

    #[test]
    fn arguments_and_header_values_are_inserted() {
        let arguments = [&b"\x0a\0\0\0"[..], b"\x10\0\0\0\0\0\0\0", b"text\r\n\0", b"\x02"].concat();
        let items = ["ItemLong", "ItemPtr", "ItemRString", "ItemListByte(No,Yes)"];
        let (message, _, _) = render("%0 [%!FUNC!] 0x%10!04X! %11!p! <%12!6s!> %13!d! %10!d!", &items, &arguments);
        assert_eq!(message, "[Run] 0x000A 0000000000000010 <  text> 2 10");
        let (message, _, _) = render("[%9!d!]%8!04X!.%3!04X!::%4!s! [%1!s!] %7!d!|", &[], b"");
        assert_eq!(message, "[2]0004.00F4::2017-07-14T02:40:00.1234567Z [P] |");
    }

    #[test]
    fn what_cannot_be_read_is_never_guessed() {
        let (message, values, rendered) =
            render("%10!d! %11!s! %12!d!", &["ItemLong", "ItemOdd", "ItemLong"], b"\x01\0\0\0\x02\0\0\0");
        assert_eq!((message.as_str(), values.len()), ("1 %11!s! %12!d!", 1));
        assert_eq!((rendered.status, rendered.consumed), (ArgumentStatus::UnknownType, 4));
        for (items, bytes, status) in [
            (&["ItemLong"][..], &b"\x01\0\0"[..], ArgumentStatus::Error),
            (&["ItemLong", "ItemLong"], b"\x01\0\0\0", ArgumentStatus::Short),
            (&["ItemPWString"], b"\x03\0abc", ArgumentStatus::Error),
            (&["ItemPString"], b"\x04\0abc", ArgumentStatus::Error),
            (&["ItemWString"], b"a\0b", ArgumentStatus::Error),
            (&["ItemSid"], b"\x02\0\0\0\0\0\0\0", ArgumentStatus::Error),
            (&[], b"\x01", ArgumentStatus::Extra),
        ] {
            assert_eq!(render("", items, bytes).2.status, status, "{items:?}");
        }
    }

    #[test]
    fn text_that_is_not_valid_is_reported() {
        assert!(!render("", &["ItemWString"], b"\0\xd8\0\0").2.faithful);
        let (_, values, rendered) = render("", &["ItemString"], b"\xe4\0");
        assert_eq!((values[0].as_str(), rendered.faithful), ("ä", false));
    }

    #[test]
    fn a_pointer_has_the_size_of_its_writer() {
        let format = format("%10!p!", &["ItemPtr"]);
        let mut message = String::new();
        let rendered =
            Renderer::new().render(&format, b"\x01\0\0\0", 4, &HeaderValues::default(), &mut message, |_| ());
        assert_eq!((message.as_str(), rendered.status), ("00000001", ArgumentStatus::Exact));
    }

    #[test]
    fn a_message_has_an_end() {
        let text = "%10!s!".repeat(100);
        let argument = [vec![b'a'; 60_000], vec![0]].concat();
        let (message, _, rendered) = render(&text, &["ItemString"], &argument);
        assert_eq!((message.len(), rendered.faithful), (MAX_TEXT_BYTES, false));
    }

    proptest! {
        #[test]
        fn any_bytes_under_any_format_render(
            text in "[%0-9!sdxXpcfge. #+-]{0,40}",
            kinds in prop::collection::vec(0usize..26, 0..6),
            arguments in prop::collection::vec(any::<u8>(), 0..80),
            pointer_size in any::<u8>(),
        ) {
            const KINDS: [&str; 26] = [
                "ItemChar", "ItemUShort", "ItemLong", "ItemLongLongX", "ItemPtr", "ItemListByte(a,b)", "ItemSetLong(a,b)",
                "ItemDouble", "ItemChar4", "ItemString", "ItemRWString", "ItemPString", "ItemPWString", "ItemHexDump",
                "ItemGuid", "ItemSid", "ItemTimestamp", "ItemPort", "ItemIPV6Addr", "ItemOdd",
                "ItemEnum(E)", "ItemFlagsEnum(E)", "ItemNTSTATUS", "ItemWINERROR", "ItemTimeDelta", "ItemWaitTime",
            ];
            let items: Vec<&str> = kinds.iter().map(|&kind| KINDS[kind]).collect();
            let (mut message, mut count) = (String::new(), 0);
            let rendered = Renderer::new().render(
                &format(&text, &items), &arguments, pointer_size, &HeaderValues::default(), &mut message, |_| count += 1,
            );
            prop_assert_eq!(count, rendered.arguments);
            prop_assert!(rendered.consumed <= arguments.len());
            prop_assert_eq!(rendered.status == ArgumentStatus::Exact, rendered.consumed == arguments.len() && count == items.len());
        }
    }
}
