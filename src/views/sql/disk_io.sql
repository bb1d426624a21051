-- Finished disk operations: which file, for whom, how much, how long.
SELECT d.trace, d.timestamp, d.timestamp_ns, d.seq, d.cpu, REPLACE(d.event_name, 'DiskIo/', '') AS operation,
       t.process_id, p.image_name AS process_name, d.by_thread AS thread_id, d.DiskNumber AS disk, f.path AS file,
       d.FileObject AS file_key, d.ByteOffset AS byte_offset, d.TransferSize AS bytes, d.HighResResponseTime_ns AS duration_ns
FROM (
  SELECT s.*, COALESCE(thread_id, IssuingThreadId) AS by_thread
  FROM {{Kernel-DiskIo [event_name IN ('DiskIo/Read', 'DiskIo/Write', 'DiskIo/FlushBuffers')]: DiskNumber BIGINT, TransferSize BIGINT, FileObject BIGINT, ByteOffset BIGINT, HighResResponseTime_ns BIGINT, IssuingThreadId BIGINT}} s
) d
LEFT JOIN threads t
  ON t.trace = d.trace AND t.thread_id = d.by_thread AND d.timestamp_ns >= t.from_ns AND d.timestamp_ns < t.to_ns
LEFT JOIN processes p
  ON p.trace = d.trace AND p.process_id = t.process_id AND d.timestamp_ns >= p.from_ns AND d.timestamp_ns < p.to_ns
LEFT JOIN files f
  ON f.trace = d.trace AND f.file_key = d.FileObject AND d.timestamp_ns >= f.from_ns AND d.timestamp_ns < f.to_ns
