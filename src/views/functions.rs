//! Functions that the views, and people, call.

use super::dialect::{Dialect, declared};

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
        callers: &["cpu_samples"],
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
        name: "first_address",
        callers: &["stack_walks"],
        about: "The first address of a stack.",
        parameters: &[("x", "ARRAY<BIGINT>")],
        returns: "BIGINT",
        body: "x[1]",
        spark: Some("try_element_at(x, 1)"),
    },
    Function {
        name: "hex_number",
        callers: &["packets"],
        about: "The number of hexadecimal digits; NULL without any.",
        parameters: &[("x", "STRING")],
        returns: "BIGINT",
        body: "TRY_CAST('0x' || NULLIF(x, '') AS BIGINT)",
        spark: Some("CAST(conv(NULLIF(x, ''), 16, 10) AS BIGINT)"),
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
        callers: &["packets"],
        about: "An IPv4 address of 8 hexadecimal digits.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "hex_number(substr(x, 1, 2)) || '.' || hex_number(substr(x, 3, 2)) || '.' || hex_number(substr(x, 5, 2)) \
               || '.' || hex_number(substr(x, 7, 2))",
        spark: None,
    },
    Function {
        name: "ipv6_groups",
        callers: &["packets"],
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
        callers: &["packets"],
        about: "Groups without the first such run of zeros.",
        parameters: &[("x", "STRING"), ("zeros", "STRING")],
        returns: "STRING",
        body: "substr(x, 1, instr(x, zeros) - 1) || '::' || substr(x, instr(x, zeros) + length(zeros))",
        spark: None,
    },
    Function {
        name: "longest_zeros_left_out",
        callers: &["packets"],
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
        callers: &["packets"],
        about: "Groups without the colons around them.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "substr(x, CASE WHEN x LIKE '::%' THEN 1 ELSE 2 END, \
               length(x) - CASE WHEN x LIKE '::%' THEN 0 ELSE 1 END - CASE WHEN x LIKE '%::' THEN 0 ELSE 1 END)",
        spark: None,
    },
    Function {
        name: "ipv6_text",
        callers: &["packets"],
        about: "An IPv6 address of 32 hexadecimal digits.",
        parameters: &[("x", "STRING")],
        returns: "STRING",
        body: "CASE WHEN substr(x, 1, 24) = '00000000000000000000FFFF' THEN '::ffff:' || ipv4_text(substr(x, 25, 8)) \
               ELSE without_outer_colons(longest_zeros_left_out(ipv6_groups(x))) END",
        spark: None,
    },
];

/// Those that people call whatever the traces hold.
const OF_ADDRESSES: [&str; 3] = ["unsigned_order", "is_within", "hex_address"];

/// The statements that make those that are called, and those for addresses. `has_rows`: whether an answer has a select.
pub(super) fn functions(dialect: Dialect, has_rows: impl Fn(&str) -> bool) -> String {
    let kept = FUNCTIONS.iter().filter(|function| {
        OF_ADDRESSES.contains(&function.name) || function.callers.iter().any(|answer| has_rows(answer))
    });
    let statement = |function: &Function| {
        let Function { name, about, parameters, returns, body, spark, .. } = function;
        match dialect {
            Dialect::DuckDb => {
                let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
                format!("-- {about}\nCREATE OR REPLACE MACRO {name}({}) AS {body};\n", names.join(", "))
            }
            Dialect::Spark => format!(
                "-- {about}\nCREATE OR REPLACE TEMPORARY FUNCTION {name}({}) RETURNS {returns} RETURN {};\n",
                declared(parameters),
                spark.unwrap_or(body)
            ),
        }
    };
    kept.map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::super::answers::ANSWERS;
    use super::super::template::Part;
    use super::*;

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
