-- Operations on the registry.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, operation STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, key_name STRING, key_handle BIGINT, status BIGINT
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, REPLACE(e.event_name, 'Registry/', '') AS operation, e.process_id,
       e.process_name, e.thread_id, e.KeyName AS key_name, e.KeyHandle AS key_handle, e.Status AS status
FROM {{Kernel-Registry [*]: timestamp, timestamp_ns, seq, process_id, process_name, thread_id, event_name, KeyName STRING, KeyHandle BIGINT, Status BIGINT}} e
