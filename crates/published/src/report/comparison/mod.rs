//! Two sets of traces side by side: what of the second differs from the first, and which of that is proven.
//!
//! ```text
//! trace ──► amounts of each name, with what may be missing of them ──► sides ──► rows, each with its verdict ──► document
//!           gather, measure, loss                                      side      verdict, rank_test             compared, page
//! ```

mod compared;
mod gather;
mod loss;
mod measure;
mod page;
mod rank_test;
mod sampled;
mod side;
mod verdict;

pub use compared::{Comparison, MeasureRows, Row, compared};
pub use gather::{TraceAmounts, amounts_of};
pub use measure::{By, Measure};
pub use page::page;
pub use side::{ComparedTrace, Side};
pub use verdict::Verdict;
