//! Programs of Windows (PE files): headers, and the resources that lie in them.
//!
//! Layout: <https://learn.microsoft.com/windows/win32/debug/pe-format>. All is read by position and in small pieces: the
//! resources of a program of 70 MB can be its last bytes.

mod headers;
mod resources;

pub use self::headers::Image;
pub use self::resources::{Resource, ResourceName, Resources};
