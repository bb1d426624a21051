//! Rows of the two tables.

use ::symbols::{Found, PdbId};
use base::guid::Guid;
use conversion::read_columns;
use serde::Serialize;

/// What a module is listed with whose share is too small to ask for it.
pub const NOT_ASKED: &str = "not asked";

/// What became of the search for the symbols of a module: a row of `symbols/modules.parquet`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModuleSymbols {
    /// The identity that the trace records: the symbol file's GUID and age, else name, time stamp and size of the module.
    pub symbol_key: Option<String>,
    /// Name of the module.
    pub file_name: Option<String>,
    /// Time stamp of the module's header.
    pub time_stamp: Option<i64>,
    /// Size of the module in memory, in bytes.
    pub image_size: Option<i64>,
    /// Name of the symbol file.
    pub pdb_name: Option<String>,
    /// GUID of the symbol file: the trace's, else the binary's that was found.
    pub pdb_guid: Option<String>,
    /// Age of the symbol file.
    pub pdb_age: Option<i64>,
    /// `found`, `not found`, `mismatch`, `unreadable`, `unsupported`, `no identity`, `not asked`.
    pub status: String,
    /// What was found instead, or is wrong with it.
    pub reason: Option<String>,
    /// The file that was used, or could not be.
    pub path: Option<String>,
    /// Frames of events that lie in the module.
    pub frames: i64,
    /// The part of all frames that these are.
    pub share: f64,
    /// Different addresses.
    pub addresses: i64,
    /// Those of them with a function.
    pub named: i64,
}

impl ModuleSymbols {
    /// Whether there are symbols.
    pub fn is_found(&self) -> bool {
        self.status == FOUND
    }

    /// The name of the symbol file without its folders, else of the module.
    pub fn name(&self) -> &str {
        let name = self.pdb_name.as_deref().or(self.file_name.as_deref()).unwrap_or("?");
        name.rsplit(['\\', '/']).next().unwrap_or(name)
    }
}

/// The identity of the symbol file of a module; `None` where it is not known.
pub fn id_of(row: &ModuleSymbols) -> Option<PdbId> {
    let guid: Guid = row.pdb_guid.as_deref()?.parse().ok()?;
    Some(PdbId { guid, age: u32::try_from(row.pdb_age?).ok()? })
}

/// Notes that there are no symbols, and why.
pub(super) fn note<T>(row: &mut ModuleSymbols, found: &Found<T>) {
    row.status = found.word().replace('_', " ");
    if row.status == "no id" {
        "no identity".clone_into(&mut row.status);
    }
    row.reason = found.detail().map(str::to_owned);
    row.path = found.path().map(|path| path.display().to_string());
}

/// What a module is listed with whose symbols were found.
pub(super) const FOUND: &str = "found";

/// What an address of a module lies in: rows of `symbols/pdb/<GUID><age>.parquet` with the same `rva`, of which the one of
/// `inline_depth` 0 is the function, and the others are inlined in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FunctionRow {
    pub rva: i64,
    pub inline_depth: i64,
    /// `None`: the symbol file has none for this address.
    pub name: Option<String>,
    /// With parameters, where that is more.
    pub full_name: Option<String>,
    /// `public` or `private`.
    pub kind: Option<String>,
    /// Where the function begins.
    pub start: Option<i64>,
    /// Its length, in bytes.
    pub size: Option<i64>,
    pub file: Option<String>,
    pub line: Option<i64>,
    /// Whether files, lines and inlined functions were asked for.
    pub with_lines: bool,
}

read_columns! {
    /// A stored row of an address.
    pub(super) struct StoredFunction<'b> {
        rva: i64 = "rva",
        inline_depth: i64 = "inline_depth",
        name: Option<&'b str> = "name",
        full_name: Option<&'b str> = "full_name",
        kind: Option<&'b str> = "kind",
        start: Option<i64> = "start",
        size: Option<i64> = "size",
        file: Option<&'b str> = "file",
        line: Option<i64> = "line",
        with_lines: bool = "with_lines",
    }
}

impl StoredFunction<'_> {
    pub(super) fn owned(&self) -> FunctionRow {
        let text = |text: Option<&str>| text.map(str::to_owned);
        FunctionRow {
            rva: self.rva,
            inline_depth: self.inline_depth,
            name: text(self.name),
            full_name: text(self.full_name),
            kind: text(self.kind),
            start: self.start,
            size: self.size,
            file: text(self.file),
            line: self.line,
            with_lines: self.with_lines,
        }
    }
}

read_columns! {
    /// A stored row of a module.
    pub(super) struct StoredModule<'b> {
        symbol_key: Option<&'b str> = "symbol_key",
        file_name: Option<&'b str> = "file_name",
        time_stamp: Option<i64> = "time_stamp",
        image_size: Option<i64> = "image_size",
        pdb_name: Option<&'b str> = "pdb_name",
        pdb_guid: Option<&'b str> = "pdb_guid",
        pdb_age: Option<i64> = "pdb_age",
        status: &'b str = "status",
        reason: Option<&'b str> = "reason",
        path: Option<&'b str> = "path",
        frames: i64 = "frames",
        share: Option<f64> = "share",
        addresses: i64 = "addresses",
        named: i64 = "named",
    }
}

impl StoredModule<'_> {
    pub(super) fn owned(&self) -> ModuleSymbols {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ModuleSymbols {
            symbol_key: text(self.symbol_key),
            file_name: text(self.file_name),
            time_stamp: self.time_stamp,
            image_size: self.image_size,
            pdb_name: text(self.pdb_name),
            pdb_guid: text(self.pdb_guid),
            pdb_age: self.pdb_age,
            status: self.status.to_owned(),
            reason: text(self.reason),
            path: text(self.path),
            frames: self.frames,
            share: self.share.unwrap_or_default(),
            addresses: self.addresses,
            named: self.named,
        }
    }
}
