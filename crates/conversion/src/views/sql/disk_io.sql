-- Finished disk operations: which file, for whom, how much, how long.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, cpu BIGINT, operation STRING, process_id BIGINT,
--| process_name STRING, thread_id BIGINT, disk BIGINT, file STRING, file_key BIGINT, byte_offset BIGINT, bytes BIGINT,
--| duration_ns BIGINT
SELECT d.trace, d.timestamp, d.timestamp_ns, d.seq, d.cpu, REPLACE(d.event_name, 'DiskIo/', '') AS operation,
       d.process_id, d.process_name, d.thread_id, d.DiskNumber AS disk, f.path AS file,
       d.FileObject AS file_key, d.ByteOffset AS byte_offset, d.TransferSize AS bytes, d.HighResResponseTime_ns AS duration_ns
FROM {{Kernel-DiskIo [event_name IN ('DiskIo/Read', 'DiskIo/Write', 'DiskIo/FlushBuffers')]: timestamp, timestamp_ns, seq, machine, cpu, process_id, process_name, thread_id, event_name, DiskNumber BIGINT, TransferSize BIGINT, FileObject BIGINT, ByteOffset BIGINT, HighResResponseTime_ns BIGINT}} d
LEFT JOIN files f
  ON f.trace = d.trace AND f.machine = d.machine AND f.file_key = d.FileObject AND d.timestamp_ns >= f.from_ns AND d.timestamp_ns < f.to_ns
