-- Time of waits by function: those in which it is the leaf, and those in which it is anywhere; a function that calls itself counts once.
--| trace STRING, process_id BIGINT, process_name STRING, module STRING, function STRING, kind STRING, exclusive_ns BIGINT, inclusive_ns BIGINT,
--| machine BIGINT
WITH {{include waits_by_stack}}
SELECT trace, process_id, process_name, module, function, kind, exclusive AS exclusive_ns, inclusive AS inclusive_ns, machine FROM (
{{include functions_of_stacks}}
) t
