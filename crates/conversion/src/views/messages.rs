//! The view of what events say in words: per event shape an expression of the columns that its template inserts.

use schema::message::{Part, parts};

use super::answers::MESSAGES;
use super::dialect::Dialect;
use super::lake::{Lake, LakeTable};
use super::message::{MessageField, Messages};
use super::message_value::{base, column, value};
use super::naming::view_of;
use super::source::{common_item, null, select};
use super::statements::Statement;
use super::template::{Column, Source};

/// What the view has of an event beside the text, with types; the provider stands before the last.
const COMMON: [(&str, &str); 7] = [
    ("timestamp", "TIMESTAMP"),
    ("timestamp_ns", "BIGINT"),
    ("seq", "BIGINT"),
    ("process_id", "BIGINT"),
    ("process_name", "STRING"),
    ("thread_id", "BIGINT"),
    ("event_name", "STRING"),
];

/// The table of messages of WPP, and its column of their texts.
const WPP: (&str, &str) = ("WPP", "message");

/// The column that a conversion writes texts into.
const RENDERED: &str = "rendered_message";

/// What is true of the events that a conversion renders.
const IS_READ: &str = "e.decode_status NOT IN ('error', 'no_schema')";

/// Characters of the longest text: a conversion may cut one of more bytes than so many can have.
const MAX_CHARACTERS: usize = schema::message::MAX_TEXT_BYTES / 4;

/// Parts of the longest template: engines limit how deep expressions are nested.
const MAX_PARTS: usize = 400;

/// Whether a question, or the name of a view, is about what events say in words.
pub fn are_asked(question: &str) -> bool {
    question.to_lowercase().contains(MESSAGES)
}

/// The statement that makes the view, where somebody asks for it.
pub(super) fn statement(dialect: Dialect, lake: &Lake) -> Option<Statement> {
    let known = lake.messages()?.iter();
    let of_dataset = |(name, known): (&String, &Messages)| Some(of_dataset(dialect, lake, lake.table(name)?, known));
    let mut selects: Vec<String> = known.filter_map(of_dataset).collect();
    let wpp = lake.table(WPP.0).filter(|wpp| wpp.column(WPP.1).is_some());
    let of_wpp = |wpp| rows(dialect, lake, wpp, WPP.1, &null(dialect, "STRING")) + &format!(" WHERE {IS_READ}");
    selects.extend(wpp.map(of_wpp));
    if selects.is_empty() {
        let nulls = COMMON.map(|(name, kind)| format!("{} AS {name}", null(dialect, kind))).join(", ");
        let text = null(dialect, "STRING");
        selects.push(format!(
            "SELECT {text} AS trace, {nulls}, {text} AS provider, {text} AS rendered, {text} AS words WHERE 1 = 0"
        ));
    }
    let view = dialect.view(MESSAGES);
    let text = format!(
        "-- What events say in words; NULL where columns do not show what a conversion would write.\n\
         {view}SELECT trace, timestamp, timestamp_ns, seq, process_id, process_name, thread_id, provider, event_name,\n  \
         COALESCE(rendered, CASE WHEN length(words) <= {MAX_CHARACTERS} THEN words END) AS message\nFROM (\n{}\n) e;\n",
        selects.join("\nUNION ALL\n")
    );
    Some(Statement::of(MESSAGES, text))
}

/// The events of a dataset whose shapes have templates.
fn of_dataset(dialect: Dialect, lake: &Lake, table: &LakeTable, known: &Messages) -> String {
    let shown = known.shapes().filter_map(|(key, fields)| Some((key, words(dialect, table, &key.2, fields)?)));
    let cases = shown.zip(1..).map(|(((id, version, template), text), number)| {
        let template = literal(dialect, template);
        let condition = format!("event_id = {id} AND event_version = {version} AND message_template = {template}");
        (format!("\n  WHEN {condition} THEN {number}"), format!("\n  WHEN {number} THEN {text}"))
    });
    let (numbers, texts): (String, String) = cases.unzip();
    let of_none = || ("CAST(NULL AS BIGINT)".to_owned(), null(dialect, "STRING"));
    let some = || (format!("CASE{numbers}\n  END"), format!("CASE message_number{texts}\n  END"));
    let (number, text) = if numbers.is_empty() { of_none() } else { some() };
    let template = Column { name: "message_template", kind: "STRING", alias: "message_template" };
    let common = vec!["event_id", "event_version", "shape"];
    let source = Source { table: "sidecar/catalog", events: None, common, columns: vec![template] };
    let catalog = select(dialect, lake, &source);
    let join = format!(
        " JOIN (SELECT trace, shape, {number} AS message_number FROM {catalog} c WHERE message_template IS NOT NULL) m\n  \
         USING (trace, shape) WHERE {IS_READ}"
    );
    rows(dialect, lake, table, RENDERED, &text) + &join
}

