//! What a description says of an event beside its fields, as documents have it.

use serde::Serialize;

use super::catalog::PayloadLayout;

/// What a description says of an event beside its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclaredNames {
    /// The name people know it by.
    pub name: Option<String>,
    /// The level.
    pub level: Option<u8>,
    /// The channel's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u8>,
    /// The task's name.
    pub task: Option<String>,
    /// The task's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_value: Option<u16>,
    /// The opcode's name.
    pub opcode: Option<String>,
    /// The opcode's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opcode_value: Option<u8>,
    /// Names of keywords.
    pub keywords: Vec<String>,
    /// The bits of the keywords, as `0x10`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword_mask: Option<String>,
    /// The name in the provider's source code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The message template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl DeclaredNames {
    /// What the description of a layout says.
    pub fn of(layout: &PayloadLayout<'_>) -> DeclaredNames {
        let schema = layout.schema;
        DeclaredNames {
            name: schema.event_name.clone(),
            level: layout.level,
            channel: layout.channel,
            task: schema.task_name.clone(),
            task_value: layout.numbers.task,
            opcode: schema.opcode_name.clone(),
            opcode_value: layout.numbers.opcode,
            keywords: schema.keyword_names.clone(),
            keyword_mask: layout.keywords.map(|bits| format!("{bits:#x}")),
            symbol: layout.symbol.map(str::to_owned),
            message: layout.message.map(str::to_owned),
        }
    }
}
