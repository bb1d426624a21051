//! Types, answers and errors of DNS.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

use serde_json::{Value, json};

/// Names of types of records by the numbers that IANA has given them.
const TYPES: [(i64, &str); 13] = [
    (1, "A"),
    (2, "NS"),
    (5, "CNAME"),
    (6, "SOA"),
    (12, "PTR"),
    (15, "MX"),
    (16, "TXT"),
    (28, "AAAA"),
    (33, "SRV"),
    (64, "SVCB"),
    (65, "HTTPS"),
    (252, "AXFR"),
    (255, "ANY"),
];

/// Codes of responses with their names in the Elastic Common Schema and in OCSF.
pub(super) const CODES: [(i64, &str, &str); 11] = [
    (0, "NOERROR", "NoError"),
    (1, "FORMERR", "FormError"),
    (2, "SERVFAIL", "ServError"),
    (3, "NXDOMAIN", "NXDomain"),
    (4, "NOTIMP", "NotImp"),
    (5, "REFUSED", "Refused"),
    (6, "YXDOMAIN", "YXDomain"),
    (7, "YXRRSET", "YXRRSet"),
    (8, "NXRRSET", "NXRRSet"),
    (9, "NOTAUTH", "NotAuth"),
    (10, "NOTZONE", "NotZone"),
];
/// What Windows adds to the code of a response: `DNS_ERROR_RESPONSE_CODES_BASE` of winerror.h.
const BASE: i64 = 9000;

/// The name of a type of records, without a name as RFC 3597 writes it.
pub(super) fn type_name(kind: i64) -> Cow<'static, str> {
    let known = TYPES.iter().find(|(number, _)| *number == kind);
    known.map_or_else(|| Cow::Owned(format!("TYPE{kind}")), |(_, name)| Cow::Borrowed(*name))
}

/// The code of a response by the error of Windows; `None` where the error is none of a response.
pub(super) fn response_code(status: i64) -> Option<(i64, &'static str, &'static str)> {
    let code = if status == 0 { 0 } else { status.checked_sub(BASE).filter(|code| *code != 0)? };
    CODES.iter().find(|(number, ..)| *number == code).copied()
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer<'a> {
    /// The type of its record, where it says one.
    pub(super) kind: Option<i64>,
    /// An address, a name, a text.
    pub(super) data: Cow<'a, str>,
}

impl Answer<'_> {
    /// An object with its data under a name.
    pub(super) fn object(&self, data: &str) -> Value {
        match self.kind {
            Some(kind) => json!({ data: self.data, "type": type_name(kind) }),
            None => json!({ data: self.data }),
        }
    }

    /// Whether it is an address.
    pub(super) fn is_address(&self) -> bool {
        self.data.parse::<IpAddr>().is_ok()
    }
}

/// The answers of a text: `type:  5 name` or an address, with semicolons between. Addresses of version 4 are mapped to version 6 there.
pub(super) fn answers(results: &str) -> impl Iterator<Item = Answer<'_>> {
    results.split(';').map(str::trim).filter(|text| !text.is_empty()).map(|text| {
        let record = text.strip_prefix("type:").and_then(|rest| rest.trim_start().split_once(char::is_whitespace));
        let record = record.and_then(|(kind, data)| Some((kind.parse::<i64>().ok()?, data.trim())));
        let (kind, data) = record.map_or((None, text), |(kind, data)| (Some(kind), data));
        let mapped = data.parse::<Ipv6Addr>().ok().and_then(|address| address.to_ipv4_mapped());
        Answer { kind, data: mapped.map_or(Cow::Borrowed(data), |address| Cow::Owned(address.to_string())) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_apart() {
        let found: Vec<Answer<'_>> = answers("type:  5 a.example;::ffff:192.0.2.7;2001:db8::1;").collect();
        let answer = |kind, data: &'static str| Answer { kind, data: data.into() };
        assert_eq!(found, [answer(Some(5), "a.example"), answer(None, "192.0.2.7"), answer(None, "2001:db8::1")]);
        assert_eq!(found.iter().map(Answer::is_address).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(answers("").count() + answers(" ; ").count(), 0);
    }

    #[test]
    fn errors_of_windows_have_the_code_of_the_response() {
        let of = |status| response_code(status).map(|(code, name, _)| (code, name));
        assert_eq!([of(0), of(9003), of(9002)], [Some((0, "NOERROR")), Some((3, "NXDOMAIN")), Some((2, "SERVFAIL"))]);
        // A time-out, and names that exist without such records.
        assert_eq!([of(1460), of(9501), of(9000), of(i64::MIN)], [None; 4]);
        assert_eq!((type_name(28), type_name(64_000)), ("AAAA".into(), "TYPE64000".into()));
    }
}
