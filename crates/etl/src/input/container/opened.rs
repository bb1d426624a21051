//! A member of a container as an input.

use std::sync::Arc;

use base::error::{Error, ErrorKind, Result};

use super::spool::Unpacked;
use crate::input::access::{Identity, Input, Since, changed};
use crate::input::local;

/// The bytes of a member: in its archive, or in a spool.
#[derive(Debug)]
pub(in crate::input) struct MemberInput {
    pub(in crate::input) identity: Identity,
    /// Where its first byte is.
    pub(in crate::input) start: u64,
    pub(in crate::input) place: MemberPlace,
    pub(in crate::input) since: Since,
}

/// Where the bytes of a member are.
#[derive(Debug)]
pub(in crate::input) enum MemberPlace {
    /// In the archive, as they are.
    Archive(Arc<dyn Input>),
    /// Unpacked; the archive, if it is a local file, must stay as it was all the same.
    Spool(Arc<Unpacked>, Option<Identity>),
}

impl Input for MemberInput {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn read_into(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(target.len() as u64).filter(|end| *end <= self.size());
        let Some(start) = end.and_then(|_| self.start.checked_add(offset)) else {
            return Err(self.changed().at_offset(offset));
        };
        match &self.place {
            MemberPlace::Archive(archive) => archive.read_into(start, target),
            MemberPlace::Spool(bytes, _) => bytes.read_exact_at(target, start).map_err(|cause| {
                Error::new(ErrorKind::Output, "cannot read back what was unpacked into a temporary file")
                    .in_file(self.path())
                    .at_offset(offset)
                    .caused_by(cause)
            }),
        }
    }

    fn check_unchanged(&self) -> Result<()> {
        match &self.place {
            MemberPlace::Archive(archive) => archive.check_unchanged(),
            MemberPlace::Spool(_, Some(archive)) => local::check_unchanged(archive, self.since),
            MemberPlace::Spool(_, None) => Ok(()),
        }
    }

    fn changed(&self) -> Error {
        changed(self.path(), self.since)
    }
}
