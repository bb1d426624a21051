//! What an event's identity follows from, in few bits.

use super::view::FileContext;
use super::walk::RawEvent;
use crate::layout::header::{
    ClassicHeader, EventHeader, HeaderFamily, KernelHeader, MessageHeader, event_flags, message_flags,
};

/// The bits of a header that an event's identity follows from. To get and compare them takes a part of what it takes to get
/// and compare identities: events with one signature have one identity. The reverse does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    /// The provider or class in the header, else 0.
    provider: u128,
    /// The numbers of the event.
    names: u64,
    /// Header family and pointer size of the file; never 0.
    form: u16,
}

impl Signature {
    /// The signature of an event of a file.
    #[expect(clippy::inline_always, reason = "every event passes through here twice")]
    #[inline(always)]
    pub(super) fn of(event: &RawEvent<'_>, file: &FileContext) -> Signature {
        let family = event.family;
        let (provider, names) = match family {
            family if family.is_event() => event.header().map(of_event),
            family if family.is_kernel() => event.header().map(of_hook),
            family if family.is_classic() => event.header().map(of_class),
            HeaderFamily::Message => event.header().and_then(|header| of_message(header, event)),
            _ => None,
        }
        .unwrap_or_default();
        Signature { provider, names, form: u16::from_le_bytes([family as u8, file.pointer_size | 0x80]) }
    }

    /// A number that differs for most signatures; its high bits differ most.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        #[expect(clippy::cast_possible_truncation, reason = "the halves of the number")]
        let (low, high) = (self.provider as u64, (self.provider >> 64) as u64);
        let provider = (low ^ high.rotate_left(32)).wrapping_mul(ODD);
        (provider ^ self.names ^ u64::from(self.form) << 48).wrapping_mul(ODD)
    }
}

#[inline]
fn of_event(header: &EventHeader) -> (u128, u64) {
    let width = header.flags.get() & (event_flags::HEADER_32_BIT | event_flags::HEADER_64_BIT);
    let names = u64::from(header.id.get())
        | u64::from(header.version) << 16
        | u64::from(header.opcode) << 24
        | u64::from(header.event_property.get()) << 32
        | u64::from(width) << 48;
    (u128::from_ne_bytes(header.provider_id), names)
}

#[inline]
fn of_hook(header: &KernelHeader) -> (u128, u64) {
    (0, u64::from(header.group) | u64::from(header.kind) << 8 | u64::from(header.version) << 16)
}

#[inline]
fn of_class(header: &ClassicHeader) -> (u128, u64) {
    (u128::from_ne_bytes(header.guid), u64::from(header.version.get()) | u64::from(header.class_type) << 16)
}

/// A message without the parts that its flags name has the identity of one without flags.
#[inline]
fn of_message(header: &MessageHeader, event: &RawEvent<'_>) -> Option<(u128, u64)> {
    let message = event.message()?;
    let width = header.flags.get() & (message_flags::POINTER_32 | message_flags::POINTER_64);
    let provider = message.guid.map_or(0, u128::from_ne_bytes);
    Some((provider, u64::from(header.number.get()) | u64::from(width) << 16 | 1 << 32))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::event::EventIdentity;

    const FAMILIES: [HeaderFamily; 16] = {
        use HeaderFamily::{
            Classic32, Classic64, Compact32, Compact64, Error, Event32, Event64, Instance32, Instance64, Message,
            PerfInfo32, PerfInfo64, System32, System64, Timed, Wnode,
        };
        [
            System32, System64, Compact32, Compact64, Classic32, Instance32, Timed, Error, Wnode, Message, PerfInfo32,
            PerfInfo64, Event32, Event64, Classic64, Instance64,
        ]
    };

    proptest! {
        #[test]
        fn events_of_one_signature_have_one_identity(
            family in 0..FAMILIES.len(),
            first in prop::collection::vec(any::<u8>(), 80..=80),
            changes in prop::collection::vec((0usize..80, prop_oneof![Just(0), Just(0x20), Just(0x40), any::<u8>()]), 0..4),
            wide: [bool; 2],
        ) {
            let mut second = first.clone();
            changes.iter().for_each(|&(at, byte)| second[at] = byte);
            let families = [FAMILIES[family], FAMILIES[(family + usize::from(changes.len() == 3)) % FAMILIES.len()]];
            let mut seen = HashMap::new();
            for (bytes, (family, wide)) in [&first, &second].into_iter().zip(families.into_iter().zip(wide)) {
                let raw = RawEvent { offset: 0, family, bytes };
                let file = FileContext { pointer_size: if wide { 8 } else { 4 }, private_session: false };
                let Signature { provider, names, form } = Signature::of(&raw, &file);
                let identity = EventIdentity::of(&raw, &file);
                prop_assert_eq!(*seen.entry((provider, names, form)).or_insert(identity), identity);
            }
        }
    }

    #[test]
    fn what_an_identity_does_not_have_is_not_in_a_signature() {
        let file = FileContext { pointer_size: 8, private_session: false };
        let of = |family, bytes: &[u8]| Signature::of(&RawEvent { offset: 0, family, bytes }, &file);
        let mut bytes = vec![0; 80];
        let signature = of(HeaderFamily::Event64, &bytes);
        // Thread, process, time, channel, level, task, keywords, processor times and activity.
        (8..24).chain([43, 44]).chain(46..80).for_each(|at| bytes[at] = 9);
        assert_eq!(of(HeaderFamily::Event64, &bytes), signature);
        assert_ne!(of(HeaderFamily::Event32, &bytes), signature);
        assert_ne!(signature, Signature::default());
    }
}
