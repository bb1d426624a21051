-- Exceptions that .NET threw.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, thread_id BIGINT,
--| type STRING, message STRING, hresult BIGINT, stack LIST
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, e.process_id, e.process_name, e.thread_id,
       e.ExceptionType AS type, e.ExceptionMessage AS message, e.ExceptionHRESULT AS hresult, e.stack
FROM {{Microsoft-Windows-DotNETRuntime [event_id = 80]: timestamp, timestamp_ns, seq, process_id, process_name, thread_id, stack, ExceptionType STRING, ExceptionMessage STRING, ExceptionHRESULT BIGINT}} e
