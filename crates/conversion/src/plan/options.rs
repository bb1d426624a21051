//! What a plan depends on besides the recording.

use std::sync::Arc;

use columnar::columns::TypeOptions;
use schema::user::UserSchemas;

use super::datasets::DatasetSplit;
use super::filter::Filter;

/// Choices that the plan depends on.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Column types.
    pub types: TypeOptions,
    /// Whether tables have every declared column, or those of the events present.
    pub all_columns: bool,
    /// How many datasets a provider's events become.
    pub layout: DatasetSplit,
    /// Descriptions given by the user.
    pub schemas: Arc<UserSchemas>,
    /// Whether names that the lock does not have are issues of the trace.
    pub reports_new_names: bool,
    /// Which events become rows.
    pub filter: Filter,
    /// The language of message templates (`de-DE`), where a manifest has them in it.
    pub language: Option<String>,
    /// Whether rows say in words what their event does.
    pub renders_messages: bool,
}
