//! Which events are actions.

use super::action::Action;
use super::known::Known;
use super::row::ActionRow;
use super::{of_dns, of_file, of_network, of_process, of_registry};

/// The datasets with events that standards name.
const DATASETS: [&str; 10] = [
    "Kernel-FileIo",
    "Kernel-Image",
    "Kernel-Process",
    "Kernel-Registry",
    "Kernel-TcpIp",
    "Kernel-UdpIp",
    "Microsoft-Windows-DNS-Client",
    "Microsoft-Windows-Kernel-File",
    "Microsoft-Windows-Kernel-Network",
    "Microsoft-Windows-Kernel-Process",
];

/// Whether a dataset may have any.
pub(super) fn has_actions(dataset: &str) -> bool {
    DATASETS.contains(&dataset)
}

/// What an event of a dataset proves; `None` of one that is no action, such as those that list what was there before.
pub(super) fn action<'a>(known: &'a Known, dataset: &str, row: &ActionRow<'a>) -> Option<Action<'a>> {
    match dataset {
        "Kernel-Process" => of_process::of_kernel(known, row),
        "Kernel-Image" => of_process::of_image(known, row),
        "Microsoft-Windows-Kernel-Process" => of_process::of_manifest(known, row),
        "Kernel-TcpIp" | "Kernel-UdpIp" | "Microsoft-Windows-Kernel-Network" => of_network::action(known, row, dataset),
        "Microsoft-Windows-DNS-Client" => of_dns::action(known, row),
        "Kernel-Registry" => of_registry::action(known, row),
        "Kernel-FileIo" | "Microsoft-Windows-Kernel-File" => of_file::action(known, row),
        _ => None,
    }
}
