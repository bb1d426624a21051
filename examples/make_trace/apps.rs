//! The programs' own events: the DNS client, two `TraceLogging` providers, WPP messages.

use crate::synth::tracelogging::{Schema, field, out, schema, structure, traits, ty};
use crate::synth::{Event, Guid, Item, Message, Payload, event64, guid, message, payload};

/// Microsoft-Windows-DNS-Client.
const DNS_CLIENT: Guid = guid("1c95126e-7eea-49a9-a3fe-a378b03ddb4d");
const CHECKOUT: Guid = guid("5f0b6c1e-3c0a-5d7e-9a41-20c8a5e0f311");
const INVENTORY: Guid = guid("a6c9d8f2-1b34-52c7-8e60-47d1b3905a22");
/// Provider group of both shop providers.
const SHOP_GROUP: Guid = guid("3e8f1a70-64d2-4b9c-b1f5-8a2c7d905e33");
const WAREHOUSE: Guid = guid("7d2e5b90-8c13-4f6a-a1d8-6b09c4e2f744");
/// The message class of `till.cpp`.
const TILL: Guid = guid("c2b7a9d4-0e51-3f86-9d2a-517fe8036b55");

/// One resolution of a name.
pub struct Query {
    pub name: &'static str,
    /// 1 A, 28 AAAA.
    pub kind: u32,
    /// 0, or 9003 for a name that does not exist.
    pub status: u32,
    pub results: &'static str,
    pub client: u32,
    pub client_thread: u32,
    pub activity: Guid,
}

const SERVER: &str = "192.168.7.1";
const OPTIONS: u64 = 0x4000_6000;
/// `sockaddr_in` of the server: family 2, port 53, address, eight zeros.
const SERVER_ADDRESS: [u8; 16] = [2, 0, 0, 53, 192, 168, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0];

fn dns(id: u16, version: u8, time: i64, body: Payload) -> Event {
    event64(DNS_CLIENT, id, version, time).channel(16).keyword(0x8000_0000_0000_0000).payload(body)
}

/// 1001: one server of an interface.
pub fn dns_server(time: i64, pid: u32, tid: u32) -> Event {
    let body = payload().wstr("Ethernet").u32(1).u32(0).u8(1).u32(16).bytes(&SERVER_ADDRESS);
    dns(1001, 0, time, body).task(1001).pid(pid).tid(tid)
}

impl Query {
    /// 3006: the client asks.
    pub fn called(&self, time: i64) -> Event {
        let body = self.start().u64(OPTIONS).wstr("").u32(0).u32(0).u32(0).u32(0);
        self.in_client(dns(3006, 0, time, body))
    }

    /// 3009: the resolver asks on the network.
    pub fn on_network(&self, time: i64, tid: u32) -> Event {
        let body = payload().wstr(self.name).u32(0).u32(0).u32(1).wstr("Ethernet").wstr("192.168.7.23").wstr(SERVER);
        let body = body.u32(self.client).u64(0x1C2_4F0A_0010).u64(0);
        self.in_resolver(dns(3009, 2, time, body), tid)
    }

    /// 3010: sent to the server.
    pub fn sent(&self, time: i64, tid: u32) -> Event {
        let body = self.start().wstr(SERVER).u32(self.client);
        self.in_resolver(dns(3010, 1, time, body), tid)
    }

    /// 3011: received from the server.
    pub fn received(&self, time: i64, tid: u32) -> Event {
        let body = self.start().wstr(SERVER).u32(self.status).u32(self.client).u64(0x1C2_4F0A_0300).u64(0);
        self.in_resolver(dns(3011, 2, time, body), tid)
    }

    /// 1016: the name does not exist.
    pub fn name_error(&self, time: i64, tid: u32) -> Event {
        let body = payload().wstr(self.name).u32(16).bytes(&SERVER_ADDRESS).u32(self.client);
        let event = dns(1016, 2, time, body.u64(0x1C2_4F0A_0300).u64(0)).task(1016);
        self.in_resolver(event, tid)
    }

    /// 3008: the client has its answer.
    pub fn completed(&self, time: i64) -> Event {
        let body = self.start().u64(OPTIONS).u32(self.status).wstr(self.results);
        self.in_client(dns(3008, 0, time, body))
    }

    fn start(&self) -> Payload {
        payload().wstr(self.name).u32(self.kind)
    }

    fn in_client(&self, event: Event) -> Event {
        event.pid(self.client).tid(self.client_thread).activity(self.activity)
    }

