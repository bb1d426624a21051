-- Time of waits by caller and callee: those in whose stack one function calls the other, each once.
--| trace STRING, process_id BIGINT, process_name STRING, caller_module STRING, caller_function STRING, module STRING, function STRING,
--| off_cpu_ns BIGINT, machine BIGINT
WITH weighed AS {{inline}}(
  SELECT o.trace, o.machine, i.process_id, i.process_name, i.stack_id, SUM(o.off_cpu_ns) AS amount
  FROM {{view off_cpu}} o
  JOIN {{Kernel-Thread: seq, process_id, process_name, stack_id}} i ON i.trace = o.trace AND i.seq = o.in_seq
  WHERE o.state = 'waiting' AND i.stack_id IS NOT NULL
  GROUP BY o.trace, o.machine, i.process_id, i.process_name, i.stack_id
)
SELECT trace, process_id, process_name, caller_module, caller_function, module, function, amount AS off_cpu_ns, machine FROM (
{{include callers_of_stacks}}
) t
