//! What describes events: manifests, message formats and descriptions, of any number of events.

use std::fmt::Write as _;

use crate::made::blobs::EventInfo;
use crate::synth::*;

/// The GUID of the provider with a number, and its text.
pub(super) fn provider(number: usize) -> Guid {
    let mut bytes = [0x5A; 16];
    bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
    bytes
}

pub(super) fn provider_text(number: usize) -> String {
    let number = number as u64;
    let (low, middle, high) = (number & 0xFFFF_FFFF, number >> 32 & 0xFFFF, number >> 48);
    format!("{low:08x}-{middle:04x}-{high:04x}-5a5a-5a5a5a5a5a5a")
}

/// An instrumentation manifest of so many events of one provider, each with fields and a map of its own.
pub(super) fn manifest(number: usize, events: usize) -> String {
    let guid = provider_text(number);
    let mut text = format!(
        "<instrumentationManifest><instrumentation><events><provider name=\"P{number}\" guid=\"{{{guid}}}\" symbol=\"P\">"
    );
    let mut each = |head: &str, tail: &str, element: &dyn Fn(usize) -> String| {
        text.push_str(head);
        (0..events).for_each(|n| text.push_str(&element(n)));
        text.push_str(tail);
    };
    each("<maps>", "</maps>", &|n| {
        format!(
            "<valueMap name=\"M{n}\"><map value=\"0\" message=\"m{n}\"/><map value=\"1\" message=\"o{n}\"/></valueMap>"
        )
    });
    each("<templates>", "</templates>", &|n| {
        format!(
            "<template tid=\"T{n}\"><data name=\"a{n}\" inType=\"win:UInt32\" map=\"M{n}\"/><data name=\"b{n}\" \
             inType=\"win:UnicodeString\"/></template>"
        )
    });
    each("<events>", "</events>", &|n| format!("<event value=\"{n}\" version=\"0\" template=\"T{n}\"/>"));
    text.push_str("</provider></events></instrumentation></instrumentationManifest>");
    text
}

/// A payload for an event of [`manifest`].
pub(super) fn declared_values(n: usize) -> Payload {
    payload().u32((n % 2) as u32).wstr("text")
}

/// A TMF file with so many messages of a provider.
pub(super) fn message_formats(number: usize, messages: usize) -> String {
    let mut text = format!("// PDB:  a.pdb\n{} made // SRC=made.c MJ= MN=\n", provider_text(number));
    for n in 0..messages {
        let _ = writeln!(
            text,
            "#typev made_c{n} {} \"%0[%!FUNC!] message {n}: %10!s! turns %11!d! %12!S!\" //   LEVEL=ERROR FLAGS=M FUNC=F{n}\n\
             {{\nname, ItemWString -- 10\ncount, ItemLong -- 11\ngrain{n}, ItemListLong(rye,oat,wheat) -- 12\n}}",
            10 + n
        );
    }
    text
}

/// What a message of [`message_formats`] has.
pub(super) fn message_values(n: usize) -> Payload {
    payload().wstr("wheel").u32(n as u32).u32(1)
}

/// A `TRACE_EVENT_INFO` of an event with so many fields, all of which share one name and one map.
pub(super) fn described(id: u16, fields: usize) -> Vec<u8> {
    let head = EventInfo::new([1; 16], id).name(52, "Some-Provider ").name(68, "Task ");
    let info = (0..fields).fold(head, |info, _| info.property("Flags", 0, (8, 18), 1, 4).map("FlagNames"));
    info.finish(payload::len32(fields))
}
