//! Pushing events into the header columns of a table.

use std::io::Write;

use base::guid::Guid;
use base::sid::Sid;
use columnar::columns::packed::{Packed, PackedColumn};
use columnar::columns::presence::Recycle;
use etl::event::{Event, EventIdentity, items::ExtendedItem};
use etl::layout::extended::item_type;

use super::header::{self, Fill, HeaderColumn, HeaderValue, PlainRow, known};
use super::row::{RowContext, Stack};
use super::stack_id::stack_id;

/// The header columns of one table while rows are pushed.
///
/// A trace with a thousand tables has as many of these in each worker, and most columns of most tables stay empty: while
/// one is, it takes no more than a pointer.
#[derive(Debug)]
pub struct HeaderColumns {
    rows: u32,
    /// The last rows, as far as their values are plain and not yet in the columns.
    plain: Vec<PlainRow>,
    columns: [Option<Box<PackedColumn>>; HeaderColumn::ALL.len()],
}

impl Default for HeaderColumns {
    fn default() -> Self {
        HeaderColumns { rows: 0, plain: Vec::new(), columns: [const { None }; HeaderColumn::ALL.len()] }
    }
}

impl Fill for HeaderColumns {
    #[inline]
    fn put<V: HeaderValue>(&mut self, column: HeaderColumn, value: V) {
        value.push(self.rows, || self.column(column));
    }

    #[inline]
    fn column(&mut self, column: HeaderColumn) -> &mut PackedColumn {
        self.columns[column as usize].get_or_insert_with(|| Box::new(first_value(column)))
    }
}

/// Rows whose plain values wait together: few enough to stay in the first-level cache.
const PLAIN_ROWS: usize = 256;

impl HeaderColumns {
    /// Number of rows.
    pub fn count(&self) -> u32 {
        self.rows
    }

    /// Adds an event; `identity` where the shape does not distinguish rows, `stack` where another event has recorded it.
    #[inline]
    pub fn push(
        &mut self,
        event: &Event<'_>,
        row: &RowContext,
        identity: Option<EventIdentity>,
        stack: Option<Stack<'_>>,
    ) {
        self.plain.push(PlainRow::of(event, row));
        header::fill(self, event, row);
        if row.keep_payload {
            self.push_bytes(HeaderColumn::Payload, event.payload);
        }
        if !event.items.is_empty() {
            event.items.clone().for_each(|item| self.push_item(item));
        }
        if !event.counters.is_empty() {
            self.push_numbers(HeaderColumn::PmcCounters, words(event.counters));
        }
        if !event.pebs_index.is_empty() {
            self.push_extended(item_type::PEBS_INDEX, event.pebs_index);
        }
        if let Some(identity) = identity {
            self.push_identity(&identity, event);
        }
        // Events of the kernel have no items, so that nothing is in its place.
        if let Some(Stack { addresses, id, .. }) = stack.filter(|_| !self.has_value(HeaderColumn::Stack)) {
            self.put(HeaderColumn::StackId, id);
            self.push_numbers(HeaderColumn::Stack, addresses.iter().copied());
        }
        // A slice holds at most as many events as bytes, which are far less than 4 G.
        self.rows = self.rows.saturating_add(1);
        if self.plain.len() == PLAIN_ROWS {
            self.spread();
        }
    }

    /// Moves the plain values of the last rows to their columns.
    fn spread(&mut self) {
        let mut plain = std::mem::take(&mut self.plain);
        let first = self.rows.saturating_sub(u32::try_from(plain.len()).unwrap_or(u32::MAX));
        PlainRow::spread(&plain, first, self);
        plain.clear();
        self.plain = plain;
    }

    /// An argument of the message that is about to be pushed.
    pub fn push_argument(&mut self, argument: &str) {
        if let Some(list) = self.column(HeaderColumn::Arguments).lists() {
            list.items.push_bytes(argument.as_bytes());
        }
    }

