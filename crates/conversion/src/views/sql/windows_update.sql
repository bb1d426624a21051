-- The log of Windows Update; `line` as Get-WindowsUpdateLog writes it, but in UTC.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, thread_id BIGINT, component STRING,
--| message STRING, line STRING
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, e.process_id, e.thread_id, e.event_name AS component, e.Info AS message,
       log_time(e.timestamp_ns) || ' ' || RPAD(CAST(e.process_id AS STRING), 5, ' ') || ' ' || RPAD(CAST(e.thread_id AS STRING), 5, ' ')
         || ' ' || RPAD(e.event_name, CAST(GREATEST(LENGTH(e.event_name), 15) AS INT), ' ') || ' ' || COALESCE(e.Info, '') AS line
FROM {{WUTraceLogging [*]: timestamp, timestamp_ns, seq, process_id, thread_id, event_name, Info STRING}} e
