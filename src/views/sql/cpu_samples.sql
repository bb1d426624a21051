-- Samples of the profiler: who ran, and in which module and function.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, cpu BIGINT, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, address BIGINT, module STRING, module_path STRING, function_namespace STRING, function_name STRING,
--| mode STRING, weight BIGINT
WITH sampled AS (
  SELECT trace, machine, timestamp, timestamp_ns, seq, cpu, ThreadId AS thread_id, process_id, process_name,
         InstructionPointer AS address, Count AS weight
  FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: timestamp, timestamp_ns, seq, machine, cpu, process_id, process_name, InstructionPointer BIGINT, ThreadId BIGINT, Count BIGINT}} e
), candidates AS (
  SELECT s.trace, s.seq, i.path, i.file_name, i.base, 'user' AS mode, i.from_ns, 1 AS choice
  FROM sampled s JOIN images i
    ON i.trace = s.trace AND i.machine = s.machine AND i.process_id = s.process_id AND i.process_id <> 0
   AND is_within(s.address, i.base, i.size)
   AND s.timestamp_ns >= i.from_ns AND s.timestamp_ns < i.to_ns
  UNION ALL
  SELECT s.trace, s.seq, i.path, i.file_name, i.base, 'kernel' AS mode, i.from_ns, 2 AS choice
  FROM sampled s JOIN images i
    ON i.trace = s.trace AND i.machine = s.machine AND i.process_id = 0
   AND is_within(s.address, i.base, i.size)
   AND s.timestamp_ns >= i.from_ns AND s.timestamp_ns < i.to_ns
), modules AS (
  SELECT * FROM (
    SELECT c.*, ROW_NUMBER() OVER (PARTITION BY trace, seq ORDER BY choice, from_ns DESC, base DESC, path) AS place
    FROM candidates c
  ) ranked WHERE place = 1
), functions AS (
  SELECT * FROM (
    SELECT s.trace, s.seq, m.namespace, m.name,
           ROW_NUMBER() OVER (PARTITION BY s.trace, s.seq ORDER BY m.from_ns DESC, m.base DESC, m.name) AS place
    FROM sampled s JOIN methods m
      ON m.trace = s.trace AND m.machine = s.machine AND m.process_id = s.process_id
     AND is_within(s.address, m.base, m.size)
     AND s.timestamp_ns >= m.from_ns AND s.timestamp_ns < m.to_ns
  ) ranked WHERE place = 1
)
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.cpu, s.process_id, s.process_name, s.thread_id,
       s.address, m.file_name AS module, m.path AS module_path,
       f.namespace AS function_namespace, f.name AS function_name,
       COALESCE(m.mode, CASE WHEN s.address < 0 THEN 'kernel' WHEN f.name IS NOT NULL THEN 'user' END) AS mode, s.weight
FROM sampled s
LEFT JOIN modules m ON m.trace = s.trace AND m.seq = s.seq
LEFT JOIN functions f ON f.trace = s.trace AND f.seq = s.seq
