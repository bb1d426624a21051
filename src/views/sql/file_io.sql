-- Operations on files as programs asked for them.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, operation STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, file STRING, file_key BIGINT, byte_offset BIGINT, bytes BIGINT
SELECT o.trace, o.timestamp, o.timestamp_ns, o.seq, o.operation, COALESCE(o.process_id, t.process_id) AS process_id,
       p.image_name AS process_name, o.by_thread AS thread_id, COALESCE(o.file_name, f.path) AS file, o.file_key,
       o.byte_offset, o.bytes
FROM (
  SELECT trace, machine, timestamp, timestamp_ns, seq, REPLACE(event_name, 'FileIo/', '') AS operation, process_id,
         COALESCE(thread_id, TTID) AS by_thread, COALESCE(FileKey, FileObject) AS file_key,
         COALESCE(OpenPath, FileName) AS file_name, byte_offset, IoSize AS bytes
  FROM {{Kernel-FileIo [event_name NOT IN ('FileIo/FileRundown', 'FileIo/Name')]: timestamp, timestamp_ns, seq, machine, process_id, thread_id, event_name, TTID BIGINT, FileKey BIGINT, FileObject BIGINT, FileName STRING, OpenPath STRING, Offset BIGINT AS byte_offset, IoSize BIGINT}} k
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq, event_name, process_id, thread_id, COALESCE(FileKey, FileObject), FileName,
         ByteOffset, IOSize
  FROM {{Microsoft-Windows-Kernel-File [*]: timestamp, timestamp_ns, seq, machine, process_id, thread_id, event_name, FileKey BIGINT, FileObject BIGINT, FileName STRING, ByteOffset BIGINT, IOSize BIGINT}} m
) o
LEFT JOIN threads t
  ON t.trace = o.trace AND t.machine = o.machine AND t.thread_id = o.by_thread AND o.timestamp_ns >= t.from_ns AND o.timestamp_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = o.trace AND p.machine = o.machine AND p.process_id = COALESCE(o.process_id, t.process_id)
 AND o.timestamp_ns >= p.from_ns AND o.timestamp_ns < p.to_ns
LEFT JOIN files f
  ON f.trace = o.trace AND f.machine = o.machine AND f.file_key = o.file_key AND o.timestamp_ns >= f.from_ns AND o.timestamp_ns < f.to_ns
