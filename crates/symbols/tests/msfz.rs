//! A PDB in the other container, as Microsoft's own writer makes it, says the same.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod common;

use common::{LIMIT, data};
use symbols::Pdb;

#[test]
fn both_containers_say_the_same_of_every_address() {
    // The first in one chunk, the second with fragments beside it, the third compressed with deflate.
    for (name, named) in
        [("attach_amd64", 20_077), ("run_code_on_dllmain_amd64", 7138), ("run_code_on_dllmain_x86", 6211)]
    {
        let open = |container: &str| Pdb::from_bytes(name, data(&format!("{name}.{container}")), LIMIT).unwrap();
        let (mut msf, mut msfz) = (open("pdb"), open("msfz"));
        assert_eq!(msf.id(), msfz.id());
        let addresses: Vec<u32> = (0..0x10000).collect();
        for with_lines in [false, true] {
            let found = msfz.resolve(&addresses, with_lines).unwrap();
            assert_eq!(found, msf.resolve(&addresses, with_lines).unwrap());
            assert_eq!(found.iter().flatten().count(), named, "{name}");
        }
    }
}
