-- Threads, each row with the time in which its id meant it.
--| trace STRING, thread_id BIGINT, process_id BIGINT, start_address BIGINT, name STRING, started_ns BIGINT, ended_ns BIGINT,
--| from_ns BIGINT, to_ns BIGINT, source_of STRING, machine BIGINT
SELECT s.* FROM {{sidecar/threads [*]: thread_id BIGINT, process_id BIGINT, start_address BIGINT, name STRING, started_ns BIGINT, ended_ns BIGINT, from_ns BIGINT, to_ns BIGINT, source_of STRING, machine}} s
