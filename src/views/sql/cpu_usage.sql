-- Time on a processor and time waiting, by thread. A wait is the time from a switch away from a thread to the next to it.
--| trace STRING, process_id BIGINT, process_name STRING, thread_id BIGINT, on_cpu_ns BIGINT, runs BIGINT, waiting_ns BIGINT,
--| waits BIGINT, machine BIGINT
SELECT COALESCE(r.trace, w.trace) AS trace, COALESCE(r.process_id, w.process_id) AS process_id,
       COALESCE(r.process_name, w.process_name) AS process_name, COALESCE(r.thread_id, w.thread_id) AS thread_id,
       COALESCE(r.on_cpu_ns, 0) AS on_cpu_ns, COALESCE(r.runs, 0) AS runs,
       COALESCE(w.waiting_ns, 0) AS waiting_ns, COALESCE(w.waits, 0) AS waits,
       COALESCE(r.machine, w.machine) AS machine
FROM (
  SELECT trace, machine, process_id, process_name, thread_id, COALESCE(process_id, -1) AS process_key,
         CAST(SUM(duration_ns) AS BIGINT) AS on_cpu_ns, COUNT(*) AS runs
  FROM {{view cpu_intervals}} GROUP BY trace, machine, process_id, process_name, thread_id
) r
FULL OUTER JOIN (
  SELECT trace, machine, process_id, process_name, thread_id, COALESCE(process_id, -1) AS process_key,
         CAST(SUM(waiting_ns) AS BIGINT) AS waiting_ns, COUNT(*) AS waits
  FROM {{view waits}} GROUP BY trace, machine, process_id, process_name, thread_id
) w
ON w.trace = r.trace AND w.machine = r.machine AND w.thread_id = r.thread_id AND w.process_key = r.process_key
