//! The number that distinguishes a stack from others, in every trace the same.

/// The first 8 bytes, little-endian, of BLAKE3 over the addresses, each as 8 bytes, little-endian.
pub fn stack_id(addresses: impl Iterator<Item = u64>) -> i64 {
    let mut hasher = blake3::Hasher::new();
    // Each call to the hash costs more than to hash an address.
    let (mut block, mut filled) = ([0; BLOCK], 0);
    for address in addresses {
        block[filled..filled + ADDRESS].copy_from_slice(&address.to_le_bytes());
        filled += ADDRESS;
        if filled == BLOCK {
            hasher.update(&block);
            filled = 0;
        }
    }
    hasher.update(&block[..filled]);
    let hash = hasher.finalize();
    i64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a hash has 32 bytes"))
}

/// Bytes of an address.
const ADDRESS: usize = 8;

/// Bytes that are handed over at a time.
const BLOCK: usize = 64 * ADDRESS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_reported_by_the_hash_of_its_addresses() {
        // Of no bytes, the hash is a published one: af1349b9 f5f9a1a6 ...
        assert_eq!(stack_id([].into_iter()).to_le_bytes(), [0xAF, 0x13, 0x49, 0xB9, 0xF5, 0xF9, 0xA1, 0xA6]);
        for count in [1, 63, 64, 65, 200] {
            let addresses: Vec<u64> = (0..count).map(|n| 0xFFFF_F800_0000_0000 + n * n).collect();
            let bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
            let whole = blake3::hash(&bytes);
            assert_eq!(stack_id(addresses.into_iter()).to_le_bytes(), whole.as_bytes()[..8], "{count}");
        }
    }
}
