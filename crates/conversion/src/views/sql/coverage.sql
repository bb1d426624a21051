-- For each stream, how much of the time from start_ns to end_ns (NULL: from its first, to its last event) is known intact: in no known
-- or possible gap. A loss without a time may lie anywhere, so that nothing of its recording is. A stream without a processor is
-- that of buffers which all processors shared: a loss of any of them is its own.
WITH spans AS (
  SELECT trace, source, cpu, GREATEST(first_time_ns, COALESCE(start_ns, first_time_ns)) AS from_ns,
         LEAST(last_time_ns, COALESCE(end_ns, last_time_ns)) AS to_ns
  FROM {{sidecar/streams: source STRING, cpu BIGINT, first_time_ns BIGINT, last_time_ns BIGINT}} s
  WHERE first_time_ns <= COALESCE(end_ns, first_time_ns) AND last_time_ns >= COALESCE(start_ns, last_time_ns)
), gaps AS (
  SELECT s.trace, s.source, s.cpu, GREATEST(COALESCE(g.from_time_ns, s.from_ns), s.from_ns) AS from_ns,
         LEAST(COALESCE(g.to_time_ns, s.to_ns), s.to_ns) AS to_ns
  FROM spans s
  JOIN loss g ON g.trace = s.trace AND g.source = s.source AND (g.cpu IS NULL OR s.cpu IS NULL OR g.cpu = s.cpu)
  WHERE g.kind <> 'real_time_buffers_lost' AND COALESCE(g.from_time_ns, s.from_ns) < s.to_ns
    AND COALESCE(g.to_time_ns, s.to_ns) > s.from_ns
), ordered AS (
  SELECT g.*, MAX(to_ns) OVER (
           PARTITION BY trace, source, cpu ORDER BY from_ns, to_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_to_ns
  FROM gaps g
), sums AS (
  SELECT trace, source, cpu, CAST(SUM(GREATEST(to_ns - GREATEST(from_ns, COALESCE(covered_to_ns, from_ns)), 0)) AS BIGINT) AS gap_ns
  FROM ordered GROUP BY trace, source, cpu
)
SELECT s.trace, s.source, s.cpu, s.from_ns, s.to_ns, s.to_ns - s.from_ns - COALESCE(u.gap_ns, 0) AS intact_ns,
       CASE WHEN s.to_ns > s.from_ns THEN CAST(s.to_ns - s.from_ns - COALESCE(u.gap_ns, 0) AS DOUBLE) / (s.to_ns - s.from_ns) END
         AS intact_share
FROM spans s
LEFT JOIN sums u ON u.trace = s.trace AND u.source = s.source AND u.cpu IS NOT DISTINCT FROM s.cpu
