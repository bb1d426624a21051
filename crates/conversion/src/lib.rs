//! The steps of a conversion, from the files of one recording to a published trace.
//!
//! ```text
//! open ──► survey ──► plan ──► convert ──► commit
//!          every      which    payloads    counts must meet, then one rename
//!          header     layout   to columns  makes the trace appear
//! ```
//!
//! | module | |
//! |---|---|
//! | [`survey`] | the first pass over an input: counts, losses, the clock, and where events lie that describe others |
//! | [`plan`] | which schema each event shape has, the tables and their columns, filters, and partitions |
//! | [`dimensions`], [`stacks`] | what ids of processes, threads and files meant; which stack is of which event |
//! | [`decode`], [`table`] | a schema as a program that fills columns; the columns that every table has |
//! | [`convert`] | a partition to row groups |
//! | [`views`], [`sidecar`], [`commit`] | SQL views, the tables beside the events, and the publication |
//! | [`job`] | the steps one after another, or one by one |
//! | [`inspect`] | what is known of a recording, as documents |
//!
//! What passes from step to step is plain data. The crate `etl2parquet` is the interface for programs; its first page converts the
//! trace of the examples.

pub mod commit;
pub mod convert;
pub mod decode;
pub mod dimensions;
pub mod inspect;
pub mod job;
pub mod plan;
pub mod sidecar;
pub mod stacks;
pub mod survey;
pub mod table;
pub mod views;
