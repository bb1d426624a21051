//! What somebody asks of a trace before it is converted, and of one that is, as documents: [`Inspection`] is what
//! `inspect --json` prints.

mod inspection;
mod loss;
mod notable;
mod processes;
mod time_range;
mod top_events;

pub use inspection::{InspectedDataset, InspectedInput, InspectedShape, Inspection};
pub use loss::{InputLoss, LossTotals, words_of_all};
pub use notable::notable;
pub use processes::{InspectedProcess, Processes};
pub use time_range::TimeRange;
pub use top_events::{NamedEvents, TopEvents};
