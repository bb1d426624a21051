//! The extended data items between an event header and its payload.

use zerocopy::FromBytes;

use super::walk::RawEvent;
use crate::layout::extended::ItemHeader;
use crate::layout::header::{EventHeader, event_flags};

/// One extended data item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedItem<'a> {
    /// [`crate::layout::extended::item_type`].
    pub item_type: u16,
    /// The data, without padding.
    pub data: &'a [u8],
}

/// The items of one event, in order. The chain is followed exactly as its links say: what merely looks like an item
/// is payload.
#[derive(Clone, Debug, Default)]
pub struct Items<'a> {
    rest: &'a [u8],
    more: bool,
}

impl<'a> Items<'a> {
    /// The items of an event; none for events of other families.
    #[inline]
    pub fn of(event: &RawEvent<'a>) -> Items<'a> {
        let has_items = event.family.is_event()
            && event.header::<EventHeader>().is_some_and(|h| h.flags.get() & event_flags::EXTENDED_INFO != 0);
        match event.bytes.get(size_of::<EventHeader>()..) {
            Some(rest) if has_items => Items { rest, more: true },
            _ => Items::default(),
        }
    }

    /// Whether there are no (more) items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.more
    }

    /// The bytes behind the last item, or `None` if the chain breaks off before its last link.
    pub fn payload(mut self) -> Option<&'a [u8]> {
        for _ in self.by_ref() {}
        (!self.more).then_some(self.rest)
    }

    #[inline]
    fn split(&self) -> Option<(ExtendedItem<'a>, &'a [u8], bool)> {
        let (header, data) = ItemHeader::ref_from_prefix(self.rest).ok()?;
        let rest = self.rest.get(usize::from(header.item_size.get())..)?;
        let data = data.get(..usize::from(header.data_size.get()))?;
        let is_whole = data.len() + size_of::<ItemHeader>() <= usize::from(header.item_size.get());
        is_whole.then_some((
            ExtendedItem { item_type: header.item_type.get(), data },
            rest,
            header.linkage.get() & 1 != 0,
        ))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = ExtendedItem<'a>;

    #[inline]
    fn next(&mut self) -> Option<ExtendedItem<'a>> {
        if !self.more {
            return None;
        }
        // A broken chain leaves `more` set, which `payload` takes for what it is.
        let (item, rest, more) = self.split()?;
        (self.rest, self.more) = (rest, more);
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::header::HeaderFamily;

    fn event(flags: u8, tail: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0u8; 0x50];
        bytes[4] = flags;
        bytes.extend_from_slice(tail);
        bytes
    }

    fn raw(bytes: &[u8]) -> RawEvent<'_> {
        RawEvent { offset: 0, family: HeaderFamily::Event64, bytes }
    }

    #[test]
    fn the_chain_is_followed_by_its_links() {
        let tail = [
            [16, 0, 3, 0, 1, 0, 4, 0, 9, 0, 0, 0, 0, 0, 0, 0].as_slice(),
            &[16, 0, 10, 0, 0, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8],
            &[16, 0, 3, 0],
        ]
        .concat();
        let bytes = event(1, &tail);
        let items = Items::of(&raw(&bytes));
        assert_eq!(
            items.clone().collect::<Vec<_>>(),
            [
                ExtendedItem { item_type: 3, data: &[9, 0, 0, 0] },
                ExtendedItem { item_type: 10, data: &[1, 2, 3, 4, 5, 6, 7, 8] }
            ]
        );
        assert_eq!(items.payload(), Some(&[16, 0, 3, 0][..]));
    }

    #[test]
    fn without_the_flag_everything_is_payload() {
        let bytes = event(0, &[16, 0, 3, 0, 0, 0, 4, 0]);
        assert!(Items::of(&raw(&bytes)).is_empty());
    }

    #[test]
    fn a_broken_chain_has_no_payload() {
        for tail in
            [&[][..], &[200, 0, 3, 0, 0, 0, 4, 0], &[8, 0, 3, 0, 0, 0, 4, 0, 1, 2, 3, 4], &[4, 0, 3, 0, 0, 0, 0, 0]]
        {
            let bytes = event(1, tail);
            assert_eq!(Items::of(&raw(&bytes)).payload(), None, "{tail:?}");
        }
    }
}
