-- Source lines of addresses that frames have in methods of .NET, as `etl2parquet symbols --lines` has found them: the run-time records which
-- IL the code at an address comes from, the symbol file of the assembly which line that is.
--| trace STRING, process_id BIGINT, base BIGINT, from_ns BIGINT, address BIGINT, method_token BIGINT, il_offset BIGINT, assembly STRING,
--| pdb_name STRING, pdb_guid STRING, pdb_age BIGINT, file STRING, line BIGINT, unknown_because STRING, frames BIGINT, machine BIGINT
SELECT trace, process_id, base, from_ns, address, method_token, il_offset, assembly, pdb_name, pdb_guid, pdb_age, file, line, unknown_because,
       frames, machine
FROM {{beside symbols/lines/*.parquet}} y
