//! What Windows' own decoding wrote of events of two kinds, held against what messages show of them.
//!
//! Elastic's Beats keep a recording of their test provider as `TdhFormatProperty` rendered it (`golden_events.json`, beside the manifest
//! that declares the fields: commit 9f7e361 of elastic/beats). The trace itself is not published, and the texts of the two events insert
//! nothing. So the trace writer makes payloads of the values that were rendered, and a template of this test's own inserts all fields:
//! every text has to come back as it was. The times there are of a machine one or two hours east of UTC.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use conversion::convert::MessagePolicy;
use support::convert_with;
use synth::*;

const PROVIDER: Guid = guid("06f0e00e-422a-4987-922b-2ec13e281ea4");

/// The fields of event 1, in order.
const KINDS: [(&str, &str); 22] = [
    ("StringValue", "UnicodeString"),
    ("AnsiStringValue", "AnsiString"),
    ("Int8Value", "Int8"),
    ("UInt8Value", "UInt8"),
    ("Int16Value", "Int16"),
    ("UInt16Value", "UInt16"),
    ("Int32Value", "Int32"),
    ("UInt32Value", "UInt32"),
    ("Int64Value", "Int64"),
    ("UInt64Value", "UInt64"),
    ("FloatValue", "Float"),
    ("DoubleValue", "Double"),
    ("BooleanValue", "Boolean"),
    ("BinarySize", "UInt32"),
    ("BinaryValue", "Binary' length='BinarySize"),
    ("GuidValue", "GUID"),
    ("PointerValue", "Pointer"),
    ("FileTimeValue", "FILETIME"),
    ("SystemTimeValue", "SYSTEMTIME"),
    ("SidValue", "SID"),
    ("HexInt32Value", "HexInt32"),
    ("HexInt64Value", "HexInt64"),
];

/// The fields of event 2 before the structures.
const TRANSFER: [(&str, &str); 10] = [
    ("TransferName", "UnicodeString"),
    ("ErrorCode", "Int32' outType='win:HResult"),
    ("FilesCount", "UInt16"),
    ("Files", "UnicodeString' count='FilesCount"),
    ("BufferSize", "UInt32"),
    ("Buffer", "Binary' length='BufferSize"),
    ("Certificate", "Binary' length='11"),
    ("IsLocal", "Boolean"),
    ("Path", "UnicodeString"),
    ("ValuesCount", "UInt16"),
];

/// The values of events 1 as they were rendered.
const FIRST: [&str; 8] = [
    "alpha|bravo|-29|232|27593|43350|280915487|3055926388|9135962051559271525|11398190996930193602|85.589996|232.535000|true|11|\
     0x3EAF0FDE88CFF4EEB891B5|{700b51d6-54ef-45d3-adf3-60cad277d1bd}|0x6FA6DE70|2017-11-04T02:46:22.305045900Z|\
     2017-11-04T03:46:22.305Z|S-1-5-21-3447473950-2840118026-1171586998|0x9EA919CD|0xAAA9496030288014",
    "bravo|delta|-49|100|1429|58930|818169035|1053281456|-1201904264270951695|14804715390509366110|43.510002|502.263000|true|7|\
     0x0A81E206FD8B1E|{4325cb2e-d182-4556-b6d1-c32a63546191}|0x3E719560|2024-08-20T05:08:30.305616200Z|2024-08-20T07:08:30.305Z|\
     S-1-5-21-4251776910-3644355450-1975824166|0x7419A27D|0x814D20068A62CD44",
    "delta|delta|-117|112|18865|49950|228208199|3831651196|8555952308240292045|9740403714173275914|32.189999|49.439000|true|11|\
     0x80C7DEB710CB6E3FEEBA82|{db7fa162-15c2-4051-a268-c827a34b2376}|0x895C2FF8|2022-04-21T11:37:58.306482100Z|\
     2022-04-21T13:37:58.306Z|S-1-5-21-897871846-2446355282-2916886398|0xF6C9EF85|0x941826B6661A5B4C",
    "alpha|bravo|111|132|-20939|59986|1958862443|3954322896|-5060914840372232815|16840132201246278014|18.070000|853.359000|true|7|\
     0x71EC693D8E57DF|{e2c0d62a-3d09-4473-a778-3263baf1cc90}|0x5F49FE80|2015-07-31T22:01:18.307050600Z|2015-08-01T00:01:18.307Z|\
     S-1-5-21-2643236782-2035815322-367284038|0x17010E5D|0x457A1F2A1030E3A4",
    "charlie|bravo|-109|216|-26119|38854|-2012747825|886992996|-3310869695484174955|9005174632539053618|65.629997|558.943000|true|\
     11|0x86034A7FE2797ABE550336|{e193c5ef-2d78-4bad-bb8f-f08024d9f024}|0xE2C9CD60|2023-02-04T09:43:42.307583900Z|\
     2023-02-04T10:43:42.307Z|S-1-5-21-4251776910-3644355450-1975824166|0xFB502A7D|0xF24C44195EC3544",
    "delta|echo|19|88|10617|20806|1800471375|1859962340|6146893610813941013|8945452519226388402|6.510000|627.431000|true|11|\
     0x7D040D5D52937573BDB4E9|{e8d5215b-0c03-416a-92e8-ad99861c9a69}|0xF912DAE0|2018-12-27T12:40:46.308188700Z|\
     2018-12-27T13:40:46.308Z|S-1-5-21-2112648974-1505293306-4114886566|0xB85618FD|0x9702264D2CB4A1C4",
    "delta|echo|19|88|10617|20806|1800471375|1859962340|6146893610813941013|8945452519226388402|6.510000|627.431000|true|11|\
     0x7D040D5D52937573BDB4E9|{8fc9a39e-555a-4098-a3a0-d5cc700684dd}|0xF912DAE0|2018-12-27T12:40:46.308188700Z|\
     2018-12-27T13:40:46.308Z|S-1-5-21-2112648974-1505293306-4114886566|0xB85618FD|0x9702264D2CB4A1C4",
    "charlie|bravo|-65|148|-15099|7394|1357918651|3636167392|7798349836172075361|11765169697032568078|81.230003|924.463000|true|7|\
     0x5FE96C55B80E67|{af1556ec-3b03-4ace-ab70-52b8e9c40f84}|0xF36A7790|2022-08-22T11:15:42.308712600Z|2022-08-22T13:15:42.308Z|\
     S-1-5-21-1838999358-1231577898-3858014166|0x1B8155AD|0xEA780A73A9A8A674",
];

