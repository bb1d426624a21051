-- Methods that .NET compiled while the trace ran; how long from the start of compiling to the load of the code.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, namespace STRING, name STRING, signature STRING, il_bytes BIGINT, native_bytes BIGINT, seq BIGINT
WITH steps AS (
  SELECT trace, machine, seq, timestamp, timestamp_ns, process_id, process_name, thread_id, event_name, MethodID, MethodNamespace, MethodName,
         MethodSignature, MethodILSize, MethodSize,
         MAX(CASE WHEN event_name = 'CLRMethod/MethodJittingStarted' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, MethodID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS start_seq,
         MAX(CASE WHEN event_name = 'CLRMethod/MethodLoadVerbose' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, MethodID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS load_seq
  FROM {{Microsoft-Windows-DotNETRuntime [event_name IN ('CLRMethod/MethodJittingStarted', 'CLRMethod/MethodLoadVerbose')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_name, MethodID BIGINT, MethodNamespace STRING, MethodName STRING, MethodSignature STRING, MethodILSize BIGINT, MethodSize BIGINT}} s
), begun AS (
  SELECT s.*, FIRST_VALUE(timestamp) OVER w AS start_timestamp, FIRST_VALUE(timestamp_ns) OVER w AS start_ns,
         FIRST_VALUE(thread_id) OVER w AS start_thread_id, FIRST_VALUE(MethodILSize) OVER w AS start_il_bytes
  FROM steps s
  WINDOW w AS (PARTITION BY trace, machine, process_id, MethodID, start_seq ORDER BY seq)
)
SELECT l.trace, l.start_timestamp AS timestamp, l.start_ns AS from_ns, l.timestamp_ns AS to_ns, l.timestamp_ns - l.start_ns AS duration_ns,
       l.process_id, l.process_name, l.start_thread_id AS thread_id, l.MethodNamespace AS namespace, l.MethodName AS name,
       l.MethodSignature AS signature, l.start_il_bytes AS il_bytes, l.MethodSize AS native_bytes, l.seq
FROM begun l
WHERE l.event_name = 'CLRMethod/MethodLoadVerbose' AND l.start_seq IS NOT NULL AND (l.load_seq IS NULL OR l.start_seq > l.load_seq)
