-- What each processor did with the time that an input recorded of it. Busy, idle, DPC, ISR and unknown add up to the span; a kind of
-- interrupts that was not recorded is NULL, and its time is in the others.
--| trace STRING, cpu BIGINT, from_ns BIGINT, to_ns BIGINT, span_ns BIGINT, busy_ns BIGINT, idle_ns BIGINT, dpc_ns BIGINT,
--| isr_ns BIGINT, unknown_ns BIGINT, known_share DOUBLE, input BIGINT, machine BIGINT
WITH bounds AS (
  SELECT trace, machine, input, cpu, from_ns AS at_ns,
         4 * ROW_NUMBER() OVER (PARTITION BY trace, machine, input, cpu ORDER BY from_ns, COALESCE(seq, -1))
           + CASE state WHEN 'busy' THEN 1 WHEN 'idle' THEN 2 ELSE 3 END AS numbered_state, 0 AS dpc, 0 AS isr
  FROM {{view cpu_intervals}} i WHERE cpu IS NOT NULL
  UNION ALL
  SELECT trace, machine, input, cpu, MAX(to_ns), 4 * (COUNT(*) + 1), 0, 0
  FROM {{view cpu_intervals}} l WHERE cpu IS NOT NULL GROUP BY trace, machine, input, cpu
  UNION ALL
  SELECT trace, machine, input, cpu, from_ns, CAST(NULL AS BIGINT), CASE kind WHEN 'dpc' THEN 1 ELSE 0 END, CASE kind WHEN 'isr' THEN 1 ELSE 0 END
  FROM {{view interrupts}} b WHERE from_ns < to_ns
  UNION ALL
  SELECT trace, machine, input, cpu, to_ns, CAST(NULL AS BIGINT), CASE kind WHEN 'dpc' THEN -1 ELSE 0 END, CASE kind WHEN 'isr' THEN -1 ELSE 0 END
  FROM {{view interrupts}} e WHERE from_ns < to_ns
), pieces AS (
  SELECT trace, machine, input, cpu, LEAD(at_ns) OVER (PARTITION BY trace, machine, input, cpu ORDER BY at_ns, numbered_state, dpc, isr) - at_ns AS ns,
         MAX(numbered_state) OVER (PARTITION BY trace, machine, input, cpu ORDER BY at_ns, numbered_state, dpc, isr ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS numbered_state,
         SUM(dpc) OVER (PARTITION BY trace, machine, input, cpu ORDER BY at_ns, numbered_state, dpc, isr ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS dpcs,
         SUM(isr) OVER (PARTITION BY trace, machine, input, cpu ORDER BY at_ns, numbered_state, dpc, isr ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS isrs
  FROM bounds
), sums AS (
  SELECT trace, machine, input, cpu,
         CAST(SUM(CASE WHEN isrs > 0 THEN ns ELSE 0 END) AS BIGINT) AS isr_ns,
         CAST(SUM(CASE WHEN isrs <= 0 AND dpcs > 0 THEN ns ELSE 0 END) AS BIGINT) AS dpc_ns,
         CAST(SUM(CASE WHEN isrs <= 0 AND dpcs <= 0 AND numbered_state % 4 = 1 THEN ns ELSE 0 END) AS BIGINT) AS busy_ns,
         CAST(SUM(CASE WHEN isrs <= 0 AND dpcs <= 0 AND numbered_state % 4 = 2 THEN ns ELSE 0 END) AS BIGINT) AS idle_ns,
         CAST(SUM(CASE WHEN isrs <= 0 AND dpcs <= 0 AND numbered_state % 4 = 3 THEN ns ELSE 0 END) AS BIGINT) AS unknown_ns
  FROM pieces WHERE numbered_state % 4 > 0 GROUP BY trace, machine, input, cpu
), spans AS (
  SELECT trace, machine, input, cpu, MIN(from_ns) AS from_ns, MAX(to_ns) AS to_ns FROM {{view cpu_intervals}} s
  WHERE cpu IS NOT NULL GROUP BY trace, machine, input, cpu
), recorded AS (
  SELECT trace, machine, input, MAX(CASE kind WHEN 'dpc' THEN 1 END) AS dpc, MAX(CASE kind WHEN 'isr' THEN 1 END) AS isr
  FROM {{view interrupts}} r GROUP BY trace, machine, input
)
SELECT p.trace, p.cpu, p.from_ns, p.to_ns, p.to_ns - p.from_ns AS span_ns, COALESCE(s.busy_ns, 0) AS busy_ns, COALESCE(s.idle_ns, 0) AS idle_ns,
       CASE WHEN r.dpc = 1 THEN COALESCE(s.dpc_ns, 0) END AS dpc_ns, CASE WHEN r.isr = 1 THEN COALESCE(s.isr_ns, 0) END AS isr_ns,
       COALESCE(s.unknown_ns, 0) AS unknown_ns,
       CASE WHEN p.to_ns > p.from_ns THEN 1 - CAST(COALESCE(s.unknown_ns, 0) AS DOUBLE) / (p.to_ns - p.from_ns) END AS known_share,
       p.input, p.machine
FROM spans p
LEFT JOIN sums s ON s.trace = p.trace AND s.machine = p.machine AND s.input = p.input AND s.cpu = p.cpu
LEFT JOIN recorded r ON r.trace = p.trace AND r.machine = p.machine AND r.input = p.input
