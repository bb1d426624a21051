//! What a file of pcapng has, as it is asked for.

use base::error::Result;

use super::events::events;
use super::packets::packets;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::request::Packets;

/// Writes a trace as pcapng.
///
/// # Errors
/// [`ErrorKind::Output`](base::error::ErrorKind::Output) when the trace cannot be read, or the file cannot be written;
/// [`ErrorKind::Usage`](base::error::ErrorKind::Usage) when events are asked for, and the trace does not keep their payloads.
pub(crate) fn pcapng(opened: &Opened<'_>, of: Packets, output: &mut Output<'_>) -> Result<Exported> {
    match of {
        Packets::Once => packets(opened, true, output),
        Packets::All => packets(opened, false, output),
        Packets::Events => events(opened, output),
    }
}
