//! One target under libFuzzer; `ETL2PARQUET_FUZZ_TARGET` names it. `scripts/check/fuzz` builds and runs it.

#![no_main]

use std::sync::OnceLock;

use etl2parquet_fuzz::digest::Digest;
use etl2parquet_fuzz::target::Target;

fn target() -> &'static Target {
    static TARGET: OnceLock<&'static Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("ETL2PARQUET_FUZZ_TARGET").unwrap_or_default();
        Target::find(&name).unwrap_or_else(|| panic!("ETL2PARQUET_FUZZ_TARGET names no target: {name:?}"))
    })
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| (target().run)(input, &mut Digest::default()));
