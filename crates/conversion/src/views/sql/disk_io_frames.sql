-- Disk operations, each with all frames of the stack that issued it: that of the last event that begins an operation of the same
-- request packet, unless another operation of the packet has ended since.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, operation STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, file STRING, bytes BIGINT, duration_ns BIGINT, stack_id BIGINT, frame BIGINT, depth BIGINT,
--| inline_depth BIGINT, address BIGINT, module STRING, function STRING, kind STRING, source_file STRING, source_line BIGINT,
--| is_first BOOLEAN, unknown_because STRING
WITH marks AS {{inline}}(
  SELECT trace, machine, seq, Irp AS packet, CASE WHEN event_name LIKE '%Init' THEN seq END AS issued, CASE WHEN event_name LIKE '%Init' THEN NULL ELSE seq END AS ended
  FROM {{Kernel-DiskIo: seq, machine, event_name, Irp BIGINT}} d
  WHERE event_name IN ('DiskIo/Read', 'DiskIo/Write', 'DiskIo/FlushBuffers', 'DiskIo/ReadInit', 'DiskIo/WriteInit', 'DiskIo/FlushInit')
), issues AS (
  SELECT trace, seq, ended, MAX(issued) OVER (PARTITION BY trace, machine, packet ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS issued,
         MAX(ended) OVER (PARTITION BY trace, machine, packet ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended_before
  FROM marks m WHERE packet IS NOT NULL
)
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.operation, s.process_id, s.process_name, s.thread_id, s.file, s.bytes,
       s.duration_ns,
       f.stack_id, f.frame, f.depth, f.inline_depth, f.address, f.module, f.function, f.kind,
       f.source_file, f.source_line, f.is_first, f.unknown_because
FROM {{view disk_io}} s
JOIN issues i ON i.trace = s.trace AND i.seq = s.seq AND i.issued > COALESCE(i.ended_before, -1)
JOIN event_frames f ON f.trace = i.trace AND f.seq = i.issued
