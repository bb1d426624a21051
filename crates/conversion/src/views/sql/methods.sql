-- Bodies of methods of .NET and JavaScript.
--| trace STRING, process_id BIGINT, base BIGINT, size BIGINT, namespace STRING, name STRING, signature STRING, tier STRING,
--| from_ns BIGINT, to_ns BIGINT, source_of STRING, machine BIGINT
SELECT s.* FROM {{sidecar/methods [*]: process_id BIGINT, base BIGINT, size BIGINT, namespace STRING, name STRING, signature STRING, tier STRING, from_ns BIGINT, to_ns BIGINT, source_of STRING, machine}} s
