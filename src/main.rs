//! The `etl2parquet` program.

use std::process::ExitCode;

/// That of musl gives memory back to the system at once and shares one lock among all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    etl2parquet::cli::run()
}
