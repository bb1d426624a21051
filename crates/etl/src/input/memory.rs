//! An input that is in memory whole.

use base::error::Result;

use super::access::{Identity, Input};
use super::address::Address;

/// Bytes in memory, for traces that were made rather than recorded.
#[derive(Clone, Debug)]
pub struct MemoryInput {
    identity: Identity,
    bytes: Vec<u8>,
}

impl MemoryInput {
    /// An input of these bytes; errors call it `name`.
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        MemoryInput::at(&Address::from(name), bytes)
    }

    /// An input of bytes that lie at an address.
    pub fn at(address: &Address, bytes: Vec<u8>) -> Self {
        MemoryInput {
            identity: Identity { source: address.clone(), size: bytes.len() as u64, modified: None, tag: None },
            bytes,
        }
    }
}

impl Input for MemoryInput {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.bytes.get(start..));
        let bytes = rest.and_then(|rest| rest.get(..target.len())).ok_or_else(|| self.changed().at_offset(offset))?;
        target.copy_from_slice(bytes);
        Ok(())
    }

    fn check_unchanged(&self) -> Result<()> {
        Ok(())
    }
}
