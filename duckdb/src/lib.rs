//! The DuckDB extension `etl2parquet`: traces as tables of SQL, through the stable C interface of DuckDB.
//!
//! ```sql
//! FROM 'boot.etl';                                             -- what all events have
//! FROM read_etl('boot.etl', dataset := 'Kernel-Process');      -- all of some
//! FROM etl_datasets('boot.etl');
//! FROM etl_table('boot.etl', 'lost_events');
//! ```
//!
//! | module | |
//! |---|---|
//! | `functions` | what SQL calls: arguments, columns, and where their rows come from |
//! | `scan` | the calls of DuckDB: bind, init, scan |
//! | `arguments` | values of SQL as options |
//! | `types`, `vectors` | types and values of Arrow as those of DuckDB |
//! | `opened` | the trace that was opened last |
//! | `interrupt` | Ctrl-C |
//!
//! `unsafe` are the calls of DuckDB and to it, in `scan`, `arguments` and `vectors`: each says what it relies on.

mod arguments;
mod functions;
mod interrupt;
mod opened;
mod scan;
mod types;
mod vectors;

use quack_rs::connection::Connection;
use quack_rs::error::ExtensionError;

mod entry {
    quack_rs::entry_point_v2!(etl2parquet_init_c_api, |connection| super::load(connection));
}

/// Adds all functions to a database.
fn load(connection: &Connection) -> Result<(), ExtensionError> {
    interrupt::watch();
    scan::register(connection)
}
