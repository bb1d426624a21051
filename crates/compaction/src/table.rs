//! One table of a bucket, from the rows of its traces to its files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_schema::{DataType, Field, Schema};
use base::error::{Error, ErrorKind, Result};
use base::progress::{Progress, stop_if_cancelled};
use columnar::dataset::{EncodeOptions, FileNaming, TableSpec, TableWriter};
use columnar::output::Output;
use published::lake_manifest::{LakeFile, MANIFESTS};
use published::{MANIFEST_COLUMNS, PublishedLake};

use super::columns::{Group, TableColumn, TraceTable, groups};
use super::members::{LoadedMember, MemberTable};
use super::pieces::Rows;
use super::row_group::{RowGroups, block_rows, with_traces};
use super::sources::{LakeRows, SourceFile, TRACE, TableFile, rows_of_files};

/// Rows of [`MANIFESTS`] that are read at a time: a manifest has a line for each file of its trace.
const MANIFEST_BLOCK: usize = 64;

/// A file that is written, and waits for its name.
#[derive(Debug)]
pub(crate) struct StagedFile {
    /// Its path among those that wait.
    pub staged: String,
    /// What the manifest of the lake will have of it.
    pub file: LakeFile,
}

/// What the tables of a bucket are written from, and to.
pub(crate) struct Bucket<'a> {
    /// What the names of its files begin with.
    pub name: &'a str,
    /// Its traces, in the order of their names.
    pub members: &'a [LoadedMember],
    /// The lake as it is, if there is one.
    pub lake: Option<&'a PublishedLake>,
    /// Where files are written.
    pub output: Arc<dyn Output>,
    /// How they are written.
    pub options: &'a EncodeOptions,
    /// Says when to stop.
    pub progress: &'a dyn Progress,
}

/// A trace of a table: its place among all of the bucket, and what it has.
type Row<'a> = (usize, &'a LoadedMember, &'a MemberTable);

