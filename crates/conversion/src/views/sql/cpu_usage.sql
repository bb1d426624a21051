-- The states of each thread in nanoseconds: running, waiting, ready, standby. A row without a thread has the time of processors whose
-- thread is unknown. Where one wait has no readying, the time that the thread waited and the time that it was ready are unknown.
--| trace STRING, process_id BIGINT, process_name STRING, thread_id BIGINT, running_ns BIGINT, runs BIGINT, waiting_ns BIGINT,
--| waits BIGINT, ready_ns BIGINT, standby_ns BIGINT, waiting_or_ready_ns BIGINT, other_ns BIGINT, unknown_ns BIGINT, machine BIGINT
SELECT trace, process_id, process_name, thread_id, CAST(SUM(running_ns) AS BIGINT) AS running_ns,
       CAST(SUM(runs) AS BIGINT) AS runs, CASE WHEN SUM(unreadied) = 0 THEN CAST(SUM(waiting_ns) AS BIGINT) END AS waiting_ns,
       CAST(SUM(waits) AS BIGINT) AS waits, CASE WHEN SUM(unreadied) = 0 THEN CAST(SUM(ready_ns) AS BIGINT) END AS ready_ns,
       CAST(SUM(standby_ns) AS BIGINT) AS standby_ns, CAST(SUM(waiting_or_ready_ns) AS BIGINT) AS waiting_or_ready_ns,
       CAST(SUM(other_ns) AS BIGINT) AS other_ns, CAST(SUM(unknown_ns) AS BIGINT) AS unknown_ns, machine
FROM (
  SELECT trace, machine, process_id, process_name, thread_id, CASE WHEN state = 'unknown' THEN 0 ELSE duration_ns END AS running_ns,
         CASE WHEN state = 'unknown' THEN 0 ELSE 1 END AS runs, 0 AS waiting_ns, 0 AS waits, 0 AS unreadied, 0 AS ready_ns,
         0 AS standby_ns, 0 AS waiting_or_ready_ns, 0 AS other_ns,
         CASE WHEN state = 'unknown' THEN duration_ns ELSE 0 END AS unknown_ns
  FROM {{view cpu_intervals}} i
  UNION ALL
  SELECT trace, machine, process_id, process_name, thread_id, 0, 0, waiting_ns, CASE WHEN state = 'waiting' THEN 1 ELSE 0 END,
         CASE WHEN state = 'waiting' AND ready_ns IS NULL THEN 1 ELSE 0 END, ready_for_ns, standby_ns,
         CASE WHEN state = 'waiting' AND ready_ns IS NULL THEN off_cpu_ns ELSE 0 END, CASE WHEN state = 'other' THEN off_cpu_ns ELSE 0 END, 0
  FROM {{view off_cpu}} o
) s
GROUP BY trace, machine, process_id, process_name, thread_id
