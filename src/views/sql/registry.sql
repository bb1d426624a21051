-- Operations on the registry.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, operation STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, key_name STRING, key_handle BIGINT, status BIGINT
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, REPLACE(e.event_name, 'Registry/', '') AS operation, e.process_id,
       p.image_name AS process_name, e.thread_id, e.KeyName AS key_name, e.KeyHandle AS key_handle, e.Status AS status
FROM {{Kernel-Registry [*]: timestamp, timestamp_ns, seq, machine, process_id, thread_id, event_name, KeyName STRING, KeyHandle BIGINT, Status BIGINT}} e
LEFT JOIN processes p
  ON p.trace = e.trace AND p.machine = e.machine AND p.process_id = e.process_id AND e.timestamp_ns >= p.from_ns AND e.timestamp_ns < p.to_ns
