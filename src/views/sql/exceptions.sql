-- Exceptions that .NET threw.
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, e.process_id, p.image_name AS process_name, e.thread_id,
       e.ExceptionType AS type, e.ExceptionMessage AS message, e.ExceptionHRESULT AS hresult, e.stack
FROM {{Microsoft-Windows-DotNETRuntime [event_id = 80]: ExceptionType STRING, ExceptionMessage STRING, ExceptionHRESULT BIGINT}} e
LEFT JOIN processes p
  ON p.trace = e.trace AND p.process_id = e.process_id AND e.timestamp_ns >= p.from_ns AND e.timestamp_ns < p.to_ns
