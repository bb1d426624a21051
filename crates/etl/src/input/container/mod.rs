//! Containers of traces: archives and compressed files, recognised by what they begin with, read member by member.

mod archive;
mod cabinet;
mod cabinet_data;
mod checked;
mod cursor;
mod fault;
mod format;
mod joint;
mod member;
mod opened;
mod seven;
mod seven_header;
mod spool;
mod stream;
mod xz;
mod xz_check;
mod zip;

pub use archive::{Archive, Stored};
pub(super) use fault::of_decoder as decoder_fault;
pub use format::Format;
pub use member::{Member, Obstacle};
pub(super) use opened::{MemberInput, MemberPlace};
pub use spool::SpoolLimit;
pub(super) use spool::{Spool, Unpacked, nearest};
pub use stream::name_within;
