-- What addresses of modules lie in, as `etl2parquet symbols` has found it in symbol files: `rva` is an address that a frame has, as an
-- offset in its module. An address in an inlined function has a row more for each such function.
--| pdb_name STRING, pdb_guid STRING, pdb_age BIGINT, rva BIGINT, inline_depth BIGINT, name STRING, full_name STRING, kind STRING,
--| start BIGINT, size BIGINT, file STRING, line BIGINT
SELECT pdb_name, pdb_guid, pdb_age, rva, inline_depth, name, full_name, kind, start, size, file, line FROM {{beside symbols/pdb/*.parquet}} y
