-- What can be asked of a trace: whether it has the events for it, and if not, what to record. `known_share` says how much of the time of
-- processors is known, for the questions that need their context switches.
--| trace STRING, question STRING, answerable BOOLEAN, events BIGINT, event_names TEXTS, needed STRING, known_share DOUBLE
SELECT s.trace, s.question, s.answerable, s.events, s.event_names, s.needed,
       CASE WHEN s.question IN ('cpu_intervals', 'waits') THEN k.known_share END AS known_share
FROM {{sidecar/answers [*]: question STRING, answerable BOOLEAN, events BIGINT, event_names TEXTS, needed STRING}} s
LEFT JOIN (
  SELECT trace, CAST(SUM(CASE WHEN state <> 'unknown' THEN duration_ns ELSE 0 END) AS DOUBLE) / NULLIF(SUM(duration_ns), 0) AS known_share
  FROM cpu_intervals GROUP BY trace
) k ON k.trace = s.trace
