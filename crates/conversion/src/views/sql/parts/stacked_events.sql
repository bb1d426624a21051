(
  SELECT e.trace, COALESCE(m.machine, 0) AS machine, e.seq, e.timestamp_ns, e.process_id, e.stack_id, e.stack
  FROM all_events e
  LEFT JOIN (SELECT trace, input, MIN(machine) AS machine FROM {{sidecar/sessions: machine, input BIGINT}} s GROUP BY trace, input) m
    ON m.trace = e.trace AND m.input = e.input
  WHERE e.stack IS NOT NULL
)
