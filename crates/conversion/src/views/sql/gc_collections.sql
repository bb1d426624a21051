-- Collections of .NET, from their start to their stop, with the pauses that they caused and the sizes of the heap. What lies outside of
-- the trace is NULL.
--| trace STRING, timestamp TIMESTAMP, process_id BIGINT, process_name STRING, gc_number BIGINT, generation BIGINT, type STRING,
--| reason STRING, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, pauses BIGINT, pause_ns BIGINT, heap_bytes_before BIGINT,
--| heap_bytes_after BIGINT, promoted_bytes BIGINT, runtime BIGINT, start_seq BIGINT, stop_seq BIGINT, machine BIGINT
WITH marks AS {{inline}}(
  SELECT trace, machine, seq, timestamp, timestamp_ns, process_id, process_name, ClrInstanceID AS runtime, event_name, Count AS number,
         Depth AS generation, Type_label AS type, type_number, Reason_label AS reason, HeapIndex AS heap, list_total(before_sizes) AS bytes_before,
         COALESCE(GenerationSize0, 0) + COALESCE(GenerationSize1, 0) + COALESCE(GenerationSize2, 0) + COALESCE(GenerationSize3, 0)
           + COALESCE(GenerationSize4, 0) AS bytes_after,
         COALESCE(TotalPromotedSize0, 0) + COALESCE(TotalPromotedSize1, 0) + COALESCE(TotalPromotedSize2, 0)
           + COALESCE(TotalPromotedSize3, 0) + COALESCE(TotalPromotedSize4, 0) AS promoted,
         MAX(CASE WHEN event_name = 'GarbageCollection/Stop' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID, thread_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_stop,
         MIN(CASE WHEN event_name = 'GarbageCollection/Stop' THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS next_stop,
         MAX(CASE WHEN event_name = 'GarbageCollection/Start' AND type_number = 1 THEN seq END) OVER (
           PARTITION BY trace, machine, process_id, ClrInstanceID ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_background,
         CASE WHEN event_name IN ('GarbageCollection/Start', 'GarbageCollection/Stop') THEN 1 ELSE 0 END AS is_bound
  FROM {{Microsoft-Windows-DotNETRuntime [event_name IN ('GarbageCollection/Start', 'GarbageCollection/Stop', 'GarbageCollection/GCHeapStats', 'GarbageCollection/GCPerHeapHistory')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_name, ClrInstanceID BIGINT, Reason_label STRING, Type_label STRING, Type BIGINT AS type_number, Count BIGINT, Depth BIGINT, HeapIndex BIGINT, Values.SizeBefore LIST AS before_sizes, GenerationSize0 BIGINT, GenerationSize1 BIGINT, GenerationSize2 BIGINT, GenerationSize3 BIGINT, GenerationSize4 BIGINT, TotalPromotedSize0 BIGINT, TotalPromotedSize1 BIGINT, TotalPromotedSize2 BIGINT, TotalPromotedSize3 BIGINT, TotalPromotedSize4 BIGINT}} s
), bounds AS {{inline}}(
  SELECT m.*, LAG(event_name) OVER (PARTITION BY trace, machine, process_id, runtime, number ORDER BY seq) AS before_name,
         LAG(type_number) OVER (PARTITION BY trace, machine, process_id, runtime, number ORDER BY seq) AS before_type
  FROM marks m WHERE is_bound = 1
), firsts AS (
  -- A start may be written twice, by two versions of the event; of a number that is used again its stop lies between.
  SELECT b.*, LEAD(seq) OVER (PARTITION BY trace, machine, process_id, runtime, number ORDER BY seq) AS following_seq,
         LEAD(event_name) OVER (PARTITION BY trace, machine, process_id, runtime, number ORDER BY seq) AS following_name,
         LEAD(timestamp_ns) OVER (PARTITION BY trace, machine, process_id, runtime, number ORDER BY seq) AS following_ns
  FROM bounds b WHERE before_name IS NULL OR before_name <> event_name
), stats AS (
  SELECT * FROM (
    SELECT trace, last_stop, bytes_after, promoted, ROW_NUMBER() OVER (PARTITION BY trace, last_stop ORDER BY seq) AS place
    FROM marks WHERE event_name = 'GarbageCollection/GCHeapStats' AND last_stop IS NOT NULL
  ) ranked WHERE place = 1
), heaps AS (
  -- The history of the heaps comes before the stop; newer run-times write that of a background collection behind it, in its thread.
  SELECT trace, stop_seq, CAST(SUM(bytes_before) AS BIGINT) AS bytes_before FROM (
    SELECT h.trace, COALESCE(b.seq, h.next_stop) AS stop_seq, h.heap, MAX(h.bytes_before) AS bytes_before
    FROM marks h
    LEFT JOIN bounds b
      ON b.trace = h.trace AND b.seq = h.last_stop AND b.before_type = 1 AND b.before_name = 'GarbageCollection/Start'
     AND h.last_background < b.seq
    WHERE h.event_name = 'GarbageCollection/GCPerHeapHistory' GROUP BY h.trace, COALESCE(b.seq, h.next_stop), h.heap
  ) e GROUP BY trace, stop_seq HAVING COUNT(*) = COUNT(bytes_before)
), stopped AS (
  SELECT trace, machine, process_id, runtime, gc_number, COUNT(*) AS pauses, CAST(SUM(to_ns - from_ns) AS BIGINT) AS pause_ns,
         MIN(pause_seq) AS first_pause
  FROM {{view gc_pause_collections}} c WHERE gc_number IS NOT NULL GROUP BY trace, machine, process_id, runtime, gc_number
)
SELECT f.trace, f.timestamp, f.process_id, f.process_name, f.number AS gc_number, f.generation, f.type, f.reason, f.timestamp_ns AS from_ns,
       CASE WHEN f.following_name = 'GarbageCollection/Stop' THEN f.following_ns END AS to_ns,
       CASE WHEN f.following_name = 'GarbageCollection/Stop' THEN f.following_ns - f.timestamp_ns END AS duration_ns,
       p.pauses, CASE WHEN f.following_name = 'GarbageCollection/Stop' THEN p.pause_ns END AS pause_ns,
       h.bytes_before AS heap_bytes_before, t.bytes_after AS heap_bytes_after, t.promoted AS promoted_bytes, f.runtime, f.seq AS start_seq,
       CASE WHEN f.following_name = 'GarbageCollection/Stop' THEN f.following_seq END AS stop_seq, f.machine
FROM firsts f
LEFT JOIN stats t ON t.trace = f.trace AND t.last_stop = f.following_seq
LEFT JOIN heaps h ON h.trace = f.trace AND h.stop_seq = f.following_seq
LEFT JOIN stopped p
  ON p.trace = f.trace AND p.machine = f.machine AND p.process_id IS NOT DISTINCT FROM f.process_id AND p.runtime IS NOT DISTINCT FROM f.runtime
 AND p.gc_number = f.number AND p.first_pause < f.seq
WHERE f.event_name = 'GarbageCollection/Start'
