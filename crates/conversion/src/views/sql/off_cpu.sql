-- One row for each time that a thread left a processor and ran again in the trace, by the state in which it left: waiting (until a thread
-- or a DPC readied it, then ready), ready (preempted), standby, or another one. A thread that has ended, or has only begun then, is another one
-- of the same id.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, ready_ns BIGINT, to_ns BIGINT, off_cpu_ns BIGINT, state STRING,
--| thread_state BIGINT, waiting_ns BIGINT, ready_for_ns BIGINT, standby_ns BIGINT, thread_id BIGINT, process_id BIGINT,
--| process_name STRING, wait_reason BIGINT, cpu BIGINT, out_cpu BIGINT, out_seq BIGINT, ready_seq BIGINT, in_seq BIGINT, machine BIGINT
WITH marks AS (
  SELECT trace, machine, seq, timestamp_ns, cpu, OldThreadId AS thread_id, 1 AS place, OldThreadState AS thread_state,
         OldThreadWaitReason AS reason
  FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: timestamp_ns, seq, machine, cpu, OldThreadId BIGINT, OldThreadWaitReason BIGINT, OldThreadState BIGINT}} o
  UNION ALL
  SELECT trace, machine, seq, timestamp_ns, cpu, NewThreadId, 3, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
  FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: timestamp_ns, seq, machine, cpu, NewThreadId BIGINT}} n
  UNION ALL
  SELECT trace, machine, seq, timestamp_ns, cpu, TThreadId, CASE event_name WHEN 'Thread/ReadyThread' THEN 2 ELSE 0 END, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
  FROM {{Kernel-Thread: timestamp_ns, seq, machine, cpu, event_name, TThreadId BIGINT}} r
  WHERE event_name IN ('Thread/ReadyThread', 'Thread/Start', 'Thread/End')
), numbered AS (
  SELECT m.*, MAX(CASE WHEN place IN (0, 1) THEN seq END) OVER (
           PARTITION BY trace, machine, thread_id ORDER BY seq, place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS out_seq
  FROM marks m WHERE thread_id <> 0
), periods AS (
  -- What follows one departure up to the next, or up to where the thread begins or ends: all times grow with seq, so that the first of a kind
  -- has the smallest of both.
  SELECT trace, machine, thread_id, out_seq, MIN(CASE WHEN place = 1 THEN timestamp_ns END) AS from_ns,
         MIN(CASE WHEN place = 1 THEN cpu END) AS out_cpu, MIN(thread_state) AS thread_state, MIN(reason) AS reason,
         MIN(CASE WHEN place = 2 THEN seq END) AS ready_seq, MIN(CASE WHEN place = 2 THEN timestamp_ns END) AS ready_ns,
         MIN(CASE WHEN place = 3 THEN seq END) AS in_seq, MIN(CASE WHEN place = 3 THEN timestamp_ns END) AS to_ns
  FROM numbered WHERE out_seq IS NOT NULL GROUP BY trace, machine, thread_id, out_seq
), named AS (
  SELECT trace, machine, thread_id, out_seq, in_seq, from_ns, to_ns, out_cpu, thread_state, reason,
         CASE thread_state WHEN 5 THEN 'waiting' WHEN 1 THEN 'ready' WHEN 7 THEN 'ready' WHEN 3 THEN 'standby' ELSE 'other' END AS state,
         CASE WHEN thread_state = 5 AND ready_seq < in_seq THEN ready_seq END AS ready_seq,
         CASE WHEN thread_state = 5 AND ready_seq < in_seq THEN ready_ns END AS ready_ns
  FROM periods WHERE in_seq IS NOT NULL AND from_ns IS NOT NULL AND COALESCE(thread_state, -1) <> 4
)
SELECT s.trace, i.timestamp, s.from_ns, s.ready_ns, s.to_ns, s.to_ns - s.from_ns AS off_cpu_ns, s.state, s.thread_state,
       CASE WHEN s.state = 'waiting' THEN s.ready_ns - s.from_ns ELSE 0 END AS waiting_ns,
       CASE s.state WHEN 'waiting' THEN s.to_ns - s.ready_ns WHEN 'ready' THEN s.to_ns - s.from_ns ELSE 0 END AS ready_for_ns,
       CASE WHEN s.state = 'standby' THEN s.to_ns - s.from_ns ELSE 0 END AS standby_ns,
       s.thread_id, COALESCE(t.process_id, i.walked_process_id) AS process_id, p.image_name AS process_name, CASE WHEN s.state = 'waiting' THEN s.reason END AS wait_reason,
       i.cpu, s.out_cpu, s.out_seq, s.ready_seq, s.in_seq, s.machine
FROM named s
JOIN (
  SELECT trace, timestamp, seq, cpu, CASE WHEN attribution = 'walk' THEN process_id END AS walked_process_id
  FROM {{Kernel-Thread: timestamp, seq, cpu, process_id, attribution}} b
) i ON i.trace = s.trace AND i.seq = s.in_seq
LEFT JOIN threads t
  ON t.trace = s.trace AND t.machine = s.machine AND t.thread_id = s.thread_id AND s.to_ns >= t.from_ns AND s.to_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = s.trace AND p.machine = s.machine AND p.process_id = COALESCE(t.process_id, i.walked_process_id) AND s.to_ns >= p.from_ns AND s.to_ns < p.to_ns
