//! WPP messages: what a TMF file says of them, and their text.
//!
//! A message carries neither types nor text, only a GUID, a number and its arguments back to back. The item types
//! are those of `defaultwpp.ini`; the format is that of `FormatMessage`, with a `printf` format between exclamation
//! marks.

mod argument;
mod compiled;
mod format;
mod item;
mod labels;
mod message;
mod origin;
mod render;
mod time;
mod value;

pub use self::argument::{Argument, ArgumentType};
pub use self::compiled::CompiledMessage;
pub use self::labels::Names;
pub use self::labels::number;
pub use self::message::{MessageFormat, MessageTable};
pub use self::origin::MessageOrigin;
pub use self::render::{ArgumentStatus, HeaderValues, Rendered, Renderer};
