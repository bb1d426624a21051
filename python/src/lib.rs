//! The native part of the Python package `etl2parquet`: the same program, asked from Python.
//!
//! | module | |
//! |---|---|
//! | `options` | what there are of keyword arguments |
//! | `work` | work that Python waits for, without its lock, and that its user can interrupt |
//! | `errors` | failures as exceptions |
//! | `trace`, `rows` | an opened trace, converted or not; its events and tables as streams of Arrow |
//! | `convert`, `steps` | conversions, whole and in steps |
//! | `recordings` | conversions whose recordings other processes convert |
//! | `published` | what is asked of converted traces |
//! | `schema` | what is known of the payloads of events |
//!
//! What Python sees is typed in `etl2parquet/_native.pyi`, and documented where the package wraps it.

#![allow(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]

mod convert;
mod errors;
mod options;
mod published;
mod recordings;
mod rows;
mod schema;
mod steps;
mod trace;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    /// Addresses of stores are read where paths are.
    #[pymodule_init]
    #[allow(clippy::unnecessary_wraps, reason = "what initializes a module may fail")]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        #[cfg(feature = "cloud")]
        cloud::install();
        Ok(())
    }

    #[pymodule_export]
    use crate::convert::convert;
    #[pymodule_export]
    use crate::options::all_options;
    #[pymodule_export]
    use crate::published::{
        compact, compare, describe, export_trace, is_lake, is_published, report, symbols, verify, views,
    };
    #[pymodule_export]
    use crate::recordings::{
        commit_recording, convert_recordings, extend_lock, failure, plan_recording, recordings, survey_recording,
    };
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::schema::{
        schema_export, schema_harvest, schema_import, schema_imports, schema_list, schema_lock, schema_remove,
        schema_show,
    };
    #[pymodule_export]
    use crate::steps::{commit, convert_partition, part_rows, plan};
    #[pymodule_export]
    use crate::trace::{Trace, open};
}
