//! Writes the seeds that the project's own writer makes; the others in `seeds/` were written by hand or are findings.

use std::path::Path;

use etl2parquet_fuzz::made;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for seed in made::all() {
        let folder = root.join(seed.folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(seed.name), seed.bytes)?;
    }
    Ok(())
}
