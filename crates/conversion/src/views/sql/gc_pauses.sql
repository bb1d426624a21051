-- How long .NET kept the threads of a process stopped, from the begin of a suspension to the end of the restart, and for which
-- collections. A background collection has two pauses, and a collection of the young generations may begin within one of them.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, process_id BIGINT, process_name STRING,
--| reason STRING, gc_numbers LIST, generation BIGINT, seq BIGINT
SELECT trace, MIN(timestamp) AS timestamp, MIN(from_ns) AS from_ns, MIN(to_ns) AS to_ns, MIN(to_ns) - MIN(from_ns) AS duration_ns,
       MIN(process_id) AS process_id, MIN(process_name) AS process_name, MIN(reason) AS reason,
       array_sort(array_agg(DISTINCT gc_number) FILTER (WHERE gc_number IS NOT NULL)) AS gc_numbers, MAX(generation) AS generation,
       pause_seq AS seq
FROM {{view gc_pause_collections}} c GROUP BY trace, pause_seq
