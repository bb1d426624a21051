//! Numbers, times and hostile text as people read them.

pub mod count;
pub mod printable;
pub mod share;
pub mod time;
