-- Modules that frames lie in, and what became of the search for their symbols. `symbol_key` is the identity that the trace records.
--| symbol_key STRING, file_name STRING, time_stamp BIGINT, image_size BIGINT, pdb_name STRING, pdb_guid STRING, pdb_age BIGINT,
--| status STRING, reason STRING, path STRING, frames BIGINT, share DOUBLE, addresses BIGINT, named BIGINT
SELECT symbol_key, file_name, time_stamp, image_size, pdb_name, pdb_guid, pdb_age, status, reason, path, frames, share, addresses, named
FROM {{beside symbols/modules.parquet}} y
