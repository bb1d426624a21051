-- The frames of each event with a stack.
--| trace STRING, seq BIGINT, stack_id BIGINT, frame BIGINT, depth BIGINT, inline_depth BIGINT, address BIGINT, module STRING,
--| function STRING, kind STRING, source_file STRING, source_line BIGINT, is_first BOOLEAN, unknown_because STRING,
--| machine BIGINT
SELECT e.trace, e.seq, e.stack_id, f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind, f.file AS source_file,
       f.line AS source_line, f.is_first,
       f.unknown_because, e.machine
FROM {{include stacked_events}} e
JOIN frames f ON f.trace = e.trace AND f.machine = e.machine AND f.process_id IS NOT DISTINCT FROM e.process_id AND f.stack_id = e.stack_id
