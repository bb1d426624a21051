-- Time of waits by stack, the stack as a text from the outermost function to the leaf, as tools for flame graphs read it.
--| trace STRING, process_id BIGINT, process_name STRING, stack_id BIGINT, path STRING, off_cpu_ns BIGINT, machine BIGINT
WITH {{include waits_by_stack}}
SELECT trace, process_id, process_name, stack_id, path, amount AS off_cpu_ns, machine FROM (
{{include paths_of_stacks}}
) t
