-- Page faults, each with all frames of the stack of its event.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, fault STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, file STRING, bytes BIGINT, duration_ns BIGINT, stack_id BIGINT, frame BIGINT, depth BIGINT,
--| inline_depth BIGINT, address BIGINT, module STRING, function STRING, kind STRING, source_file STRING, source_line BIGINT,
--| is_first BOOLEAN, unknown_because STRING
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.kind AS fault, s.process_id, s.process_name, s.thread_id, s.file, s.bytes,
       s.duration_ns,
       f.stack_id, f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind,
       f.source_file, f.source_line, f.is_first, f.unknown_because
FROM {{view page_faults}} s JOIN event_frames f ON f.trace = s.trace AND f.seq = s.seq
