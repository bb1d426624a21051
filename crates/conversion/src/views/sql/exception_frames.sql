-- Exceptions that .NET threw, each with all frames of its stack.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, thread_id BIGINT,
--| type STRING, message STRING, stack_id BIGINT, frame BIGINT, depth BIGINT, inline_depth BIGINT, address BIGINT, module STRING,
--| function STRING, kind STRING, source_file STRING, source_line BIGINT, is_first BOOLEAN, unknown_because STRING
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.process_id, s.process_name, s.thread_id, s.type, s.message,
       f.stack_id, f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind,
       f.source_file, f.source_line, f.is_first, f.unknown_because
FROM {{view exceptions}} s JOIN event_frames f ON f.trace = s.trace AND f.seq = s.seq
