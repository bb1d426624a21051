-- Operations on the registry. Events of values name the value, and the key is that of its handle, as lists of open keys and their changes name it.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, operation STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, key_name STRING, key_handle BIGINT, value_name STRING, status BIGINT
WITH marks AS {{inline}}(
  SELECT trace, machine, seq, event_name, KeyName,
         MAX(CASE WHEN event_name IN ('Registry/KCBCreate', 'Registry/RunDown', 'Registry/KCBDelete', 'Registry/KCBRundownBegin', 'Registry/KCBRundownEnd') THEN seq END) OVER (
           PARTITION BY trace, machine, KeyHandle ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before_seq,
         MIN(CASE WHEN event_name IN ('Registry/KCBCreate', 'Registry/RunDown', 'Registry/KCBDelete', 'Registry/KCBRundownBegin', 'Registry/KCBRundownEnd') THEN seq END) OVER (
           PARTITION BY trace, machine, KeyHandle ORDER BY seq ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS behind_seq
  FROM {{Kernel-Registry: seq, machine, event_name, KeyName STRING, KeyHandle BIGINT}} k
)
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, REPLACE(e.event_name, 'Registry/', '') AS operation, e.process_id, e.process_name, e.thread_id,
       CASE WHEN e.event_name NOT IN ('Registry/SetValue', 'Registry/DeleteValue', 'Registry/QueryValue') THEN e.KeyName
            ELSE COALESCE(b.KeyName, n.KeyName) END AS key_name, e.KeyHandle AS key_handle,
       CASE WHEN e.event_name IN ('Registry/SetValue', 'Registry/DeleteValue', 'Registry/QueryValue') THEN e.KeyName END AS value_name, e.Status AS status
FROM {{Kernel-Registry [event_name NOT IN ('Registry/KCBCreate', 'Registry/RunDown', 'Registry/KCBDelete', 'Registry/KCBRundownBegin', 'Registry/KCBRundownEnd', 'Registry/Counters', 'Registry/Config')]: timestamp, timestamp_ns, seq, process_id, process_name, thread_id, event_name, KeyName STRING, KeyHandle BIGINT, Status BIGINT}} e
JOIN marks m ON m.trace = e.trace AND m.seq = e.seq
LEFT JOIN marks b ON b.trace = m.trace AND b.seq = m.before_seq AND b.event_name <> 'Registry/KCBDelete'
LEFT JOIN marks n ON n.trace = m.trace AND n.seq = m.behind_seq AND n.event_name IN ('Registry/KCBRundownEnd', 'Registry/KCBDelete')
