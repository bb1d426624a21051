-- Modules in processes; those of the kernel have the process 0.
--| trace STRING, process_id BIGINT, base BIGINT, size BIGINT, path STRING, file_name STRING, time_stamp BIGINT, checksum BIGINT,
--| pdb_name STRING, pdb_guid STRING, pdb_age BIGINT, from_ns BIGINT, to_ns BIGINT, source_of STRING, machine BIGINT
SELECT s.* FROM {{sidecar/images [*]: process_id BIGINT, base BIGINT, size BIGINT, path STRING, file_name STRING, time_stamp BIGINT, checksum BIGINT, pdb_name STRING, pdb_guid STRING, pdb_age BIGINT, from_ns BIGINT, to_ns BIGINT, source_of STRING, machine}} s