/// The values of events 2 as they were rendered; of lists with `, ` between, as messages have them, and of structures as names and values.
const SECOND: [&str; 6] = [
    "charlie|Unknown HResult Error code: 0xddcd|4|C:/Users/Public/Documents/readme.md, C:/Temp/test.log, D:/Data/report.csv, \
     C:/Users/Public/Documents/readme.md|10|0x4B2B7997499348D694B8|0xB28978F7E36B006BC7F9FA|true|C:/Program Files/Example/file.txt|3|\
     delta=972 charlie=242 charlie=744",
    "alpha|Unknown HResult Error code: 0xecd1|4|C:/Program Files/Example/file.txt, C:/Users/Public/Documents/readme.md, \
     C:/Program Files/Example/file.txt, C:/Users/Public/Documents/readme.md|12|0xD845D3730CC95AA8604E6F35|0x61727F165B8EB5065AC1FF|true|\
     C:/Windows/System32/drivers/etc/hosts|3|echo=214 delta=308 delta=530",
    "bravo|Unknown HResult Error code: 0xdd61|3|C:/Users/Public/Documents/readme.md, D:/Data/report.csv, C:/Temp/test.log|13|\
     0x1EC3D65D8E4289278A912DAF4D|0x3D5F62D5927B6CDC9B9DB8|true|D:/Data/report.csv|2|charlie=70 alpha=28",
    "delta|Unknown HResult Error code: 0xd0cd|3|C:/Windows/System32/drivers/etc/hosts, C:/Windows/System32/drivers/etc/hosts, \
     C:/Temp/test.log|13|0xB1F237B0C6A69C253307A095F4|0x619C2BC4C0AFD520EFB33D|true|C:/Temp/test.log|4|\
     charlie=146 delta=416 alpha=710 bravo=636",
    "echo|Unknown HResult Error code: 0xcb59|4|C:/Windows/System32/drivers/etc/hosts, C:/Temp/test.log, \
     C:/Program Files/Example/file.txt, D:/Data/report.csv|14|0x7E879B7A409754100B71C405EB31|0xD6D6ABB238BFD89154BBBE|true|\
     C:/Users/Public/Documents/readme.md|2|charlie=868 delta=794",
    "alpha|Unknown HResult Error code: 0xeaa9|4|C:/Users/Public/Documents/readme.md, C:/Users/Public/Documents/readme.md, \
     C:/Program Files/Example/file.txt, C:/Temp/test.log|6|0x11C872AFFBE0|0x938C6E42EB4A75096563DD|true|\
     C:/Program Files/Example/file.txt|3|alpha=68 echo=770 charlie=800",
];

