//! Events: where they lie in a buffer, what identifies them, and one view of all header families.

pub mod items;
pub mod named_ids;
mod recent;
pub mod shape;
mod signature;
pub mod stack;
mod starts;
pub mod subject;
mod swallowed;
pub mod timed;
pub mod view;
pub mod walk;

pub use recent::{NewShape, RecentShapes};
pub use shape::{EventIdentity, Shape, ShapeRef, trace_logging_metadata};
pub use starts::Starts;
pub use swallowed::{Swallowed, hides_events, resume, swallowed};
pub use timed::{TimedEvent, TimedStep, TimedWalk};
pub use view::{Event, FileContext};
pub use walk::{Gap, RawEvent, Walk, WalkStep};