/// The rows of a dataset with the text that the conversion wrote into a column, if there is one, and with another.
fn rows(dialect: Dialect, lake: &Lake, table: &LakeTable, rendered: &str, words: &str) -> String {
    let (provider, view) = (dialect.text(table.name()), dialect.name(&view_of(lake, table)));
    let common = COMMON.map(|(name, kind)| common_item(dialect, table, name, kind)).join(", ");
    let rendered = column(dialect, table, rendered).filter(|(_, kind)| *kind == "STRING");
    let rendered = rendered.map_or_else(|| null(dialect, "STRING"), |(rendered, _)| rendered);
    format!("SELECT trace, {common}, {provider} AS provider, {rendered} AS rendered, {words} AS words\nFROM {view} e")
}

/// A template with the values of columns; `None` where these cannot show all that it inserts.
fn words(dialect: Dialect, table: &LakeTable, template: &str, fields: &[MessageField]) -> Option<String> {
    let parts = parts(template);
    if parts.len() > MAX_PARTS || template.contains('\0') {
        return None;
    }
    // Messages count an event's own fields alone, and members of a structure are counted behind it.
    let is_structure = |field: &MessageField| ["Struct", "GroupAffinity"].contains(&base(&field.in_type));
    let structure = fields.iter().position(is_structure).unwrap_or(usize::MAX);
    let text = |part: &Part| match part {
        Part::Literal(text) => Some(literal(dialect, text)),
        Part::Insertion { index, .. } if *index >= structure || fields.is_empty() => None,
        Part::Insertion { index, spec, source } => match fields.get(*index) {
            None => Some(dialect.text(source)),
            Some(field) if spec.is_none() => value(dialect, table, field, &dialect.text(source)),
            Some(_) => None,
        },
    };
    let texts = parts.iter().map(text).collect::<Option<Vec<_>>>()?;
    Some(if texts.is_empty() { "''".to_owned() } else { texts.join(" || ") })
}

/// A text without line ends, which may end a statement, or be others by the time that a script is read.
fn literal(dialect: Dialect, text: &str) -> String {
    let mut pieces = Vec::new();
    for piece in text.split_inclusive(['\n', '\r']) {
        let (line, end) = match piece.strip_suffix('\n') {
            Some(line) => (line, Some("chr(10)")),
            None => piece.strip_suffix('\r').map_or((piece, None), |line| (line, Some("chr(13)"))),
        };
        pieces.extend((!line.is_empty()).then(|| dialect.text(line)));
        pieces.extend(end.map(str::to_owned));
    }
    if pieces.is_empty() { "''".to_owned() } else { pieces.join(" || ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(in_type: &str, columns: &[&str]) -> MessageField {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        MessageField { in_type: in_type.to_owned(), columns, ..MessageField::default() }
    }

    #[test]
    fn a_template_is_an_expression_of_columns() {
        let mut lake = Lake::default();
        let table = lake.add_file("events/Lab/0.parquet").unwrap();
        [("N", "INT64"), ("T", "STRING"), ("D", "INT64")]
            .into_iter()
            .for_each(|(name, kind)| table.add_column(name.to_owned(), kind.to_owned()));
        table.add_column("D".to_owned(), "STRING".to_owned());
        let fields = [
            field("Int32", &["N"]),
            field("Utf16", &["T"]),
            field("Int32", &["D"]),
            field("Struct", &["S"]),
            field("Int8", &["N"]),
        ];
        let t = |template: &str, expected: Option<&str>| {
            assert_eq!(words(Dialect::DuckDb, lake.table("Lab").unwrap(), template, &fields).as_deref(), expected);
        };
        let number = "CASE WHEN e.\"N\" IS NULL THEN '%1' ELSE CAST(e.\"N\" AS STRING) END";
        t("%1", Some(number));
        t("it's;%n%1", Some(&format!("'it''s;' || chr(10) || {number}")));
        t("%2", Some("CASE WHEN e.\"T\" IS NULL THEN '%2' ELSE e.\"T\" END"));
        t("", Some("''"));
        // Files do not agree in the column, a format, a structure, what is counted behind it, and more than engines nest.
        for unknown in ["%3", "%1!x!", "%4", "%5", "%9", "\0", &"%1".repeat(MAX_PARTS + 1)] {
            t(unknown, None);
        }
        assert_eq!(words(Dialect::Spark, lake.table("Lab").unwrap(), "%9", &fields[..3]).as_deref(), Some("'%9'"));
    }

    #[test]
    fn there_is_a_view_where_somebody_asks() {
        let mut lake = Lake::default();
        assert!(statement(Dialect::DuckDb, &lake).is_none());
        lake.messages_mut();
        let text = statement(Dialect::Spark, &lake).unwrap().text;
        assert!(text.contains("VIEW `event_messages` AS\n") && text.contains("WHERE 1 = 0"), "{text}");
        lake.add_file("events/Lab/0.parquet").unwrap();
        lake.messages_mut().entry("lab".to_owned()).or_default().add((7, 1, "hello".to_owned()), Vec::new());
        let text = statement(Dialect::DuckDb, &lake).unwrap().text;
        let number = "WHEN event_id = 7 AND event_version = 1 AND message_template = 'hello' THEN 1";
        assert!(text.contains(number) && text.contains("WHEN 1 THEN 'hello'"), "{text}");
        assert!(are_asked("FROM Event_Messages") && !are_asked("FROM all_events"));
    }
}
