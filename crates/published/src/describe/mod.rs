//! What can be asked of published traces, as one document that a program reads before it writes SQL.
//!
//! ```text
//! manifests, sidecars ─► facts of each trace ─┐
//! footers, or what is kept of them ─► tables ─┴─► the whole document ─► within a limit
//! ```

mod document;
mod facts;
mod fit;
mod gather;
mod said;
mod whole;

pub use document::{
    DescribedColumn, DescribedDataset, DescribedEvent, DescribedLoss, DescribedTable, DescribedTrace, DescribedTraces,
    DescribedView, Description, LeftOut,
};
pub use fit::{LIMIT_BYTES, within};
pub use whole::describe;
