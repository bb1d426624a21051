-- What each processor did with the time that an input recorded of it. Busy, idle, DPC, ISR and unknown add up to the span; a kind of
-- interrupts that was not recorded is NULL, and its time is in the others.
--| trace STRING, cpu BIGINT, from_ns BIGINT, to_ns BIGINT, span_ns BIGINT, busy_ns BIGINT, idle_ns BIGINT, dpc_ns BIGINT,
--| isr_ns BIGINT, unknown_ns BIGINT, known_share DOUBLE, input BIGINT, machine BIGINT
WITH intervals AS (
  SELECT i.*, ROW_NUMBER() OVER (PARTITION BY trace, machine, input, cpu ORDER BY from_ns, COALESCE(seq, -1)) AS number,
         COUNT(*) OVER (PARTITION BY trace, machine, input, cpu) AS intervals, MAX(to_ns) OVER (PARTITION BY trace, machine, input, cpu) AS end_ns
  FROM {{view cpu_intervals}} i WHERE cpu IS NOT NULL
), bounds AS (
  -- The begin of each interval and the end of all, of a processor; begins and ends of interrupts.
  SELECT trace, machine, input, cpu, CASE c.is_end WHEN 0 THEN from_ns ELSE end_ns END AS at_ns,
         CASE c.is_end WHEN 0 THEN 4 * number + CASE state WHEN 'busy' THEN 1 WHEN 'idle' THEN 2 ELSE 3 END ELSE 4 * (intervals + 1) END
           AS own_state, 0 AS dpc, 0 AS isr
  FROM intervals i CROSS JOIN (SELECT 0 AS is_end UNION ALL SELECT 1 AS is_end) c WHERE c.is_end = 0 OR number = intervals
  UNION ALL
  SELECT trace, machine, input, cpu, CASE c.step WHEN 1 THEN from_ns ELSE to_ns END, CAST(NULL AS BIGINT),
         CASE kind WHEN 'dpc' THEN c.step ELSE 0 END, CASE kind WHEN 'isr' THEN c.step ELSE 0 END
  FROM {{view interrupts}} b CROSS JOIN (SELECT 1 AS step UNION ALL SELECT -1 AS step) c WHERE from_ns < to_ns
), pieces AS (
  SELECT trace, machine, input, cpu, at_ns, own_state, LEAD(at_ns) OVER (v) - at_ns AS ns, MAX(own_state) OVER w AS numbered_state,
         SUM(dpc) OVER w AS dpcs, SUM(isr) OVER w AS isrs
  FROM bounds
  WINDOW v AS (PARTITION BY trace, machine, input, cpu ORDER BY at_ns, own_state, dpc, isr),
         w AS (PARTITION BY trace, machine, input, cpu ORDER BY at_ns, own_state, dpc, isr ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), kinds AS (
  SELECT p.*, CASE WHEN COALESCE(numbered_state % 4, 0) = 0 THEN NULL WHEN isrs > 0 THEN 'isr' WHEN dpcs > 0 THEN 'dpc'
                   WHEN numbered_state % 4 = 1 THEN 'busy' WHEN numbered_state % 4 = 2 THEN 'idle' WHEN numbered_state % 4 = 3 THEN 'unknown' END AS kind
  FROM pieces p
), sums AS (
  SELECT trace, machine, input, cpu, MIN(CASE WHEN own_state IS NOT NULL THEN at_ns END) AS from_ns,
         MAX(CASE WHEN own_state IS NOT NULL THEN at_ns END) AS to_ns,
         CAST(SUM(CASE kind WHEN 'isr' THEN ns ELSE 0 END) AS BIGINT) AS isr_ns, CAST(SUM(CASE kind WHEN 'dpc' THEN ns ELSE 0 END) AS BIGINT) AS dpc_ns,
         CAST(SUM(CASE kind WHEN 'busy' THEN ns ELSE 0 END) AS BIGINT) AS busy_ns, CAST(SUM(CASE kind WHEN 'idle' THEN ns ELSE 0 END) AS BIGINT) AS idle_ns,
         CAST(SUM(CASE kind WHEN 'unknown' THEN ns ELSE 0 END) AS BIGINT) AS unknown_ns
  FROM kinds k GROUP BY trace, machine, input, cpu
), recorded AS (
  SELECT trace, machine, input, MAX(CASE kind WHEN 'dpc' THEN 1 END) AS dpc, MAX(CASE kind WHEN 'isr' THEN 1 END) AS isr
  FROM {{view interrupts}} r GROUP BY trace, machine, input
)
SELECT s.trace, s.cpu, s.from_ns, s.to_ns, s.to_ns - s.from_ns AS span_ns, s.busy_ns, s.idle_ns,
       CASE WHEN r.dpc = 1 THEN s.dpc_ns END AS dpc_ns, CASE WHEN r.isr = 1 THEN s.isr_ns END AS isr_ns, s.unknown_ns,
       CASE WHEN s.to_ns > s.from_ns THEN 1 - CAST(s.unknown_ns AS DOUBLE) / (s.to_ns - s.from_ns) END AS known_share, s.input, s.machine
FROM sums s
LEFT JOIN recorded r ON r.trace = s.trace AND r.machine = s.machine AND r.input = s.input
WHERE s.from_ns IS NOT NULL
