//! `etl2parquet schema`: what is known of payloads, and the user's store.

pub(super) mod args;
mod command;
mod lock;
mod messages;
mod page;

pub(super) use self::command::run;
