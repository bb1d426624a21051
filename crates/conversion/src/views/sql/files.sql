-- Keys of files, each row with the time in which it meant the path.
--| trace STRING, file_key BIGINT, path STRING, from_ns BIGINT, to_ns BIGINT, source_of STRING, machine BIGINT
SELECT s.* FROM {{sidecar/files [*]: file_key BIGINT, path STRING, from_ns BIGINT, to_ns BIGINT, source_of STRING, machine}} s
