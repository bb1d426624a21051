-- Time of waits by caller and callee: those in whose stack one function calls the other, each once.
--| trace STRING, process_id BIGINT, process_name STRING, caller_module STRING, caller_function STRING, module STRING, function STRING,
--| off_cpu_ns BIGINT, machine BIGINT
WITH {{include waits_by_stack}}
SELECT trace, process_id, process_name, caller_module, caller_function, module, function, amount AS off_cpu_ns, machine FROM (
{{include callers_of_stacks}}
) t
