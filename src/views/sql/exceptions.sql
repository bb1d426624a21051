-- Exceptions that .NET threw.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, thread_id BIGINT,
--| type STRING, message STRING, hresult BIGINT, stack LIST
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, e.process_id, p.image_name AS process_name, e.thread_id,
       e.ExceptionType AS type, e.ExceptionMessage AS message, e.ExceptionHRESULT AS hresult, e.stack
FROM {{Microsoft-Windows-DotNETRuntime [event_id = 80]: timestamp, timestamp_ns, seq, machine, process_id, thread_id, stack, ExceptionType STRING, ExceptionMessage STRING, ExceptionHRESULT BIGINT}} e
LEFT JOIN processes p
  ON p.trace = e.trace AND p.machine = e.machine AND p.process_id = e.process_id AND e.timestamp_ns >= p.from_ns AND e.timestamp_ns < p.to_ns
