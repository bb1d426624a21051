-- Samples of the profiler by function: those in which it is the leaf, and those in which it is anywhere; a function that calls itself counts
-- once. A sample without a stack has the function that it was in.
--| trace STRING, process_id BIGINT, process_name STRING, module STRING, function STRING, kind STRING, exclusive_samples BIGINT, inclusive_samples BIGINT,
--| machine BIGINT
WITH {{include samples_by_stack}}
SELECT trace, process_id, process_name, module, function, kind, CAST(SUM(exclusive) AS BIGINT) AS exclusive_samples,
       CAST(SUM(inclusive) AS BIGINT) AS inclusive_samples, machine
FROM (
{{include functions_of_stacks}}
UNION ALL
SELECT trace, process_id, process_name, module, function, kind, COUNT(*), COUNT(*), machine
FROM cpu_sample_frames f WHERE stack_id IS NULL
GROUP BY trace, machine, process_id, process_name, module, function, kind
) t
GROUP BY trace, machine, process_id, process_name, module, function, kind