impl Bucket<'_> {
    /// The tables that its traces have.
    pub(crate) fn tables(&self) -> BTreeSet<&str> {
        self.members.iter().flat_map(|member| member.tables.keys().map(String::as_str)).collect()
    }

    /// Bytes of the files that have the rows of a table now, about.
    pub(crate) fn bytes_of(&self, table: &str) -> u64 {
        let tables = self.members.iter().filter_map(|member| member.tables.get(table));
        tables.fold(0, |sum, table| sum.saturating_add(table.bytes))
    }

    /// Writes a table.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] when rows cannot be read or written, or are not as many as manifests say.
    pub(crate) fn write(&self, table: &str) -> Result<Vec<StagedFile>> {
        let found = self.members.iter().enumerate();
        let rows: Vec<Row<'_>> =
            found.filter_map(|(place, member)| Some((place, member, member.tables.get(table)?))).collect();
        let tables: Vec<TraceTable> = rows.iter().map(|(.., table)| table.table.clone()).collect();
        let mut files = Vec::new();
        for group in groups(&tables) {
            let members: Vec<Row<'_>> = group.members.iter().filter_map(|&place| rows.get(place).copied()).collect();
            files.extend(self.write_group(table, &group, &members)?);
        }
        Ok(files)
    }

    fn write_group(&self, table: &str, group: &Group, members: &[Row<'_>]) -> Result<Vec<StagedFile>> {
        let kept = self.kept_files(table, members);
        let schema = Schema::new(self.fields(table, &group.columns, members)?);
        let columns: Vec<&str> = group.columns.iter().map(|column| column.name.as_str()).collect();
        let read = (columns.as_slice(), block_rows(columns.len()));
        let mut lake: Vec<LakeRows<'_>> = kept.values().filter_map(|files| self.rows_of(files, read)).collect();
        let first = members.first().map(|(.., table)| *table);
        let expected = members.iter().fold(0u64, |sum, (.., table)| sum.saturating_add(table.rows));
        let spec = spec(self, table, group.variant.as_deref(), schema, first, expected == 0);
        self.write_rows(table, group.variant.as_deref(), spec, read.1, &mut |rows| {
            for &(place, member, of_member) in members {
                stop_if_cancelled(self.progress)?;
                let mut found = 0u64;
                let mut each = |new: Rows| {
                    stop_if_cancelled(self.progress)?;
                    found = found.saturating_add(new.rows as u64);
                    rows.push(place, &new)
                };
                match &member.folder {
                    Some(folder) => {
                        rows_of_files((&*folder.store, &of_member.files), read, self.progress, &mut each)?;
                    }
                    None => lake.iter_mut().try_for_each(|lake| lake.rows_of(&member.name, &mut each))?,
                }
                if found != of_member.rows {
                    return Err(lost_rows(member, table, of_member.rows, found));
                }
            }
            Ok(())
        })
    }

    /// Writes the manifests of the traces, and what tables each has.
    ///
    /// # Errors
    /// As [`Bucket::write`].
    pub(crate) fn write_manifests(&self) -> Result<Vec<StagedFile>> {
        let fields = [TRACE].into_iter().chain(MANIFEST_COLUMNS).map(|name| Field::new(name, DataType::Utf8, false));
        let spec = spec(self, MANIFESTS, None, Schema::new(fields.collect::<Vec<_>>()), None, false);
        let mut lake = self.rows_of(&self.files_of(MANIFESTS), (&MANIFEST_COLUMNS, MANIFEST_BLOCK));
        self.write_rows(MANIFESTS, None, spec, MANIFEST_BLOCK, &mut |rows| {
            for (place, member) in self.members.iter().enumerate() {
                stop_if_cancelled(self.progress)?;
                match (&member.manifest, &mut lake) {
                    (Some((manifest, tables)), _) => {
                        let column = |text: &str| Some(Arc::new(StringArray::from(vec![text])) as ArrayRef);
                        rows.push(place, &Rows { rows: 1, columns: vec![column(manifest), column(tables)] })?;
                    }
                    (None, Some(lake)) => lake.rows_of(&member.name, &mut |new| rows.push(place, &new))?,
                    (None, None) => {}
                }
            }
            Ok(())
        })
    }

    /// Writes the rows that `fill` hands over.
    fn write_rows(
        &self,
        table: &str,
        variant: Option<&str>,
        spec: TableSpec,
        block: usize,
        fill: &mut dyn FnMut(&mut RowGroups<'_>) -> Result<()>,
    ) -> Result<Vec<StagedFile>> {
        let writer = TableWriter::new(Arc::clone(&self.output), spec, self.options)?;
        let names: Vec<String> = self.members.iter().map(|member| member.name.clone()).collect();
        let mut rows = RowGroups::new(&writer, &names, block);
        fill(&mut rows)?;
        let groups = rows.finish()?;
        let files = with_traces(writer.finish()?, &groups).into_iter().enumerate();
        let staged = files.map(|(number, (entry, first, last))| {
            let digits = entry.sha256.get(..16).unwrap_or_default();
            let of_variant = variant.map(|variant| format!("-v{variant}")).unwrap_or_default();
            let name = |place: usize| names.get(place).cloned().unwrap_or_default();
            let file = LakeFile {
                path: format!("{table}/{}{of_variant}-{number:05}-{digits}.parquet", self.name),
                bucket: self.name.to_owned(),
                variant: variant.map(str::to_owned),
                first_trace: name(first),
                last_trace: name(last),
                rows: entry.rows,
                bytes: entry.bytes,
                sha256: entry.sha256,
            };
            StagedFile { staged: entry.path, file }
        });
        Ok(staged.collect())
    }

    /// The files of a table of the bucket in the lake as it is.
    fn files_of(&self, table: &str) -> Vec<&LakeFile> {
        let files = self.lake.into_iter().flat_map(|lake| &lake.manifest.files);
        files.filter(|file| file.bucket == self.name && file.table() == table).collect()
    }

    /// Those that may have rows of these traces, by variant: each of them is sorted by trace.
    fn kept_files(&self, table: &str, members: &[Row<'_>]) -> BTreeMap<Option<&str>, Vec<&LakeFile>> {
        let kept = members.iter().filter(|(_, member, _)| member.folder.is_none());
        let kept: Vec<&str> = kept.map(|(_, member, _)| member.name.as_str()).collect();
        let mut files: BTreeMap<Option<&str>, Vec<&LakeFile>> = BTreeMap::new();
        for file in self.files_of(table) {
            let from = kept.partition_point(|name| *name < file.first_trace.as_str());
            if kept.get(from).is_some_and(|name| *name <= file.last_trace.as_str()) {
                files.entry(file.variant.as_deref()).or_default().push(file);
            }
        }
        files
    }

    /// The rows of files, to be read in the order of traces.
    fn rows_of<'l>(&'l self, files: &[&'l LakeFile], read: (&'l [&'l str], usize)) -> Option<LakeRows<'l>> {
        let source =
            |file: &&LakeFile| SourceFile { path: file.path.clone(), bytes: file.bytes, sha256: file.sha256.clone() };
        self.lake.map(|lake| LakeRows::new(&*lake.store, files.iter().map(source), read, self.progress))
    }

    /// The columns as Arrow has them, from the first file that has each in its form: of a trace that comes, or any of the table in the
    /// bucket. A trace that stays and has no rows is among those of no file.
    fn fields(&self, table: &str, columns: &[TableColumn], members: &[Row<'_>]) -> Result<Vec<Field>> {
        let mut known: HashMap<(String, String), Field> = HashMap::new();
        let are_known = |known: &HashMap<_, _>, columns: &[TableColumn]| {
            columns.iter().all(|column| known.contains_key(&(column.name.clone(), column.form.clone())))
        };
        for (_, member, table) in members {
            let Some((folder, file)) = member.folder.as_ref().zip(table.files.first()) else { continue };
            if !are_known(&known, &table.table.columns) {
                known.extend(TableFile::open(&*folder.store, &file.path)?.fields());
            }
        }
        for (lake, file) in
            self.lake.into_iter().flat_map(|lake| self.files_of(table).into_iter().map(move |file| (lake, file)))
        {
            if are_known(&known, columns) {
                break;
            }
            known.extend(TableFile::open(&*lake.store, &file.path)?.fields());
        }
        let field = |column: &TableColumn| {
            let field = known.remove(&(column.name.clone(), column.form.clone()));
            let field = field.map(|field| field.with_nullable(!column.is_required));
            field.ok_or_else(|| {
                let message = format!("expected a column {} of {}, found none", column.name, column.form);
                Error::new(ErrorKind::Output, message).with_hint("compact all traces into another folder")
            })
        };
        let trace = Ok(Field::new(TRACE, DataType::Utf8, false));
        [trace].into_iter().chain(columns.iter().map(field)).collect()
    }
}

/// A table of a bucket in its own folder. One without rows has a file, too, so that it is there with its columns.
fn spec(
    bucket: &Bucket<'_>,
    table: &str,
    variant: Option<&str>,
    schema: Schema,
    first: Option<&MemberTable>,
    is_empty: bool,
) -> TableSpec {
    let provider = first.map(|table| table.table.provider.as_str()).filter(|id| !id.is_empty());
    let pairs = [
        ("etl2parquet.provider_id", provider),
        ("etl2parquet.provider_name", first.and_then(|table| table.provider_name.as_deref())),
    ];
    let pairs = pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    TableSpec {
        folder: format!("{}/{}/{table}", bucket.name, variant.unwrap_or("all")),
        files: if is_empty { FileNaming::Single("empty".to_owned()) } else { FileNaming::Parts },
        schema: Arc::new(schema),
        metadata: pairs.collect(),
        provider_id: None,
        provider_name: None,
    }
}

fn lost_rows(member: &LoadedMember, table: &str, expected: u64, found: u64) -> Error {
    let message = format!("expected {expected} rows of {table} of trace={}, found {found}", member.name);
    let error = Error::new(ErrorKind::Output, message);
    match &member.folder {
        Some(folder) => error.in_file(folder.folder()).with_hint("etl2parquet verify names all that is wrong with it"),
        None => error.with_hint("etl2parquet verify names all that is wrong with the lake"),
    }
}
