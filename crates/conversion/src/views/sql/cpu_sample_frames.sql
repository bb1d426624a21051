-- Samples of the profiler, each with all frames of its stack; one that was recorded without a stack has the frame that it was in.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, cpu BIGINT, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, weight BIGINT, interrupt STRING, stack_id BIGINT, frame BIGINT, depth BIGINT, inline_depth BIGINT,
--| address BIGINT, module STRING, function STRING, kind STRING, source_file STRING, source_line BIGINT, is_first BOOLEAN,
--| unknown_because STRING, machine BIGINT
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.cpu, s.process_id, s.process_name, s.thread_id, s.weight, s.interrupt, f.stack_id,
       f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind,
       f.source_file, f.source_line, f.is_first, f.unknown_because, f.machine
FROM {{view cpu_samples}} s JOIN event_frames f ON f.trace = s.trace AND f.seq = s.seq
UNION ALL
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.cpu, s.process_id, s.process_name, s.thread_id, s.weight, s.interrupt, NULL,
       0, 0, 0, s.address, s.module,
       CASE WHEN s.function_namespace IS NULL THEN s.function_name ELSE s.function_namespace || COALESCE('.' || s.function_name, '') END,
       CASE WHEN s.mode = 'kernel' THEN s.mode WHEN s.function_name IS NOT NULL THEN 'managed' ELSE s.mode END, NULL, NULL, TRUE,
       CASE WHEN s.function_name IS NULL THEN 'no stack' END, p.machine
FROM {{view cpu_samples}} s
LEFT JOIN {{Kernel-PerfInfo: seq, machine, stack_id}} p ON p.trace = s.trace AND p.seq = s.seq
WHERE p.stack_id IS NULL
