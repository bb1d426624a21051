weighed AS {{inline}}(
  SELECT trace, machine, process_id, process_name, stack_id, COUNT(*) AS amount
  FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: machine, process_id, process_name, stack_id}} s
  WHERE stack_id IS NOT NULL
  GROUP BY trace, machine, process_id, process_name, stack_id
)
