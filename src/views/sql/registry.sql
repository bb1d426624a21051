-- Operations on the registry.
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, REPLACE(e.event_name, 'Registry/', '') AS operation, e.process_id,
       p.image_name AS process_name, e.thread_id, e.KeyName AS key_name, e.KeyHandle AS key_handle, e.Status AS status
FROM {{Kernel-Registry [*]: KeyName STRING, KeyHandle BIGINT, Status BIGINT}} e
LEFT JOIN processes p
  ON p.trace = e.trace AND p.process_id = e.process_id AND e.timestamp_ns >= p.from_ns AND e.timestamp_ns < p.to_ns