fn manifest() -> String {
    let data = |(name, kind): &(&str, &str)| format!("<data name='{name}' inType='win:{kind}'/>");
    let all = |fields: &[(&str, &str)]| fields.iter().map(data).collect::<String>();
    let values = all(&[("Value", "UInt16"), ("Name", "UnicodeString")]);
    let inserted = |count: usize| (1..=count).map(|number| format!("%{number}")).collect::<Vec<_>>().join("|");
    let event = |id: u16| format!("<event value='{id}' symbol='E{id}' template='T{id}' message='$(string.M{id})'/>");
    format!(
        "<m><provider name='Beats' guid='{{06f0e00e-422a-4987-922b-2ec13e281ea4}}'><templates><template tid='T1'>{}</template>\
         <template tid='T2'>{}<struct name='Values' count='ValuesCount'>{values}</struct></template></templates><events>{}{}</events>\
         </provider><localization><resources culture='en-US'><stringTable><string id='M1' value='{}'/><string id='M2' value='{}'/>\
         </stringTable></resources></localization></m>",
        all(&KINDS),
        all(&TRANSFER),
        event(1),
        event(2),
        inserted(KINDS.len()),
        inserted(TRANSFER.len() + 1)
    )
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn bytes(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("0x").unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Year, month, day, hour, minute, second, and the digits of the fraction.
fn time_parts(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().unwrap())
        .collect()
}

/// 100 ns since 1601, by counting days of years.
fn filetime(text: &str) -> u64 {
    let [year, month, day, hour, minute, second, nanoseconds] = time_parts(text)[..] else { panic!("{text}") };
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days: u64 = (1601..year).map(|year| 365 + u64::from(is_leap(year))).sum();
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let days = days + lengths[..usize::try_from(month - 1).unwrap()].iter().sum::<u64>() + day - 1;
    (((days * 24 + hour) * 60 + minute) * 60 + second) * 10_000_000 + nanoseconds / 100
}

/// The payload of an event whose values are these texts.
fn encoded(fields: &[(&str, &str)], texts: &[&str]) -> Payload {
    fields.iter().zip(texts).fold(payload(), |to, ((name, kind), text)| match *kind {
        "UnicodeString" => to.wstr(text),
        "AnsiString" => to.astr(text),
        "Int8" => to.bytes(&text.parse::<i8>().unwrap().to_le_bytes()),
        "UInt8" => to.u8(text.parse().unwrap()),
        "Int16" => to.bytes(&text.parse::<i16>().unwrap().to_le_bytes()),
        "UInt16" => to.u16(text.parse().unwrap()),
        "Int32" => to.bytes(&text.parse::<i32>().unwrap().to_le_bytes()),
        "UInt32" => to.u32(text.parse().unwrap()),
        "Int64" => to.bytes(&text.parse::<i64>().unwrap().to_le_bytes()),
        "UInt64" => to.u64(text.parse().unwrap()),
        "Float" => to.bytes(&text.parse::<f32>().unwrap().to_le_bytes()),
        "Double" => to.bytes(&text.parse::<f64>().unwrap().to_le_bytes()),
        "Boolean" => to.u32(u32::from(*text == "true")),
        "GUID" => to.guid(guid(&text[1..37])),
        "FILETIME" => to.u64(filetime(text)),
        "SYSTEMTIME" => {
            let parts = time_parts(text);
            let with_weekday = [&parts[..2], &[0], &parts[2..]].concat();
            with_weekday.into_iter().fold(to, |to, part| to.u16(u16::try_from(part).unwrap()))
        }
        "SID" => {
            let parts: Vec<u32> = text.split('-').skip(3).map(|part| part.parse().unwrap()).collect();
            to.sid(5, &parts)
        }
        "HexInt32" => to.u32(u32::try_from(hexadecimal(text)).unwrap()),
        "Pointer" | "HexInt64" => to.u64(hexadecimal(text)),
        _ => match *name {
            "BinaryValue" | "Buffer" | "Certificate" => to.bytes(&bytes(text)),
            "ErrorCode" => to.u32(u32::try_from(hexadecimal(text.rsplit(' ').next().unwrap())).unwrap()),
            "Files" => text.split(", ").fold(to, Payload::wstr),
            other => panic!("{other}"),
        },
    })
}

/// Event 2: its values, its structures, and the text of both.
fn transfer(line: &str) -> (Payload, String) {
    let texts: Vec<&str> = line.split('|').collect();
    let values: Vec<(&str, &str)> = texts[10].split(' ').map(|pair| pair.split_once('=').unwrap()).collect();
    let shown: Vec<String> = values.iter().map(|(name, value)| format!("{{Value: {value}, Name: {name}}}")).collect();
    let whole =
        values.iter().fold(encoded(&TRANSFER, &texts), |to, (name, value)| to.u16(value.parse().unwrap()).wstr(name));
    (whole, format!("{}|{}", texts[..10].join("|"), shown.join(", ")))
}

#[test]
fn values_are_shown_as_windows_rendered_them() {
    let first = FIRST.map(|line| (1, encoded(&KINDS, &line.split('|').collect::<Vec<_>>()), line.to_owned()));
    let second = SECOND.map(transfer).map(|(payload, text)| (2, payload, text));
    let (mut events, mut expected) = (Vec::new(), Vec::new());
    for ((id, payload, text), time) in first.into_iter().chain(second).zip(1..) {
        events.push(event64(PROVIDER, id, 0, T0 + 10 + time).payload(payload));
        expected.push(text);
    }
    let own = eventsource_manifest(PROVIDER, T0 + 1, &manifest(), 0xff00);
    let buffers = [buffer(0x8000).sequence(1).events(own), buffer(0x8000).sequence(2).events(events)];
    let bytes = trace(header().buffer_size(0x8000)).buffers(buffers).to_bytes();
    let found = convert_with(&[&bytes], |options| options.messages = MessagePolicy::Text);
    let table = found.events("Beats");
    let own = (0..table.rows.len()).filter(|&row| table.cell(row, "event_id") != "65534");
    let texts: Vec<&str> = own.map(|row| table.cell(row, "rendered_message")).collect();
    assert_eq!(texts, expected);
}