    fn in_resolver(&self, event: Event, tid: u32) -> Event {
        event.pid(1320).tid(tid).activity(self.activity)
    }
}

fn tracelogging(provider: Guid, name: &str, metadata: Schema, time: i64) -> Event {
    event64(provider, 0, 0, time).keyword(1).tracelogging(traits(name).group(SHOP_GROUP), metadata)
}

fn checkout(metadata: Schema, time: i64) -> Event {
    tracelogging(CHECKOUT, "Example.Shop.Checkout", metadata, time)
}

fn inventory(metadata: Schema, time: i64) -> Event {
    tracelogging(INVENTORY, "Example.Shop.Inventory", metadata, time)
}

/// `Checkout`, opcode 1, with the activity that caused it in an item.
pub fn checkout_start(time: i64, order: u64, activity: Guid, cause: Guid) -> Event {
    let metadata = schema("Checkout").field(field("orderId", ty::UINT64)).field(field("till", ty::UINT8));
    let event = checkout(metadata, time).opcode(1).activity(activity).item(Item::related_activity(cause));
    event.payload(payload().u64(order).u8(3))
}

/// One line of an order: article, pieces, price.
pub type Line = (&'static str, u32, f64);

/// `OrderPlaced`: text, an array of structs, an array of numbers, an address, a boolean.
pub fn order_placed(time: i64, order: u64, customer: &str, lines: &[Line], shelves: &[u16], express: bool) -> Event {
    let line = [field("sku", ty::ANSIZ).out(out::UTF8), field("pieces", ty::UINT32), field("price", ty::DOUBLE)];
    let metadata = schema("OrderPlaced")
        .field(field("orderId", ty::UINT64))
        .field(field("customer", ty::UTF16Z))
        .field(structure("lines", line).variable())
        .field(field("shelves", ty::UINT16).variable())
        .field(field("client", ty::UINT32).out(out::IPV4))
        .field(field("express", ty::UINT8).out(out::BOOLEAN));
    let head = payload().u64(order).wstr(customer).u16(count(lines.len()));
    let lines = lines.iter().fold(head, |body, &(sku, pieces, price)| body.astr(sku).u32(pieces).f64(price));
    let shelves = shelves.iter().fold(lines.u16(count(shelves.len())), |body, &shelf| body.u16(shelf));
    checkout(metadata, time).payload(shelves.bytes(&[192, 168, 7, 40]).u8(u8::from(express)))
}

/// `Checkout`, opcode 2.
pub fn checkout_stop(time: i64, order: u64, activity: Guid, result: u32, milliseconds: u32) -> Event {
    let metadata = schema("Checkout")
        .field(field("orderId", ty::UINT64))
        .field(field("result", ty::UINT32).out(out::HRESULT))
        .field(field("milliseconds", ty::UINT32));
    checkout(metadata, time).opcode(2).activity(activity).payload(payload().u64(order).u32(result).u32(milliseconds))
}

/// `StockLevel`: counted text, a GUID, three numbers, a time.
pub fn stock_level(time: i64, sku: &str, levels: [i32; 3], checked: i64) -> Event {
    let metadata = schema("StockLevel")
        .field(field("sku", ty::COUNTED_ANSI).out(out::UTF8))
        .field(field("warehouse", ty::GUID))
        .field(field("levels", ty::INT32).constant(3))
        .field(field("checked", ty::FILETIME));
    let body = payload().counted(sku.as_bytes()).guid(WAREHOUSE);
    inventory(metadata, time).payload(levels.iter().fold(body, |body, &level| body.i32(level)).i64(checked))
}

/// `StockLow`, a warning.
pub fn stock_low(time: i64, sku: &str, remaining: u16) -> Event {
    let metadata = schema("StockLow").field(field("sku", ty::UTF16Z)).field(field("remaining", ty::UINT16));
    inventory(metadata, time).level(3).payload(payload().wstr(sku).u16(remaining))
}

/// A WPP message of the till's driver: number 10 (a drawer opens) or 11 (a text for the receipt).
pub fn till_message(time: i64, tid: u32, drawer: Result<u32, &str>) -> Message {
    let (number, arguments) = match drawer {
        Ok(drawer) => (10, payload().u32(drawer)),
        Err(text) => (11, payload().astr(text)),
    };
    message(number).guid(TILL).time(time).system_info(tid, 5200).arguments(arguments)
}

fn count(length: usize) -> u16 {
    u16::try_from(length).expect("a short list")
}
