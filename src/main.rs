//! The `etl2parquet` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    etl2parquet::cli::run()
}
