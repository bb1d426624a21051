weighed AS {{inline}}(
  SELECT o.trace, o.machine, i.process_id, i.process_name, i.stack_id, CAST(SUM(o.off_cpu_ns) AS BIGINT) AS amount
  FROM {{view off_cpu}} o
  JOIN {{Kernel-Thread: seq, process_id, process_name, stack_id}} i ON i.trace = o.trace AND i.seq = o.in_seq
  WHERE o.state = 'waiting' AND i.stack_id IS NOT NULL
  GROUP BY o.trace, o.machine, i.process_id, i.process_name, i.stack_id
)
