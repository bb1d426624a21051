-- One row for each wait that ended in the trace: when the thread left its processor to wait, who readied it, when it ran again. `stack` is
-- where the thread waited, `readied_by_stack` where the one was that readied it.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, ready_ns BIGINT, to_ns BIGINT, off_cpu_ns BIGINT, waiting_ns BIGINT,
--| ready_for_ns BIGINT, thread_id BIGINT, process_id BIGINT, process_name STRING, wait_reason BIGINT, readied_by STRING,
--| readied_by_thread_id BIGINT, readied_by_process_id BIGINT, readied_by_process_name STRING, cpu BIGINT, out_seq BIGINT,
--| ready_seq BIGINT, in_seq BIGINT, stack LIST, readied_by_stack LIST, machine BIGINT
WITH readies AS {{inline}}(
  -- The thread of the header; an event without one has the readied thread, which did not do it.
  SELECT trace, machine, seq, timestamp_ns, input, cpu, CASE WHEN attribution = 'header' THEN NULLIF(thread_id, TThreadId) END AS told,
         (Flag & 1) <> 0 AS is_dpc, stack
  FROM {{Kernel-Thread: timestamp_ns, seq, input, machine, cpu, thread_id, event_name, attribution, stack, TThreadId BIGINT, Flag BIGINT}} r WHERE event_name = 'Thread/ReadyThread'
), switched AS (
  SELECT trace, seq, MAX(switch_seq) OVER (
           PARTITION BY trace, input, cpu ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS switch_seq, is_switch
  FROM (
    SELECT trace, input, cpu, seq, seq AS switch_seq, 1 AS is_switch
    FROM {{Kernel-Thread [event_name = 'Thread/CSwitch']: seq, input, cpu}} c
    UNION ALL SELECT trace, input, cpu, seq, CAST(NULL AS BIGINT), 0 FROM readies
  ) b
), walked AS (
  SELECT trace, machine, EventTimeStamp_ns AS at_ns, cpu, MIN(StackThread) AS thread_id
  FROM {{Kernel-StackWalk: machine, cpu, EventTimeStamp_ns BIGINT, StackThread BIGINT}} w
  GROUP BY trace, machine, EventTimeStamp_ns, cpu HAVING MIN(StackThread) = MAX(StackThread)
), interrupted AS (
  -- What ran on the processor of an event instead of its thread: an interrupt that had begun and ended later. A threaded DPC has a thread.
  SELECT trace, seq, CASE WHEN isr_ns <= timestamp_ns THEN 'isr' WHEN dpc_ns <= timestamp_ns THEN 'dpc' END AS kind
  FROM (
    SELECT trace, seq, timestamp_ns, is_ready, MIN(isr_ns) OVER (
             PARTITION BY trace, input, cpu ORDER BY timestamp_ns, is_ready ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS isr_ns,
           MIN(dpc_ns) OVER (
             PARTITION BY trace, input, cpu ORDER BY timestamp_ns, is_ready ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS dpc_ns
    FROM (
      SELECT trace, input, cpu, seq, timestamp_ns, 1 AS is_ready, CAST(NULL AS BIGINT) AS isr_ns, CAST(NULL AS BIGINT) AS dpc_ns
      FROM readies WHERE cpu IS NOT NULL
      UNION ALL
      SELECT trace, input, cpu, seq, to_ns, 0, CASE kind WHEN 'isr' THEN from_ns END, CASE kind WHEN 'dpc' THEN from_ns END
      FROM interrupts e WHERE cpu IS NOT NULL AND event_name <> 'PerfInfo/ThreadedDPC'
    ) b
  ) c
  WHERE is_ready = 1
), readiers AS (
  SELECT r.trace, r.machine, r.seq, r.timestamp_ns, r.stack, CASE WHEN r.is_dpc THEN 'dpc' WHEN v.kind IS NOT NULL THEN v.kind WHEN h.thread_id IS NOT NULL THEN 'thread' END AS readied_by,
         CASE WHEN NOT COALESCE(r.is_dpc, FALSE) AND v.kind IS NULL THEN h.thread_id END AS thread_id
  FROM readies r
  LEFT JOIN interrupted v ON v.trace = r.trace AND v.seq = r.seq
  JOIN (
    SELECT a.trace, a.seq,
           CASE WHEN a.told IS NOT NULL THEN a.told
                WHEN w.thread_id <> n.thread_id THEN NULL
                ELSE COALESCE(w.thread_id, n.thread_id) END AS thread_id
    FROM readies a
    LEFT JOIN switched s ON s.trace = a.trace AND s.seq = a.seq AND s.is_switch = 0
    LEFT JOIN {{view cpu_intervals}} n ON n.trace = a.trace AND n.seq = s.switch_seq AND n.state <> 'unknown'
    LEFT JOIN walked w ON w.trace = a.trace AND w.machine = a.machine AND w.at_ns = a.timestamp_ns AND w.cpu IS NOT DISTINCT FROM a.cpu
  ) h ON h.trace = r.trace AND h.seq = r.seq
)
SELECT o.trace, o.timestamp, o.from_ns, o.ready_ns, o.to_ns, o.off_cpu_ns, o.waiting_ns, o.ready_for_ns, o.thread_id, o.process_id,
       o.process_name, o.wait_reason, r.readied_by, r.thread_id AS readied_by_thread_id,
       CASE WHEN r.thread_id = 0 THEN 0 ELSE rt.process_id END AS readied_by_process_id,
       CASE WHEN r.thread_id = 0 THEN 'Idle' ELSE rp.image_name END AS readied_by_process_name, o.cpu, o.out_seq, o.ready_seq, o.in_seq,
       i.stack, r.stack AS readied_by_stack, o.machine
FROM {{view off_cpu}} o
JOIN {{Kernel-Thread: seq, stack}} i ON i.trace = o.trace AND i.seq = o.in_seq
LEFT JOIN readiers r ON r.trace = o.trace AND r.seq = o.ready_seq
LEFT JOIN threads rt
  ON rt.trace = o.trace AND rt.machine = r.machine AND rt.thread_id = r.thread_id AND r.timestamp_ns >= rt.from_ns AND r.timestamp_ns < rt.to_ns
LEFT JOIN processes rp
  ON rp.trace = o.trace AND rp.machine = r.machine AND rp.process_id = rt.process_id AND r.timestamp_ns >= rp.from_ns AND r.timestamp_ns < rp.to_ns
WHERE o.state = 'waiting'