    /// The text of the message that is about to be pushed, behind its arguments.
    pub fn push_message(&mut self, text: &str) {
        let row = self.rows;
        self.column(HeaderColumn::Arguments).end_list(row);
        self.push_bytes(HeaderColumn::Message, text.as_bytes());
    }

    /// What the event that is about to be pushed says in words.
    pub fn push_rendered(&mut self, text: &[u8]) {
        self.push_bytes(HeaderColumn::RenderedMessage, text);
    }

    /// Takes the filled columns out, by their numbers; the memory stays for the next rows.
    pub fn take(&mut self) -> Vec<(usize, PackedColumn)> {
        self.spread();
        self.rows = 0;
        let filled = self.columns.iter_mut().enumerate().filter_map(|(number, column)| {
            let column = column.as_mut().filter(|column| column.rows.count() > 0)?;
            Some((number, column.take_exact()))
        });
        filled.collect()
    }

    /// Whether the row that is being filled has a value in a column.
    fn has_value(&self, column: HeaderColumn) -> bool {
        self.columns[column as usize].as_ref().is_some_and(|column| column.rows.ends_with(self.rows))
    }

    fn push_bytes(&mut self, column: HeaderColumn, value: &[u8]) {
        self.write(column, |bytes| {
            bytes.extend_from_slice(value);
            true
        });
    }

    fn write(&mut self, column: HeaderColumn, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let row = self.rows;
        self.column(column).write_bytes(row, write)
    }

    fn push_numbers(&mut self, column: HeaderColumn, numbers: impl Iterator<Item = u64>) {
        let row = self.rows;
        let column = self.column(column);
        if let Some(list) = column.lists() {
            numbers.for_each(|number| list.items.push_fixed(number.to_le_bytes()));
            column.end_list(row);
        }
    }

    /// What the shape does not show, or does not distinguish.
    fn push_identity(&mut self, identity: &EventIdentity, event: &Event<'_>) {
        self.put(HeaderColumn::ProviderId, identity.provider_id());
        self.put(HeaderColumn::EventId, identity.event_id());
        self.put(HeaderColumn::EventVersion, identity.event_version());
        self.put(HeaderColumn::Opcode, identity.event_opcode());
        self.put(HeaderColumn::KernelGroup, identity.kernel_group());
        self.put(HeaderColumn::EventProperty, identity.event_property());
        self.put(HeaderColumn::PointerSize, identity.known_pointer_size());
        let in_catalog = |item: &ExtendedItem<'_>| is_in_catalog(item.item_type);
        event.items.clone().filter(in_catalog).for_each(|item| self.push_extended(item.item_type, item.data));
    }

    /// An item goes to its column. A second one of a type, or one whose data does not fit its type, is kept whole.
    fn push_item(&mut self, item: ExtendedItem<'_>) {
        let is_first = column_of(item.item_type).is_some_and(|column| !self.has_value(column));
        let is_stored = is_first && self.push_known_item(item).is_some();
        if !is_stored && !is_in_catalog(item.item_type) {
            self.push_extended(item.item_type, item.data);
        }
    }

    fn push_known_item(&mut self, item: ExtendedItem<'_>) -> Option<()> {
        let data = item.data;
        match item.item_type {
            item_type::RELATED_ACTIVITY_ID => {
                self.put(HeaderColumn::RelatedActivityId, known(Guid(data.try_into().ok()?)));
            }
            item_type::SID => self.push_sid(data)?,
            item_type::TS_ID => {
                self.put(HeaderColumn::TerminalSessionId, u32::from_le_bytes(data.try_into().ok()?));
            }
            item_type::STACK_TRACE_32 => self.push_stack(data, 4)?,
            item_type::STACK_TRACE_64 => self.push_stack(data, 8)?,
            item_type::PMC_COUNTERS if data.len().is_multiple_of(8) => {
                self.push_numbers(HeaderColumn::PmcCounters, words(data));
            }
            item_type::EVENT_KEY => self.put(HeaderColumn::EventKey, u64::from_le_bytes(data.try_into().ok()?)),
            item_type::PROCESS_START_KEY => {
                self.put(HeaderColumn::ProcessStartKey, u64::from_le_bytes(data.try_into().ok()?));
            }
            item_type::CONTAINER_ID => self.push_container(data)?,
            _ => return None,
        }
        Some(())
    }

