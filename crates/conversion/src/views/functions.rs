//! Functions that the views, and people, call.

use super::dialect::{Dialect, declared};
use super::statements::Statement;

/// A function of scalars.
struct Function {
    name: &'static str,
    about: &'static str,
    /// Names and types.
    parameters: &'static [(&'static str, &'static str)],
    returns: &'static str,
    /// The answers that call it, or a function that does.
    callers: &'static [&'static str],
    /// What it gives, in both dialects where `spark` is `None`.
    body: &'static str,
    spark: Option<&'static str>,
}

/// Reasons why packets are dropped: numbers and names of `PKTMON_DROP_REASON`.
const DROP_REASONS: &str = "CASE x WHEN 0 THEN 'Unknown' WHEN 1 THEN 'InvalidData' WHEN 2 THEN 'InvalidPacket' \
     WHEN 3 THEN 'Resources' WHEN 4 THEN 'NotReady' WHEN 5 THEN 'Disconnected' \
     WHEN 6 THEN 'NotAccepted' WHEN 7 THEN 'Busy' WHEN 8 THEN 'Filtered' WHEN 9 THEN 'FilteredVLAN' \
     WHEN 10 THEN 'UnauthorizedVLAN' WHEN 11 THEN 'UnauthorizedMAC' \
     WHEN 12 THEN 'FailedSecurityPolicy' WHEN 13 THEN 'FailedPvlanSetting' WHEN 14 THEN 'Qos' \
     WHEN 15 THEN 'Ipsec' WHEN 16 THEN 'MacSpoofing' WHEN 17 THEN 'DhcpGuard' \
     WHEN 18 THEN 'RouterGuard' WHEN 19 THEN 'BridgeReserved' WHEN 20 THEN 'VirtualSubnetId' \
     WHEN 21 THEN 'RequiredExtensionMissing' WHEN 22 THEN 'InvalidConfig' WHEN 23 THEN 'MTUMismatch' \
     WHEN 24 THEN 'NativeFwdingReq' WHEN 25 THEN 'InvalidVlanFormat' WHEN 26 THEN 'InvalidDestMac' \
     WHEN 27 THEN 'InvalidSourceMac' WHEN 28 THEN 'InvalidFirstNBTooSmall' WHEN 29 THEN 'Wnv' \
     WHEN 30 THEN 'StormLimit' WHEN 31 THEN 'InjectedIcmp' \
     WHEN 32 THEN 'FailedDestinationListUpdate' WHEN 33 THEN 'NicDisabled' \
     WHEN 34 THEN 'FailedPacketFilter' WHEN 35 THEN 'SwitchDataFlowDisabled' \
     WHEN 36 THEN 'FilteredIsolationUntagged' WHEN 37 THEN 'InvalidPDQueue' WHEN 38 THEN 'LowPower' \
     WHEN 201 THEN 'Pause' WHEN 202 THEN 'Reset' WHEN 203 THEN 'SendAborted' \
     WHEN 204 THEN 'ProtocolNotBound' WHEN 401 THEN 'MicroportError' WHEN 402 THEN 'VfNotReady' \
     WHEN 403 THEN 'MicroportNotReady' WHEN 404 THEN 'VMBusError' WHEN 601 THEN 'FL_LoopbackPacket' \
     WHEN 602 THEN 'FL_InvalidSnapHeader' WHEN 603 THEN 'FL_InvalidEthernetType' \
     WHEN 604 THEN 'FL_InvalidPacketLength' WHEN 605 THEN 'FL_HeaderNotContiguous' \
     WHEN 606 THEN 'FL_InvalidDestinationType' WHEN 607 THEN 'FL_InterfaceNotReady' \
     WHEN 608 THEN 'FL_ProviderNotReady' WHEN 609 THEN 'FL_InvalidLsoInfo' \
     WHEN 610 THEN 'FL_InvalidUsoInfo' WHEN 611 THEN 'FL_InvalidMedium' \
     WHEN 612 THEN 'FL_InvalidArpHeader' WHEN 613 THEN 'FL_NoClientInterface' \
     WHEN 701 THEN 'ArpGuard' WHEN 702 THEN 'ArpLimiter' WHEN 703 THEN 'DhcpLimiter' \
     WHEN 704 THEN 'BlockBroadcast' WHEN 705 THEN 'BlockNonIp' WHEN 706 THEN 'ArpFilter' \
     WHEN 707 THEN 'Ipv4Guard' WHEN 708 THEN 'Ipv6Guard' WHEN 709 THEN 'MacGuard' \
     WHEN 710 THEN 'BroadcastNoDestinations' WHEN 711 THEN 'UnicastNoDestination' \
     WHEN 712 THEN 'UnicastPortNotReady' WHEN 713 THEN 'SwitchCallbackFailed' \
     WHEN 714 THEN 'Icmpv6Limiter' WHEN 715 THEN 'Intercept' WHEN 716 THEN 'InterceptBlock' \
     WHEN 717 THEN 'NDPGuard' WHEN 718 THEN 'PortBlocked' WHEN 719 THEN 'NicSuspended' \
     WHEN 801 THEN 'Http_ReceiveSuppressed' WHEN 901 THEN 'NL_BadSourceAddress' \
     WHEN 902 THEN 'NL_NotLocallyDestined' WHEN 903 THEN 'NL_ProtocolUnreachable' \
     WHEN 904 THEN 'NL_PortUnreachable' WHEN 905 THEN 'NL_BadLength' \
     WHEN 906 THEN 'NL_MalformedHeader' WHEN 907 THEN 'NL_NoRoute' WHEN 908 THEN 'NL_BeyondScope' \
     WHEN 909 THEN 'NL_InspectionDrop' WHEN 910 THEN 'NL_TooManyDecapsulations' \
     WHEN 911 THEN 'NL_AdministrativelyProhibited' WHEN 912 THEN 'NL_BadChecksum' \
     WHEN 913 THEN 'NL_ReceivePathMax' WHEN 914 THEN 'NL_HopLimitExceeded' \
     WHEN 915 THEN 'NL_AddressUnreachable' WHEN 916 THEN 'NL_RscPacket' \
     WHEN 917 THEN 'NL_ForwardPathMax' WHEN 918 THEN 'NL_ArbitrationUnhandled' \
     WHEN 919 THEN 'NL_InspectionAbsorb' WHEN 920 THEN 'NL_DontFragmentMtuExceeded' \
     WHEN 921 THEN 'NL_BufferLengthExceeded' WHEN 922 THEN 'NL_AddressResolutionTimeout' \
     WHEN 923 THEN 'NL_AddressResolutionFailure' WHEN 924 THEN 'NL_IpsecFailure' \
     WHEN 925 THEN 'NL_ExtensionHeadersFailure' WHEN 926 THEN 'NL_IpsnpiClientDrop' \
     WHEN 927 THEN 'NL_UnsupportedOffload' WHEN 928 THEN 'NL_RoutingFailure' \
     WHEN 929 THEN 'NL_AncillaryDataFailure' WHEN 930 THEN 'NL_RawDataFailure' \
     WHEN 931 THEN 'NL_SessionStateFailure' WHEN 1200 THEN 'INET_SourceUnspecified' \
     WHEN 1201 THEN 'INET_DestinationMulticast' WHEN 1202 THEN 'INET_HeaderInvalid' \
     WHEN 1203 THEN 'INET_ChecksumInvalid' WHEN 1204 THEN 'INET_EndpointNotFound' \
     WHEN 1205 THEN 'INET_ConnectedPath' WHEN 1206 THEN 'INET_SessionState' \
     WHEN 1207 THEN 'INET_ReceiveInspection' WHEN 1208 THEN 'INET_AckInvalid' \
     WHEN 1209 THEN 'INET_ExpectedSyn' WHEN 1210 THEN 'INET_Rst' WHEN 1211 THEN 'INET_SynRcvdSyn' \
     WHEN 1212 THEN 'INET_SimultaneousConnect' WHEN 1213 THEN 'INET_PawsFailed' \
     WHEN 1214 THEN 'INET_LandAttack' WHEN 1215 THEN 'INET_MissedReset' \
     WHEN 1216 THEN 'INET_OutsideWindow' WHEN 1217 THEN 'INET_DuplicateSegment' \
     WHEN 1218 THEN 'INET_ClosedWindow' WHEN 1219 THEN 'INET_TcbRemoved' \
     WHEN 1220 THEN 'INET_FinWait2' WHEN 1221 THEN 'INET_ReassemblyConflict' \
     WHEN 1222 THEN 'INET_FinReceived' WHEN 1223 THEN 'INET_ListenerInvalidFlags' \
     WHEN 1224 THEN 'INET_TcbNotInTcbTable' \
     WHEN 1225 THEN 'INET_TimeWaitTcbReceivedRstOutsideWindow' \
     WHEN 1226 THEN 'INET_TimeWaitTcbSynAndOtherFlags' WHEN 1227 THEN 'INET_TimeWaitTcb' \
     WHEN 1228 THEN 'INET_SynAckWithFastopenCookieRequest' WHEN 1229 THEN 'INET_PauseAccept' \
     WHEN 1230 THEN 'INET_SynAttack' WHEN 1231 THEN 'INET_AcceptInspection' \
     WHEN 1232 THEN 'INET_AcceptRedirection' END";

