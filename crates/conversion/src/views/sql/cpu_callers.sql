-- Samples of the profiler by caller and callee: those in whose stack one function calls the other, each once.
--| trace STRING, process_id BIGINT, process_name STRING, caller_module STRING, caller_function STRING, module STRING, function STRING,
--| samples BIGINT, machine BIGINT
WITH weighed AS {{inline}}(
  SELECT trace, machine, process_id, process_name, stack_id, COUNT(*) AS amount
  FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: machine, process_id, process_name, stack_id}} s
  WHERE stack_id IS NOT NULL
  GROUP BY trace, machine, process_id, process_name, stack_id
)
SELECT trace, process_id, process_name, caller_module, caller_function, module, function, amount AS samples, machine FROM (
{{include callers_of_stacks}}
) t
