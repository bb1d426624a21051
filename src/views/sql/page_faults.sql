-- Page faults; hard ones with the file that was read and how long it took.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, kind STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, address BIGINT, file STRING, byte_offset BIGINT, bytes BIGINT, duration_ns BIGINT
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, REPLACE(e.event_name, 'PageFault/', '') AS kind,
       t.process_id, p.image_name AS process_name, e.by_thread AS thread_id, e.VirtualAddress AS address, f.path AS file,
       e.ReadOffset AS byte_offset, e.ByteCount AS bytes, e.timestamp_ns - e.InitialTime_ns AS duration_ns
FROM (
  SELECT s.*, COALESCE(thread_id, TThreadId) AS by_thread
  FROM {{Kernel-PageFault [*]: timestamp, timestamp_ns, seq, machine, process_id, thread_id, event_name, TThreadId BIGINT, VirtualAddress BIGINT, FileObject BIGINT, ReadOffset BIGINT, ByteCount BIGINT, InitialTime_ns BIGINT}} s
) e
LEFT JOIN threads t
  ON t.trace = e.trace AND t.machine = e.machine AND t.thread_id = e.by_thread AND e.timestamp_ns >= t.from_ns AND e.timestamp_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = e.trace AND p.machine = e.machine AND p.process_id = t.process_id AND e.timestamp_ns >= p.from_ns AND e.timestamp_ns < p.to_ns
LEFT JOIN files f
  ON f.trace = e.trace AND f.machine = e.machine AND f.file_key = e.FileObject AND e.timestamp_ns >= f.from_ns AND e.timestamp_ns < f.to_ns
