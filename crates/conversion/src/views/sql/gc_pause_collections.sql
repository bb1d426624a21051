-- One row for each pause of .NET and each collection that it belongs to: those that begin within it, and the background collection whose
-- second pause it is. A pause for something else has one row without a collection. Threads that were stopped twice had two pauses, whose ends
-- between are lost: such has no row.
--| trace STRING, timestamp TIMESTAMP, pause_seq BIGINT, end_seq BIGINT, process_id BIGINT, process_name STRING, runtime BIGINT,
--| reason STRING, gc_number BIGINT, generation BIGINT, from_ns BIGINT, to_ns BIGINT, machine BIGINT
WITH marks AS {{inline}}(
  SELECT trace, machine, seq, timestamp, timestamp_ns, process_id, process_name, ClrInstanceID AS runtime, event_name, Reason_label AS reason,
         Reason AS reason_number, Count AS number, Depth AS generation,
         MAX(CASE WHEN event_name = 'GarbageCollection/GCSuspendEEBegin' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS begin_seq,
         MAX(CASE WHEN event_name = 'GarbageCollection/GCRestartEEEnd' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS end_seq,
         MAX(CASE WHEN event_name = 'GarbageCollection/Start' THEN Depth END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID, Count ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS known_generation
  FROM (
    SELECT trace, machine, seq, timestamp, timestamp_ns, process_id, process_name, event_name, ClrInstanceID, Reason_label, Reason, Count, Depth
    FROM {{Microsoft-Windows-DotNETRuntime [event_name IN ('GarbageCollection/GCSuspendEEBegin', 'GarbageCollection/GCRestartEEEnd', 'GarbageCollection/Start')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, event_name, ClrInstanceID BIGINT, Reason_label STRING, Reason BIGINT, Count BIGINT, Depth BIGINT}} m
    UNION ALL
    SELECT trace, machine, seq, timestamp, timestamp_ns, process_id, process_name, event_name, ClrInstanceID, NULL, NULL, NULL, NULL
    FROM {{Microsoft-Windows-DotNETRuntime: timestamp, timestamp_ns, seq, machine, process_id, process_name, event_name, ClrInstanceID BIGINT}} d
    WHERE event_name = 'GarbageCollection/GCSuspendEEEnd'
  ) s
), begun AS {{inline}}(
  -- What the begin of a suspension says stands beside all that follows up to the next one.
  SELECT m.*, FIRST_VALUE(timestamp) OVER w AS pause_timestamp, FIRST_VALUE(timestamp_ns) OVER w AS from_ns,
         FIRST_VALUE(process_name) OVER w AS pause_process_name, FIRST_VALUE(reason) OVER w AS pause_reason,
         FIRST_VALUE(reason_number) OVER w AS pause_reason_number, FIRST_VALUE(number) OVER w AS pause_number,
         FIRST_VALUE(known_generation) OVER w AS pause_generation,
         COUNT(CASE WHEN event_name = 'GarbageCollection/Start' THEN 1 END) OVER w AS starts,
         COUNT(CASE WHEN event_name = 'GarbageCollection/GCSuspendEEEnd' THEN 1 END) OVER w AS stops
  FROM marks m
  WINDOW w AS (PARTITION BY trace, machine, process_id, runtime, begin_seq ORDER BY seq)
), pauses AS {{inline}}(
  SELECT e.* FROM begun e
  WHERE event_name = 'GarbageCollection/GCRestartEEEnd' AND begin_seq IS NOT NULL AND (end_seq IS NULL OR begin_seq > end_seq) AND stops < 2
), starts AS (
  SELECT trace, begin_seq, number, MIN(seq) AS seq, MAX(generation) AS generation
  FROM begun b WHERE event_name = 'GarbageCollection/Start' GROUP BY trace, begin_seq, number
)
SELECT p.trace, p.pause_timestamp AS timestamp, p.begin_seq AS pause_seq, p.seq AS end_seq, p.process_id, p.pause_process_name AS process_name,
       p.runtime, p.pause_reason AS reason, s.number AS gc_number, s.generation, p.from_ns, p.timestamp_ns AS to_ns, p.machine
FROM pauses p JOIN starts s ON s.trace = p.trace AND s.begin_seq = p.begin_seq AND s.seq < p.seq
UNION ALL
-- SuspendForGCPrep, which names the collection, and what is for none.
SELECT p.trace, p.pause_timestamp, p.begin_seq, p.seq, p.process_id, p.pause_process_name, p.runtime, p.pause_reason,
       CASE p.pause_reason_number WHEN 6 THEN p.pause_number END, CASE p.pause_reason_number WHEN 6 THEN p.pause_generation END,
       p.from_ns, p.timestamp_ns, p.machine
FROM pauses p WHERE p.pause_reason_number = 6 OR p.starts = 0
