-- Time of waits by function: those in which it is the leaf, and those in which it is anywhere; a function that calls itself counts once.
--| trace STRING, process_id BIGINT, process_name STRING, module STRING, function STRING, kind STRING, exclusive_ns BIGINT, inclusive_ns BIGINT,
--| machine BIGINT
WITH weighed AS {{inline}}(
  SELECT o.trace, o.machine, i.process_id, i.process_name, i.stack_id, SUM(o.off_cpu_ns) AS amount
  FROM {{view off_cpu}} o
  JOIN {{Kernel-Thread: seq, process_id, process_name, stack_id}} i ON i.trace = o.trace AND i.seq = o.in_seq
  WHERE o.state = 'waiting' AND i.stack_id IS NOT NULL
  GROUP BY o.trace, o.machine, i.process_id, i.process_name, i.stack_id
)
SELECT trace, process_id, process_name, module, function, kind, exclusive AS exclusive_ns, inclusive AS inclusive_ns, machine FROM (
{{include functions_of_stacks}}
) t
