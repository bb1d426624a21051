-- Waits, each with all frames of the stack at which its thread waited.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, off_cpu_ns BIGINT, waiting_ns BIGINT, thread_id BIGINT,
--| process_id BIGINT, process_name STRING, wait_reason BIGINT, readied_by_process_name STRING, in_seq BIGINT, stack_id BIGINT,
--| frame BIGINT, depth BIGINT, inline_depth BIGINT, address BIGINT, module STRING, function STRING, kind STRING,
--| source_file STRING, source_line BIGINT, is_first BOOLEAN, unknown_because STRING
SELECT s.trace, s.timestamp, s.from_ns, s.to_ns, s.off_cpu_ns, s.waiting_ns, s.thread_id, s.process_id, s.process_name, s.wait_reason,
       s.readied_by_process_name, s.in_seq,
       f.stack_id, f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind,
       f.source_file, f.source_line, f.is_first, f.unknown_because
FROM {{view waits}} s JOIN event_frames f ON f.trace = s.trace AND f.seq = s.in_seq