/// A reason why pktmon saw a packet dropped, as `PKTMON_DROP_REASON` of Windows' pktmon headers calls it; `None` of an unknown one.
pub fn drop_reason_name(reason: i64) -> Option<&'static str> {
    let (_, rest) = DROP_REASONS.split_once(&format!("WHEN {reason} THEN '"))?;
    rest.split('\'').next()
}

const FUNCTIONS: &[Function] = &[
    Function {
        name: "unsigned_order",
        callers: &[],
        about: "A key by which addresses compare as unsigned numbers.",
        parameters: &[("x", "BIGINT")],
        returns: "BIGINT",
        body: "xor(CAST(x AS BIGINT), CAST(-9223372036854775808 AS BIGINT))",
        spark: Some("x ^ (-9223372036854775807L - 1L)"),
    },
    Function {
        name: "is_within",
        callers: &["cpu_samples", "frames", "interrupts"],
        about: "Whether an address is one of so many bytes from a base; of one sign, so that no difference overflows.",
        parameters: &[("address", "BIGINT"), ("base", "BIGINT"), ("size", "BIGINT")],
        returns: "BOOLEAN",
        // No module lies across the border of the sign, which is that of user and kernel.
        body: "CASE WHEN (address < 0) = (base < 0) THEN address - base >= 0 AND address - base < size ELSE FALSE END",
        spark: None,
    },
    Function {
        name: "hex_address",
        callers: &[],
        about: "An address as text of 16 hexadecimal digits.",
        parameters: &[("x", "BIGINT")],
        returns: "STRING",
        body: "'0x' || lpad(lower(hex(CAST(x AS BIGINT))), 16, '0')",
        spark: None,
    },
    Function {
        name: "hex_number",
        callers: &["packet_reports"],
        about: "The number of hexadecimal digits; NULL without any.",
        parameters: &[("x", "STRING")],
        returns: "BIGINT",
        body: "TRY_CAST('0x' || NULLIF(x, '') AS BIGINT)",
        spark: Some("CAST(conv(NULLIF(x, ''), 16, 10) AS BIGINT)"),
    },
    Function {
        name: "drop_reason_name",
        callers: &["packet_reports", "packets"],
        about: "A reason why pktmon saw a packet dropped, as PKTMON_DROP_REASON of Windows' pktmon headers calls it.",
        parameters: &[("x", "BIGINT")],
        returns: "STRING",
        body: DROP_REASONS,
        spark: None,
    },
    Function {
        name: "address_span",
        callers: &["cpu_samples", "frames", "interrupts"],
        about: "What an address meant for a time; of several spans that one is the least which began last.",
        parameters: &[
            ("from_ns", "BIGINT"),
            ("to_ns", "BIGINT"),
            ("base", "BIGINT"),
            ("name", "STRING"),
            ("detail", "STRING"),
        ],
        returns: "STRUCT<newest: BIGINT, highest: BIGINT, detail: STRING, name: STRING, to_ns: BIGINT>",
        body: "{'newest': -1 - from_ns, 'highest': -1 - base, 'detail': detail, 'name': name, 'to_ns': to_ns}",
        spark: Some(
            "named_struct('newest', -1 - from_ns, 'highest', -1 - base, 'detail', detail, 'name', name, 'to_ns', to_ns)",
        ),
    },
    Function {
        name: "span_at",
        callers: &["cpu_samples", "frames", "interrupts"],
        about: "The first of some sorted spans that a time lies in.",
        parameters: &[
            ("spans", "ARRAY<STRUCT<newest: BIGINT, highest: BIGINT, detail: STRING, name: STRING, to_ns: BIGINT>>"),
            ("at_ns", "BIGINT"),
        ],
        returns: "STRUCT<newest: BIGINT, highest: BIGINT, detail: STRING, name: STRING, to_ns: BIGINT>",
        body: "[v FOR v IN spans IF -1 - v.newest <= at_ns AND at_ns < v.to_ns][1]",
        spark: Some("get(filter(spans, v -> -1 - v.newest <= at_ns AND at_ns < v.to_ns), 0)"),
    },
    Function {
        name: "list_item",
        callers: &["frames"],
        about: "An item of a list of integers, the first being 1.",
        parameters: &[("x", "ARRAY<BIGINT>"), ("n", "BIGINT")],
        returns: "BIGINT",
        body: "x[n]",
        spark: Some("get(x, CAST(n - 1 AS INT))"),
    },
    Function {
        name: "symbol_key",
        callers: &["frames"],
        about: "What symbols of a module are found by: its symbol file, else its own file.",
        parameters: &[
            ("pdb_guid", "STRING"),
            ("pdb_age", "BIGINT"),
            ("file_name", "STRING"),
            ("time_stamp", "BIGINT"),
            ("size", "BIGINT"),
        ],
        returns: "STRING",
        body: "COALESCE(pdb_guid || '/' || pdb_age, lower(file_name) || '/' || time_stamp || '/' || size)",
        spark: None,
    },
    Function {
        name: "path_part",
        callers: &["cpu_paths", "wait_paths"],
        about: "A frame of a path; of several that one is the least which is farthest from the leaf.",
        parameters: &[("frame", "BIGINT"), ("name", "STRING")],
        returns: "STRUCT<place: BIGINT, name: STRING>",
        body: "{'place': -frame, 'name': name}",
        spark: Some("named_struct('place', -frame, 'name', name)"),
    },
    Function {
        name: "path_text",
        callers: &["cpu_paths", "wait_paths"],
        about: "The names of sorted frames with semicolons between.",
        parameters: &[("x", "ARRAY<STRUCT<place: BIGINT, name: STRING>>")],
        returns: "STRING",
        body: "array_to_string([v.name FOR v IN x], ';')",
        spark: Some("array_join(transform(x, v -> v.name), ';')"),
    },
    Function {
        name: "list_total",
        callers: &["gc_collections"],
        about: "The sum of a list of integers.",
        parameters: &[("x", "ARRAY<BIGINT>")],
        returns: "BIGINT",
        body: "CAST(list_sum(x) AS BIGINT)",
        spark: Some("aggregate(x, 0L, (total, item) -> total + item)"),
    },
    Function {
        name: "log_time",
        callers: &["windows_update"],
        about: "Unix nanoseconds in UTC as text, to 100 ns.",
        parameters: &[("ns", "BIGINT")],
        returns: "STRING",
        body: "strftime(make_timestamp(ns // 1000), '%Y/%m/%d %H:%M:%S.') || lpad(CAST(ns % 1000000000 // 100 AS VARCHAR), 7, '0')",
        spark: Some(
            "replace(CAST(TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, ns DIV 1000000000) AS STRING), \
             '-', '/') || '.' || lpad(CAST(ns % 1000000000 DIV 100 AS STRING), 7, '0')",
        ),
    },
    Function {
        name: "ipv4_text",
        callers: &["packet_reports"],
        about: "An IPv4 address of 8 hexadecimal digits.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "hex_number(substr(x, 1, 2)) || '.' || hex_number(substr(x, 3, 2)) || '.' || hex_number(substr(x, 5, 2)) \
               || '.' || hex_number(substr(x, 7, 2))",
        spark: None,
    },
    Function {
        name: "ipv6_groups",
        callers: &["packet_reports"],
        about: "The groups of an IPv6 address of 32 hexadecimal digits, a colon before, between and behind them.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "':' || lower(hex(hex_number(substr(x, 1, 4)))) || ':' || lower(hex(hex_number(substr(x, 5, 4)))) \
               || ':' || lower(hex(hex_number(substr(x, 9, 4)))) || ':' || lower(hex(hex_number(substr(x, 13, 4)))) \
               || ':' || lower(hex(hex_number(substr(x, 17, 4)))) || ':' || lower(hex(hex_number(substr(x, 21, 4)))) \
               || ':' || lower(hex(hex_number(substr(x, 25, 4)))) || ':' || lower(hex(hex_number(substr(x, 29, 4)))) || ':'",
        spark: None,
    },
    Function {
        name: "zeros_left_out",
        callers: &["packet_reports"],
        about: "Groups without the first such run of zeros.",
        parameters: &[("x", "STRING"), ("zeros", "STRING")],
        returns: "STRING",
        body: "substr(x, 1, instr(x, zeros) - 1) || '::' || substr(x, instr(x, zeros) + length(zeros))",
        spark: None,
    },
    Function {
        name: "longest_zeros_left_out",
        callers: &["packet_reports"],
        about: "Groups without the first longest run of zeros.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "CASE WHEN contains(x, ':0:0:0:0:0:0:0:0:') THEN zeros_left_out(x, ':0:0:0:0:0:0:0:0:') \
               WHEN contains(x, ':0:0:0:0:0:0:0:') THEN zeros_left_out(x, ':0:0:0:0:0:0:0:') \
               WHEN contains(x, ':0:0:0:0:0:0:') THEN zeros_left_out(x, ':0:0:0:0:0:0:') \
               WHEN contains(x, ':0:0:0:0:0:') THEN zeros_left_out(x, ':0:0:0:0:0:') \
               WHEN contains(x, ':0:0:0:0:') THEN zeros_left_out(x, ':0:0:0:0:') \
               WHEN contains(x, ':0:0:0:') THEN zeros_left_out(x, ':0:0:0:') \
               WHEN contains(x, ':0:0:') THEN zeros_left_out(x, ':0:0:') \
               ELSE x END",
        spark: None,
    },
    Function {
        name: "without_outer_colons",
        callers: &["packet_reports"],
        about: "Groups without the colons around them.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "substr(x, CASE WHEN x LIKE '::%' THEN 1 ELSE 2 END, \
               length(x) - CASE WHEN x LIKE '::%' THEN 0 ELSE 1 END - CASE WHEN x LIKE '%::' THEN 0 ELSE 1 END)",
        spark: None,
    },
    Function {
        name: "ipv6_text",
        callers: &["packet_reports"],
        about: "An IPv6 address of 32 hexadecimal digits.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        // DuckDB copies an argument to each place that names it: a list of one is copied once.
        body: "CASE WHEN substr(x, 1, 24) = '00000000000000000000FFFF' THEN '::ffff:' || ipv4_text(substr(x, 25, 8)) \
               ELSE list_transform([ipv6_groups(x)], lambda g: list_transform([longest_zeros_left_out(g)], \
               lambda t: without_outer_colons(t))[1])[1] END",
        spark: Some(
            "CASE WHEN substr(x, 1, 24) = '00000000000000000000FFFF' THEN '::ffff:' || ipv4_text(substr(x, 25, 8)) \
               ELSE without_outer_colons(longest_zeros_left_out(ipv6_groups(x))) END",
        ),
    },
];

