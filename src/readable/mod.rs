//! Numbers, times and hostile text as people read them.

pub(crate) mod count;
pub(crate) mod printable;
pub(crate) mod share;
pub(crate) mod time;
