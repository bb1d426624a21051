-- What each processor ran from one context switch to the next. Time before its first and behind its last is in no row.
--| trace STRING, cpu BIGINT, seq BIGINT, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, thread_id BIGINT,
--| process_id BIGINT, process_name STRING, machine BIGINT
SELECT i.trace, i.cpu, i.seq, i.timestamp, i.from_ns, i.to_ns, i.to_ns - i.from_ns AS duration_ns, i.thread_id,
       CASE WHEN i.thread_id = 0 THEN 0 ELSE t.process_id END AS process_id,
       CASE WHEN i.thread_id = 0 THEN 'Idle' ELSE COALESCE(p.image_name, 'unknown') END AS process_name, i.machine
FROM (
  SELECT trace, machine, cpu, seq, timestamp, timestamp_ns AS from_ns, NewThreadId AS thread_id,
         LEAD(timestamp_ns) OVER (PARTITION BY trace, input, cpu ORDER BY seq) AS to_ns
  FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: timestamp, timestamp_ns, seq, input, machine, cpu, process_id, thread_id, NewThreadId BIGINT}} s
) i
LEFT JOIN threads t
  ON t.trace = i.trace AND t.machine = i.machine AND t.thread_id = i.thread_id AND i.from_ns >= t.from_ns AND i.from_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = i.trace AND p.machine = i.machine AND p.process_id = t.process_id AND i.from_ns >= p.from_ns AND i.from_ns < p.to_ns
WHERE i.to_ns IS NOT NULL
