-- One row for each wait that ended in the trace: when the thread left its processor, who readied it, when it ran again. `stack` is
-- where the thread waited, `readied_by_stack` where the other one was. A row without a thread in its header has the thread that was
-- readied, which did not do it.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, ready_ns BIGINT, to_ns BIGINT, waiting_ns BIGINT, ready_for_ns BIGINT,
--| thread_id BIGINT, process_id BIGINT, process_name STRING, wait_reason BIGINT, readied_by_thread_id BIGINT,
--| readied_by_process_name STRING, cpu BIGINT, out_seq BIGINT, in_seq BIGINT, stack LIST, readied_by_stack LIST,
--| machine BIGINT
WITH switches AS (
  SELECT trace, machine, seq, timestamp, timestamp_ns, cpu, OldThreadId AS thread_id, 'out' AS what,
         CAST(NULL AS BIGINT) AS readier, OldThreadWaitReason AS reason,
         CAST(NULL AS {{integers}}) AS stack
  FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: timestamp, timestamp_ns, seq, machine, cpu, process_id, thread_id, event_name, stack, OldThreadId BIGINT, OldThreadWaitReason BIGINT}} o
  UNION ALL
  SELECT trace, machine, seq, timestamp, timestamp_ns, cpu, NewThreadId, 'in', CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), stack
  FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: timestamp, timestamp_ns, seq, machine, cpu, process_id, thread_id, event_name, stack, NewThreadId BIGINT}} n
  UNION ALL
  SELECT trace, machine, seq, timestamp, timestamp_ns, cpu, TThreadId, 'ready', NULLIF(thread_id, TThreadId), CAST(NULL AS BIGINT), stack
  FROM {{Kernel-Thread: timestamp, timestamp_ns, seq, machine, cpu, process_id, thread_id, event_name, stack, TThreadId BIGINT}} r WHERE event_name = 'Thread/ReadyThread'
), ordered AS (
  SELECT s.*,
         MAX(CASE WHEN what = 'out' THEN seq END) OVER (
           PARTITION BY trace, machine, thread_id ORDER BY seq, what DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS out_seq,
         MAX(CASE WHEN what = 'ready' THEN seq END) OVER (
           PARTITION BY trace, machine, thread_id ORDER BY seq, what DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS ready_seq,
         MAX(CASE WHEN what = 'in' THEN seq END) OVER (
           PARTITION BY trace, machine, thread_id ORDER BY seq, what DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS in_seq
  FROM switches s WHERE thread_id <> 0
)
SELECT i.trace, i.timestamp, o.timestamp_ns AS from_ns, r.timestamp_ns AS ready_ns, i.timestamp_ns AS to_ns,
       i.timestamp_ns - o.timestamp_ns AS waiting_ns, i.timestamp_ns - r.timestamp_ns AS ready_for_ns,
       i.thread_id, t.process_id, COALESCE(p.image_name, 'unknown') AS process_name, o.reason AS wait_reason,
       r.readier AS readied_by_thread_id, rp.image_name AS readied_by_process_name, i.cpu, o.seq AS out_seq, i.seq AS in_seq,
       COALESCE(i.stack, iw.stack) AS stack, COALESCE(r.stack, rw.stack) AS readied_by_stack, i.machine
FROM ordered i
JOIN switches o ON o.trace = i.trace AND o.seq = i.out_seq AND o.thread_id = i.thread_id AND o.what = 'out'
LEFT JOIN switches r
  ON r.trace = i.trace AND r.seq = i.ready_seq AND i.ready_seq > i.out_seq AND r.thread_id = i.thread_id AND r.what = 'ready'
LEFT JOIN threads t
  ON t.trace = i.trace AND t.machine = i.machine AND t.thread_id = i.thread_id AND i.timestamp_ns >= t.from_ns AND i.timestamp_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = i.trace AND p.machine = i.machine AND p.process_id = t.process_id AND i.timestamp_ns >= p.from_ns AND i.timestamp_ns < p.to_ns
LEFT JOIN threads rt
  ON rt.trace = r.trace AND rt.machine = r.machine AND rt.thread_id = r.readier AND r.timestamp_ns >= rt.from_ns AND r.timestamp_ns < rt.to_ns
LEFT JOIN processes rp
  ON rp.trace = r.trace AND rp.machine = r.machine AND rp.process_id = rt.process_id AND r.timestamp_ns >= rp.from_ns AND r.timestamp_ns < rp.to_ns
LEFT JOIN stack_walks iw ON iw.trace = i.trace AND iw.machine = i.machine AND iw.at_ns = i.timestamp_ns AND iw.thread_id = i.thread_id
LEFT JOIN stack_walks rw ON rw.trace = r.trace AND rw.machine = r.machine AND rw.at_ns = r.timestamp_ns AND rw.thread_id = r.readier
WHERE i.what = 'in' AND (i.in_seq IS NULL OR i.out_seq > i.in_seq)
