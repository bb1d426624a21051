-- Page faults; hard ones with the file that was read and how long it took.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, kind STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, address BIGINT, file STRING, byte_offset BIGINT, bytes BIGINT, duration_ns BIGINT
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, REPLACE(e.event_name, 'PageFault/', '') AS kind,
       e.process_id, e.process_name, e.thread_id, e.VirtualAddress AS address, f.path AS file,
       e.ReadOffset AS byte_offset, e.ByteCount AS bytes, e.timestamp_ns - e.InitialTime_ns AS duration_ns
FROM {{Kernel-PageFault [event_name IN ('PageFault/TransitionFault', 'PageFault/DemandZeroFault', 'PageFault/CopyOnWrite', 'PageFault/GuardPageFault', 'PageFault/HardPageFault', 'PageFault/AccessViolation', 'PageFault/HardFault')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_name, VirtualAddress BIGINT, FileObject BIGINT, ReadOffset BIGINT, ByteCount BIGINT, InitialTime_ns BIGINT}} e
LEFT JOIN files f
  ON f.trace = e.trace AND f.machine = e.machine AND f.file_key = e.FileObject AND e.timestamp_ns >= f.from_ns AND e.timestamp_ns < f.to_ns
