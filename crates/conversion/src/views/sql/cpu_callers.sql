-- Samples of the profiler by caller and callee: those in whose stack one function calls the other, each once.
--| trace STRING, process_id BIGINT, process_name STRING, caller_module STRING, caller_function STRING, module STRING, function STRING,
--| samples BIGINT, machine BIGINT
WITH {{include samples_by_stack}}
SELECT trace, process_id, process_name, caller_module, caller_function, module, function, amount AS samples, machine FROM (
{{include callers_of_stacks}}
) t
