//! Sections of the page: facts in words, tables and charts.

mod collections;
mod cpu;
mod events;
mod failures;
mod files;
mod io;
mod losses;
mod missing;
mod packets;
mod recording;
mod rows;
mod stacks;
mod starts;
mod threads;

pub(super) use collections::collections;
pub(super) use cpu::{code, cpu, interrupts};
pub(super) use events::events;
pub(super) use failures::failures;
pub(super) use files::files;
pub(super) use io::{disk, network};
pub(super) use losses::{findings, losses, lost_in_all};
pub(super) use missing::missing;
pub(super) use packets::packets;
pub(super) use recording::{about, buffers, clocks};
pub(super) use stacks::{sample_stacks, wait_stacks};
pub(super) use starts::starts;
pub(super) use threads::{pauses, processes, waits};
