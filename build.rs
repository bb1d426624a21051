//! Finds out which commit the program is built from.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"));
    let code = format!(
        "/// The commit that this was built from, if that is known.\nconst COMMIT: Option<&str> = {:?};\n",
        commit()
    );
    fs::write(out.join("version.rs"), code).expect("OUT_DIR is writable");
}

/// The commit that is checked out, of builds for use: those for development would begin anew with every commit. `None`
/// where this is no checkout of its own.
fn commit() -> Option<String> {
    if env::var("PROFILE").as_deref() != Ok("release") {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").ok()?);
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    if fs::canonicalize(&root).ok()? != fs::canonicalize(top).ok()? {
        return None;
    }
    for watched in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", watched])?);
    }
    git(&["rev-parse", "--short=12", "HEAD"]).filter(|commit| !commit.is_empty())
}
