//! Names of functions, by the module that they are in and where.

use std::borrow::Cow;
use std::fmt;

use super::modules::ModuleId;

/// Who knows the names of functions.
pub trait Names: fmt::Debug {
    /// The function of a module that has a relative address, where it is known: never a guess.
    fn function(&self, module: &ModuleId, address: u32) -> Option<Cow<'_, str>>;
}
