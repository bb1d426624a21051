//! Arguments and text of one message.

use std::fmt::Write;
use std::ops::Range;

use super::MessageFormat;
use super::format::Piece;
use super::item::ItemKind;
use super::time::push_unix_ns;

/// Longer messages are cut: a format may insert one argument many times over.
const MAX_MESSAGE_BYTES: usize = 256 << 10;

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
    /// How many arguments were read.
    pub arguments: usize,
    /// How many bytes they take.
    pub consumed: usize,
    /// Whether the texts of the arguments are all there is to them: `false` when one was not valid text, or the
    /// message was cut.
    pub faithful: bool,
}

/// Renders messages one after the other, with room that is used again.
#[derive(Debug, Default)]
pub struct Renderer {
    /// Where in the arguments each value stands.
    values: Vec<Range<usize>>,
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
    /// (`%11!d!`); the status tells that it happened. No bytes make this fail.
    pub fn render(
        &mut self,
        format: &MessageFormat,
        arguments: &[u8],
        pointer_size: u8,
        header: &HeaderValues,
        message: &mut String,
        mut argument: impl FnMut(&str),
    ) -> Rendered {
        let (status, consumed) = self.locate(format, arguments, if pointer_size == 4 { 4 } else { 8 });
        let mut faithful = true;
        for (item, value) in format.items.iter().zip(&self.values) {
            self.scratch.clear();
            faithful &= item.kind.write_plain(arguments.get(value.clone()).unwrap_or_default(), &mut self.scratch);
            argument(&self.scratch);
        }
        let limit = message.len().saturating_add(MAX_MESSAGE_BYTES);
        for piece in &format.pieces {
            self.write_piece(piece, format, arguments, header, message);
            if message.len() > limit {
                message.truncate((0..=limit).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0));
                faithful = false;
                break;
            }
        }
        Rendered { status, arguments: self.values.len(), consumed, faithful }
    }

    /// Finds the values of the arguments.
    fn locate(&mut self, format: &MessageFormat, arguments: &[u8], pointer_bytes: usize) -> (ArgumentStatus, usize) {
        self.values.clear();
        let mut at = 0;
        for item in &format.items {
            let rest = arguments.get(at..).unwrap_or_default();
            let Some((value, end)) = item.kind.extent(rest, pointer_bytes) else {
                let status = match item.kind {
                    ItemKind::Unknown(_) => ArgumentStatus::UnknownType,
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
            Piece::Item { number, spec, source } => {
                let index = format.items.iter().position(|item| item.number == *number);
                let found = index.and_then(|index| Some((format.items.get(index)?, self.values.get(index)?)));
                match found {
                    Some((item, value)) => {
                        let value = arguments.get(value.clone()).unwrap_or_default();
                        item.kind.write_formatted(value, spec, &mut self.scratch, out);
                    }
                    None => out.push_str(source),
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
    use proptest::prelude::*;

    use super::*;
    use crate::guid::Guid;
    use crate::schema::wpp::{Item, Origin};

    fn format(text: &str, items: &[&str]) -> MessageFormat {
        let origin = Origin { provider: "P".into(), function: Some("Run".into()), ..Origin::default() };
        let mut format = MessageFormat::new(Guid::ZERO, 1, origin, text);
        for (declared, number) in items.iter().zip(10..) {
            format.push_item(Item::new("x", number, ItemKind::parse(declared)));
        }
        format
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

    #[test]
    fn every_item_type_has_its_length_and_text() {
        let filetime = 132_000_000_000_000_000u64.to_le_bytes();
        for (declared, bytes, expected) in [
            ("ItemChar", &b"\xff"[..], "-1"),
            ("ItemUChar", b"\xff", "255"),
            ("ItemShort", b"\xfe\xff", "-2"),
            ("ItemUShort", b"\xfe\xff", "65534"),
            ("ItemLong", b"\xff\xff\xff\xff", "-1"),
            ("ItemULong", b"\xff\xff\xff\xff", "4294967295"),
            ("ItemEnum(Kind)", b"\x02\0\0\0", "2"),
            ("ItemFlagsEnum(Kind)", b"\x12\0\0\0", "0x12"),
            ("ItemNTSTATUS", b"\x01\0\0\xc0", "0xc0000001"),
            ("ItemHRESULT", b"\x05\0\x07\x80", "0x80070005"),
            ("ItemWINERROR", b"\x05\0\0\0", "5"),
            ("ItemNDIS_STATUS", b"\x01\0\0\0", "0x1"),
            ("ItemNDIS_OID", b"\x01\0\0\0", "0x1"),
            ("ItemLongLong", b"\xff\xff\xff\xff\xff\xff\xff\xff", "-1"),
            ("ItemULongLong", b"\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
            ("ItemLongLongX", b"\x10\0\0\0\0\0\0\0", "0x10"),
            ("ItemTimeDelta", b"\x10\0\0\0\0\0\0\0", "16"),
            ("ItemTimestamp", &filetime, "2019-04-17T18:40:00.0000000Z"),
            ("ItemDouble", &1.25f64.to_le_bytes(), "1.25"),
            ("ItemPtr", b"\x00\x10\0\0\0\x80\xff\xff", "0xffff800000001000"),
            ("ItemListByte(Low,APC,DPC)", b"\x02", "DPC"),
            ("ItemListLong(FALSE,TRUE)", b"\x07\0\0\0", "7"),
            ("ItemListShort(A)", b"\0\0", "A"),
            ("ItemSetByte(a,b,,d)", b"\x0f", "a|b|d|0x4"),
            ("ItemSetShort(a)", b"\0\0", "0x0"),
            ("ItemSetLong(a)", b"\x01\0\0\0", "a"),
            ("ItemChar4", b"RGBA", "RGBA"),
            ("ItemPort", b"\x01\xbb", "443"),
            ("ItemIPAddr", b"\x0a\0\0\x01", "10.0.0.1"),
            ("ItemIPV6Addr", b"\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", "fe80::1"),
            ("ItemMACAddr", b"\0\x01\x02\xaa\xbb\xcc", "00:01:02:aa:bb:cc"),
            (
                "ItemGuid",
                b"\x23\x0d\x3c\xe1\xbc\xcc\x12\x4e\x93\x1b\xd9\xcc\x2e\xee\x27\xe4",
                "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4",
            ),
            ("ItemString", b"abc\0", "abc"),
            ("ItemRString", b"abc\r\n\0", "abc\r\n"),
            ("ItemWString", b"a\0\xe4\0\0\0", "aä"),
            ("ItemPString", b"\x03\0abc", "abc"),
            ("ItemPWString", b"\x02\0\xe4\0", "ä"),
            ("ItemHexDump", b"\x03\0\x01\xab\xff", "01abff"),
            ("ItemSid", b"\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0", "S-1-5-32-544"),
        ] {
            let (message, values, rendered) = render("%10!s!", &[declared], bytes);
            assert_eq!(values, [expected], "{declared}");
            assert_eq!(message.trim_end(), expected.trim_end(), "{declared}");
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
    fn text_that_is_not_valid_is_told() {
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
        assert_eq!((message.len(), rendered.faithful), (MAX_MESSAGE_BYTES, false));
    }

    proptest! {
        #[test]
        fn any_bytes_under_any_format_render(
            text in "[%0-9!sdxXpcfge. #+-]{0,40}",
            kinds in prop::collection::vec(0usize..20, 0..6),
            arguments in prop::collection::vec(any::<u8>(), 0..80),
            pointer_size in any::<u8>(),
        ) {
            const KINDS: [&str; 20] = [
                "ItemChar", "ItemUShort", "ItemLong", "ItemLongLongX", "ItemPtr", "ItemListByte(a,b)", "ItemSetLong(a,b)",
                "ItemDouble", "ItemChar4", "ItemString", "ItemRWString", "ItemPString", "ItemPWString", "ItemHexDump",
                "ItemGuid", "ItemSid", "ItemTimestamp", "ItemPort", "ItemIPV6Addr", "ItemOdd",
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
