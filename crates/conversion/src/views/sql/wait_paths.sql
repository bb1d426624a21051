-- Time of waits by stack, the stack as a text from the outermost function to the leaf, as tools for flame graphs read it.
--| trace STRING, process_id BIGINT, process_name STRING, stack_id BIGINT, path STRING, off_cpu_ns BIGINT, machine BIGINT
WITH weighed AS {{inline}}(
  SELECT o.trace, o.machine, i.process_id, i.process_name, i.stack_id, CAST(SUM(o.off_cpu_ns) AS BIGINT) AS amount
  FROM {{view off_cpu}} o
  JOIN {{Kernel-Thread: seq, process_id, process_name, stack_id}} i ON i.trace = o.trace AND i.seq = o.in_seq
  WHERE o.state = 'waiting' AND i.stack_id IS NOT NULL
  GROUP BY o.trace, o.machine, i.process_id, i.process_name, i.stack_id
)
SELECT trace, process_id, process_name, stack_id, path, amount AS off_cpu_ns, machine FROM (
{{include paths_of_stacks}}
) t
