//! What a PDB says of the addresses of its binary.

pub(crate) mod annotations;
pub(crate) mod decorated;
pub(crate) mod directory;
pub(crate) mod enumerations;
pub(crate) mod functions;
pub(crate) mod ids;
pub(crate) mod inlines;
pub(crate) mod lines;
pub(crate) mod procedures;
pub(crate) mod publics;
pub(crate) mod records;
pub(crate) mod source_annotations;
pub(crate) mod space;