    fn push_sid(&mut self, data: &[u8]) -> Option<()> {
        let sid = Sid::read(data)?;
        // A vector takes every write.
        self.write(HeaderColumn::UserSid, |text| write!(text, "{sid}").is_ok()).then_some(())
    }

    fn push_stack(&mut self, data: &[u8], width: usize) -> Option<()> {
        let (match_id, frames) = data.split_first_chunk()?;
        if !frames.len().is_multiple_of(width) {
            return None;
        }
        self.put(HeaderColumn::StackMatchId, Some(u64::from_le_bytes(*match_id)).filter(|&id| id != 0));
        match width {
            4 => self.push_addresses(half_words(frames)),
            _ => self.push_addresses(words(frames)),
        }
        Some(())
    }

    /// The return addresses of a stack, and what distinguishes it from others.
    fn push_addresses(&mut self, addresses: impl Iterator<Item = u64> + Clone) {
        self.put(HeaderColumn::StackId, stack_id(addresses.clone()));
        self.push_numbers(HeaderColumn::Stack, addresses);
    }

    /// A container is named by 16 bytes, or by the text of its GUID.
    fn push_container(&mut self, data: &[u8]) -> Option<()> {
        let id = match data.try_into() {
            Ok(id) => Guid(id),
            Err(_) => std::str::from_utf8(data).ok()?.trim_end_matches('\0').parse().ok()?,
        };
        self.push_bytes(HeaderColumn::ContainerId, &id.to_text());
        Some(())
    }

    fn push_extended(&mut self, item_type: u16, data: &[u8]) {
        let row = self.rows;
        let column = self.column(HeaderColumn::Extended);
        let is_first = !column.rows.ends_with(row);
        let Some(list) = column.lists() else { return };
        let Packed::Struct(items) = &mut list.items.values else { return };
        let [types, bytes] = items.members.as_mut_slice() else { return };
        if !bytes.push_bytes(data) {
            return;
        }
        types.push_fixed(item_type.to_le_bytes());
        items.len += 1;
        if is_first {
            column.end_list(row);
        } else {
            list.append_to_last();
        }
    }
}

/// A column before its first value; most tables never ask for most.
#[cold]
fn first_value(column: HeaderColumn) -> PackedColumn {
    column.packed()
}

/// The column of an item type that has one.
fn column_of(item_type: u16) -> Option<HeaderColumn> {
    Some(match item_type {
        item_type::RELATED_ACTIVITY_ID => HeaderColumn::RelatedActivityId,
        item_type::SID => HeaderColumn::UserSid,
        item_type::TS_ID => HeaderColumn::TerminalSessionId,
        item_type::STACK_TRACE_32 | item_type::STACK_TRACE_64 => HeaderColumn::Stack,
        item_type::PMC_COUNTERS => HeaderColumn::PmcCounters,
        item_type::EVENT_KEY => HeaderColumn::EventKey,
        item_type::PROCESS_START_KEY => HeaderColumn::ProcessStartKey,
        item_type::CONTAINER_ID => HeaderColumn::ContainerId,
        _ => return None,
    })
}

/// Items that stand once per shape in the catalog.
fn is_in_catalog(item_type: u16) -> bool {
    matches!(item_type, item_type::EVENT_SCHEMA_TL | item_type::PROVIDER_TRAITS)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + Clone + '_ {
    bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word))
}

fn half_words(bytes: &[u8]) -> impl Iterator<Item = u64> + Clone + '_ {
    bytes.as_chunks().0.iter().map(|&word| u64::from(u32::from_le_bytes(word)))
}
