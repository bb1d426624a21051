-- How long .NET kept the threads of a process stopped: from the begin of a suspension to the end of the restart.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, process_id BIGINT, process_name STRING,
--| reason STRING, gc_number BIGINT, generation BIGINT, seq BIGINT
WITH marks AS (
  SELECT trace, machine, seq, timestamp, timestamp_ns, process_id, process_name, ClrInstanceID AS runtime, event_name, Reason_label AS reason, Count AS number, Depth AS generation,
         MAX(CASE WHEN event_name = 'GarbageCollection/GCSuspendEEBegin' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begin_seq,
         MAX(CASE WHEN event_name = 'GarbageCollection/GCRestartEEEnd' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS end_seq,
         MAX(CASE WHEN event_name = 'GarbageCollection/Start' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gc_seq
  FROM {{Microsoft-Windows-DotNETRuntime [event_name IN ('GarbageCollection/GCSuspendEEBegin', 'GarbageCollection/GCRestartEEEnd', 'GarbageCollection/Start')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, event_name, ClrInstanceID BIGINT, Reason_label STRING, Count BIGINT, Depth BIGINT}} s
)
SELECT b.trace, b.timestamp, b.timestamp_ns AS from_ns, e.timestamp_ns AS to_ns, e.timestamp_ns - b.timestamp_ns AS duration_ns,
       b.process_id, b.process_name, b.reason, g.number AS gc_number, g.generation, b.seq
FROM marks e
JOIN marks b ON b.trace = e.trace AND b.seq = e.begin_seq
LEFT JOIN marks g ON g.trace = e.trace AND g.seq = e.gc_seq AND e.gc_seq > e.begin_seq
WHERE e.event_name = 'GarbageCollection/GCRestartEEEnd' AND (e.end_seq IS NULL OR e.begin_seq > e.end_seq)
