//! The `etl2parquet` program.

fn main() {}
