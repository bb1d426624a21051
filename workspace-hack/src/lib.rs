//! Nothing but the features of dependencies: see `Cargo.toml` beside.