/// Those that people call whatever the traces hold.
const OF_ADDRESSES: [&str; 3] = ["unsigned_order", "is_within", "hex_address"];

/// The statements that make those that are called, and those for addresses. `has_rows`: whether an answer has a select.
pub(super) fn functions(dialect: Dialect, has_rows: impl Fn(&str) -> bool) -> Vec<Statement> {
    let kept = FUNCTIONS.iter().filter(|function| {
        OF_ADDRESSES.contains(&function.name) || function.callers.iter().any(|answer| has_rows(answer))
    });
    let statement = |function: &Function| {
        let Function { name, about, parameters, returns, body, spark, .. } = function;
        let text = match dialect {
            Dialect::DuckDb => {
                let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
                format!("-- {about}\nCREATE OR REPLACE MACRO {name}({}) AS {body};\n", names.join(", "))
            }
            Dialect::Spark => format!(
                "-- {about}\nCREATE OR REPLACE TEMPORARY FUNCTION {name}({}) RETURNS {returns} RETURN {};\n",
                declared(parameters),
                spark.unwrap_or(body)
            ),
        };
        Statement::of(name, text)
    };
    kept.map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::super::answers::ANSWERS;
    use super::super::template::Part;
    use super::*;

    #[test]
    fn reasons_of_drops_have_names() {
        assert_eq!(drop_reason_name(8), Some("Filtered"));
        assert_eq!(drop_reason_name(1232), Some("INET_AcceptRedirection"));
        assert_eq!([drop_reason_name(39), drop_reason_name(123), drop_reason_name(-8)], [None; 3]);
    }

    #[test]
    fn every_answer_is_known_that_calls_a_function() {
        for Function { name, callers, .. } in FUNCTIONS {
            let call = format!("{name}(");
            let calls = |part: &Part<'_>| matches!(part, Part::Text(text) if text.contains(&call));
            let direct =
                ANSWERS.iter().filter(|answer| answer.template.parts.iter().any(calls)).map(|answer| answer.name);
            let functions = FUNCTIONS.iter().filter(|function| function.body.contains(&call));
            let mut found: Vec<&str> = direct.chain(functions.flat_map(|function| function.callers).copied()).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, *callers, "{name}");
        }
    }
}
