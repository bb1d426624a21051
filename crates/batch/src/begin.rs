//! What the beginning of an input says.

use base::error::Result;
use base::progress::NoProgress;
use conversion::convert::InputFile;
use etl::input::{OpenOptions, open_head};
use etl::session::{self, Session};

/// Whether an input begins like a trace; takes one read, or the first bytes of a member.
///
/// # Errors
/// [`ErrorKind::Input`](base::error::ErrorKind::Input) when it does not.
pub fn probe(input: &InputFile, open: &OpenOptions) -> Result<()> {
    session_of(input, open).map(drop)
}

/// What an input says of its session; takes as much as [`probe`].
///
/// # Errors
/// [`ErrorKind::Input`](base::error::ErrorKind::Input) when it is no trace.
pub fn session_of(input: &InputFile, open: &OpenOptions) -> Result<Session> {
    session::read(&*open_head(&input.address, open, &NoProgress)?).map(|(session, _)| session)
}
