//! `etl2parquet schema`: what is known of payloads, and the user's store.

pub(super) mod args;
mod command;
mod harvest;
mod lock;
mod messages;
mod page;
mod store;

pub(super) use self::command::run;
