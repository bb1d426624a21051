-- Stacks that the kernel sent as events of their own, joined to the events that they are of: the column `stack` of those, with `at_ns`,
-- the time of the event.
--| trace STRING, at_ns BIGINT, thread_id BIGINT, process_id BIGINT, stack LIST, stack_id BIGINT, provider STRING, event_name STRING,
--| cpu BIGINT, seq BIGINT, machine BIGINT
SELECT e.trace, e.timestamp_ns AS at_ns, e.thread_id, e.process_id, e.stack, e.stack_id, e.provider, e.event_name, e.cpu, e.seq,
       COALESCE(m.machine, 0) AS machine
FROM all_events e
JOIN (
  SELECT DISTINCT trace FROM {{Kernel-StackWalk [event_name IN ('StackWalk/Stack', 'StackWalk/StackKeyKernel', 'StackWalk/StackKeyUser')]: seq}} w
) t ON t.trace = e.trace
LEFT JOIN (SELECT trace, input, MIN(machine) AS machine FROM {{sidecar/sessions: machine, input BIGINT}} s GROUP BY trace, input) m
  ON m.trace = e.trace AND m.input = e.input
WHERE e.stack IS NOT NULL AND e.provider LIKE 'Kernel-%'
