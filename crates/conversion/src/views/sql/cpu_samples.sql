-- Samples of the profiler: who ran, and in which module and function. `interrupt` says whether the processor executed a DPC or an
-- interrupt service routine instead of its thread. Modules and functions are looked up only where a question asks for them.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, cpu BIGINT, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, address BIGINT, module STRING, module_path STRING, function_namespace STRING, function_name STRING,
--| mode STRING, weight BIGINT, interrupt STRING
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.cpu, s.process_id, s.process_name, s.thread_id, s.address,
       CASE WHEN span_at(p.own, s.timestamp_ns) IS NULL THEN span_at(p.kernel, s.timestamp_ns).name
            ELSE span_at(p.own, s.timestamp_ns).name END AS module,
       CASE WHEN span_at(p.own, s.timestamp_ns) IS NULL THEN span_at(p.kernel, s.timestamp_ns).detail
            ELSE span_at(p.own, s.timestamp_ns).detail END AS module_path,
       span_at(p.methods, s.timestamp_ns).detail AS function_namespace, span_at(p.methods, s.timestamp_ns).name AS function_name,
       CASE WHEN span_at(p.own, s.timestamp_ns) IS NOT NULL THEN 'user'
            WHEN span_at(p.kernel, s.timestamp_ns) IS NOT NULL OR s.address < 0 THEN 'kernel'
            WHEN span_at(p.methods, s.timestamp_ns).name IS NOT NULL THEN 'user'
            -- The kernel of a 32-bit system has the addresses between.
            WHEN s.address NOT BETWEEN 2147483648 AND 4294967295 THEN 'user' END AS mode,
       s.weight,
       CASE WHEN (s.reserved & 2) <> 0 THEN 'isr' WHEN (s.reserved & 1) <> 0 THEN 'dpc' WHEN s.reserved IS NOT NULL THEN 'none' END AS interrupt
FROM (
  SELECT e.*, COALESCE(process_id, -1) AS asker
  FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: timestamp, timestamp_ns, seq, machine, cpu, process_id, process_name, InstructionPointer BIGINT AS address, ThreadId BIGINT AS thread_id, Count BIGINT AS weight, Reserved BIGINT AS reserved}} e
) s
-- The planner leaves the join out where nothing of it is asked for: its keys are columns, and all of a group.
LEFT JOIN (
  WITH asked AS (
    SELECT DISTINCT trace, machine, COALESCE(process_id, -1) AS process_id, address
    FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: machine, process_id, InstructionPointer BIGINT AS address}} a
  ), {{include address_places}}
  SELECT * FROM places
) p ON p.trace = s.trace AND p.machine = s.machine AND p.asker = s.asker AND p.address = s.address
