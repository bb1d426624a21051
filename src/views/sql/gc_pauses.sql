-- How long .NET kept the threads of a process stopped, from the begin of a suspension to the end of the restart, and for which
-- collections. A background collection has two pauses, and a collection of the young generations may begin within one of them.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, process_id BIGINT, process_name STRING,
--| reason STRING, gc_numbers LIST, generation BIGINT, seq BIGINT
SELECT b.trace, b.timestamp, p.from_ns, p.to_ns, p.to_ns - p.from_ns AS duration_ns, b.process_id, b.process_name, p.reason,
       p.gc_numbers, p.generation, p.pause_seq AS seq
FROM (
  SELECT trace, pause_seq, MIN(from_ns) AS from_ns, MIN(to_ns) AS to_ns, MIN(reason) AS reason,
         array_sort(array_agg(DISTINCT gc_number) FILTER (WHERE gc_number IS NOT NULL)) AS gc_numbers, MAX(generation) AS generation
  FROM {{view gc_pause_collections}} c GROUP BY trace, pause_seq
) p
JOIN {{Microsoft-Windows-DotNETRuntime: timestamp, seq, process_id, process_name}} b ON b.trace = p.trace AND b.seq = p.pause_seq
