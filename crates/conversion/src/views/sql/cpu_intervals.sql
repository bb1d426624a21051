-- What each processor ran from one context switch to the next, and the time of which that is not known. A switch names the thread that
-- it takes from the processor: where that is not the one that the switch before brought, switches are missing between them; so they are
-- where a switch of another processor names the thread meanwhile, since none runs on two at once.
--| trace STRING, cpu BIGINT, seq BIGINT, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, thread_id BIGINT,
--| process_id BIGINT, process_name STRING, state STRING, unknown_because STRING, input BIGINT, machine BIGINT
WITH recorded AS {{inline}}(
  SELECT trace, machine, input, cpu, seq, timestamp, timestamp_ns, NewThreadId AS thread_id, OldThreadId AS old_thread_id,
         CASE WHEN attribution = 'walk' THEN process_id END AS walked_process_id
  FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: timestamp, timestamp_ns, seq, input, machine, cpu, process_id, attribution, NewThreadId BIGINT, OldThreadId BIGINT}} s
), switches AS (
  SELECT r.*, LEAD(timestamp_ns) OVER (PARTITION BY trace, input, cpu ORDER BY seq) AS next_ns,
         LEAD(old_thread_id) OVER (PARTITION BY trace, input, cpu ORDER BY seq) AS taken_thread_id
  FROM recorded r
), named AS (
  SELECT trace, seq, MIN(timestamp_ns) OVER (
           PARTITION BY trace, input, thread_id ORDER BY timestamp_ns RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS again_ns
  FROM (
    SELECT trace, input, timestamp_ns, CASE c.is_old WHEN 1 THEN old_thread_id ELSE thread_id END AS thread_id,
           CASE c.is_old WHEN 0 THEN seq END AS seq
    FROM recorded r CROSS JOIN (SELECT 0 AS is_old UNION ALL SELECT 1 AS is_old) c
  ) m
  WHERE thread_id <> 0
), inputs AS {{inline}}(
  -- What an input recorded of a processor; NULL where two inputs have the same name.
  SELECT s.trace, i.input, s.cpu, s.first_time_ns, s.last_time_ns
  FROM {{sidecar/streams: source STRING, cpu BIGINT, first_time_ns BIGINT, last_time_ns BIGINT}} s
  JOIN (
    SELECT trace, source, MIN(input) AS input FROM {{sidecar/sessions: source STRING, input BIGINT}} n GROUP BY trace, source HAVING COUNT(*) = 1
  ) i ON i.trace = s.trace AND i.source = s.source
  WHERE s.cpu IS NOT NULL
), spans AS (
  SELECT w.trace, w.machine, w.input, w.cpu, w.seq, w.timestamp, w.timestamp_ns AS from_ns,
         COALESCE(w.next_ns, GREATEST(i.last_time_ns, w.timestamp_ns), w.timestamp_ns) AS to_ns, w.thread_id, w.walked_process_id,
         CASE WHEN w.cpu IS NULL THEN 'no processor' WHEN w.next_ns IS NULL THEN 'last switch'
              WHEN w.taken_thread_id IS DISTINCT FROM w.thread_id OR w.thread_id IS NULL THEN 'contradicted'
              WHEN a.again_ns < w.next_ns THEN 'elsewhere' END AS unknown_because
  FROM switches w
  LEFT JOIN named a ON a.trace = w.trace AND a.seq = w.seq
  LEFT JOIN inputs i ON i.trace = w.trace AND i.input = w.input AND i.cpu = w.cpu
  UNION ALL
  SELECT i.trace, m.machine, i.input, i.cpu, CAST(NULL AS BIGINT), CAST(NULL AS {{type TIMESTAMP}}), i.first_time_ns,
         COALESCE(f.first_switch_ns, i.last_time_ns), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT),
         CASE WHEN f.first_switch_ns IS NULL THEN 'no switch' ELSE 'before first switch' END
  FROM inputs i
  JOIN (SELECT trace, input, MIN(machine) AS machine FROM recorded r GROUP BY trace, input) m ON m.trace = i.trace AND m.input = i.input
  LEFT JOIN (SELECT trace, input, cpu, MIN(timestamp_ns) AS first_switch_ns FROM recorded r GROUP BY trace, input, cpu) f
    ON f.trace = i.trace AND f.input = i.input AND f.cpu = i.cpu
  WHERE i.first_time_ns < COALESCE(f.first_switch_ns, i.last_time_ns)
)
SELECT s.trace, s.cpu, s.seq, s.timestamp, s.from_ns, s.to_ns, s.to_ns - s.from_ns AS duration_ns, s.thread_id,
       CASE WHEN s.thread_id = 0 THEN 0 ELSE COALESCE(t.process_id, s.walked_process_id) END AS process_id,
       CASE WHEN s.thread_id = 0 THEN 'Idle' ELSE p.image_name END AS process_name,
       CASE WHEN s.unknown_because IS NOT NULL THEN 'unknown' WHEN s.thread_id = 0 THEN 'idle' ELSE 'busy' END AS state,
       s.unknown_because, s.input, s.machine
FROM spans s
LEFT JOIN threads t
  ON t.trace = s.trace AND t.machine = s.machine AND t.thread_id = s.thread_id AND s.from_ns >= t.from_ns AND s.from_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = s.trace AND p.machine = s.machine AND p.process_id = COALESCE(t.process_id, s.walked_process_id) AND s.from_ns >= p.from_ns AND s.from_ns < p.to_ns
