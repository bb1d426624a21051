-- Pauses of .NET, each with all frames of the stack that asked for it, where that was recorded.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, seq BIGINT, process_id BIGINT,
--| process_name STRING, reason STRING, generation BIGINT, stack_id BIGINT, frame BIGINT, depth BIGINT, inline_depth BIGINT,
--| address BIGINT, module STRING, function STRING, kind STRING, source_file STRING, source_line BIGINT, is_first BOOLEAN,
--| unknown_because STRING
SELECT s.trace, s.timestamp, s.from_ns, s.to_ns, s.duration_ns, s.seq, s.process_id, s.process_name, s.reason, s.generation,
       f.stack_id, f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind,
       f.source_file, f.source_line, f.is_first, f.unknown_because
FROM {{view gc_pauses}} s JOIN event_frames f ON f.trace = s.trace AND f.seq = s.seq
