-- Modules as they are loaded while the trace runs; those that were loaded before are in `images`. `path` is that of `images`, with the letter of
-- its drive, where it is there.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, base BIGINT,
--| size BIGINT, path STRING
SELECT i.trace, i.timestamp, i.timestamp_ns, i.seq, i.for_process AS process_id, p.image_name AS process_name,
       i.ImageBase AS base, i.ImageSize AS size, COALESCE(m.path, i.path) AS path
FROM (
  SELECT trace, machine, timestamp, timestamp_ns, seq, ProcessId AS for_process, ImageBase, ImageSize, FileName AS path
  FROM {{Kernel-Image [event_name = 'Image/Load']: timestamp, timestamp_ns, seq, machine, process_id, ProcessId BIGINT, ImageBase BIGINT, ImageSize BIGINT, FileName STRING}} k
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq, ProcessID, ImageBase, ImageSize, ImageName
  FROM {{Microsoft-Windows-Kernel-Process [event_id = 5]: timestamp, timestamp_ns, seq, machine, process_id, ProcessID BIGINT, ImageBase BIGINT, ImageSize BIGINT, ImageName STRING}} m
) i
LEFT JOIN processes p
  ON p.trace = i.trace AND p.machine = i.machine AND p.process_id = i.for_process AND i.timestamp_ns >= p.from_ns AND i.timestamp_ns < p.to_ns
LEFT JOIN images m
  ON m.trace = i.trace AND m.machine = i.machine AND m.process_id = i.for_process AND m.base = i.ImageBase AND i.timestamp_ns >= m.from_ns AND i.timestamp_ns < m.to_ns
