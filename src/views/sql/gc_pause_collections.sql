-- One row for each pause of .NET and each collection that it belongs to: those that begin within it, and the background collection whose
-- second pause it is. A pause for something else has one row without a collection.
--| trace STRING, pause_seq BIGINT, end_seq BIGINT, process_id BIGINT, runtime BIGINT, reason STRING, gc_number BIGINT,
--| generation BIGINT, from_ns BIGINT, to_ns BIGINT, machine BIGINT
WITH marks AS (
  SELECT trace, machine, seq, timestamp_ns, process_id, ClrInstanceID AS runtime, event_name, Reason_label AS reason, Reason AS reason_number,
         Count AS number, Depth AS generation,
         MAX(CASE WHEN event_name = 'GarbageCollection/GCSuspendEEBegin' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begin_seq,
         MAX(CASE WHEN event_name = 'GarbageCollection/GCRestartEEEnd' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS end_seq
  FROM {{Microsoft-Windows-DotNETRuntime [event_name IN ('GarbageCollection/GCSuspendEEBegin', 'GarbageCollection/GCRestartEEEnd', 'GarbageCollection/Start')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, event_name, ClrInstanceID BIGINT, Reason_label STRING, Reason BIGINT, Count BIGINT, Depth BIGINT}} s
), pauses AS (
  SELECT b.trace, b.machine, b.seq AS pause_seq, e.seq AS end_seq, b.process_id, b.runtime, b.reason, b.reason_number, b.number,
         b.timestamp_ns AS from_ns, e.timestamp_ns AS to_ns
  FROM marks e JOIN marks b ON b.trace = e.trace AND b.seq = e.begin_seq
  WHERE e.event_name = 'GarbageCollection/GCRestartEEEnd' AND (e.end_seq IS NULL OR e.begin_seq > e.end_seq)
), starts AS (
  SELECT trace, machine, process_id, runtime, number, begin_seq, MIN(seq) AS seq, MAX(generation) AS generation
  FROM marks WHERE event_name = 'GarbageCollection/Start' GROUP BY trace, machine, process_id, runtime, number, begin_seq
), numbers AS (
  SELECT p.trace, p.pause_seq, s.number, s.generation
  FROM pauses p JOIN starts s ON s.trace = p.trace AND s.begin_seq = p.pause_seq AND s.seq < p.end_seq
  UNION ALL
  -- SuspendForGCPrep, which names the collection.
  SELECT p.trace, p.pause_seq, p.number, MAX(s.generation)
  FROM pauses p
  LEFT JOIN starts s
    ON s.trace = p.trace AND s.machine = p.machine AND s.process_id IS NOT DISTINCT FROM p.process_id
   AND s.runtime IS NOT DISTINCT FROM p.runtime AND s.number = p.number AND s.seq < p.pause_seq
  WHERE p.reason_number = 6 GROUP BY p.trace, p.pause_seq, p.number
)
SELECT p.trace, p.pause_seq, p.end_seq, p.process_id, p.runtime, p.reason, n.number AS gc_number, n.generation, p.from_ns, p.to_ns, p.machine
FROM pauses p LEFT JOIN numbers n ON n.trace = p.trace AND n.pause_seq = p.pause_seq
