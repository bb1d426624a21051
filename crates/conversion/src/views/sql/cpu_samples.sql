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
            WHEN span_at(p.methods, s.timestamp_ns).name IS NOT NULL THEN 'user' END AS mode,
       s.weight,
       CASE WHEN (s.reserved & 2) <> 0 THEN 'isr' WHEN (s.reserved & 1) <> 0 THEN 'dpc' WHEN s.reserved IS NOT NULL THEN 'none' END AS interrupt
FROM (
  SELECT e.*, COALESCE(process_id, -1) AS asker
  FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: timestamp, timestamp_ns, seq, machine, cpu, process_id, process_name, InstructionPointer BIGINT AS address, ThreadId BIGINT AS thread_id, Count BIGINT AS weight, Reserved BIGINT AS reserved}} e
) s
-- The planner leaves the join out where nothing of it is asked for: its keys are columns, and all of a group.
LEFT JOIN (
  SELECT trace, machine, asker, address, array_sort(array_agg(span) FILTER (WHERE place = 'own')) AS own,
         array_sort(array_agg(span) FILTER (WHERE place = 'kernel')) AS kernel, array_sort(array_agg(span) FILTER (WHERE place = 'method')) AS methods
  FROM (
    WITH spans AS {{inline}}(
      SELECT trace, machine, process_id, base, size, from_ns, to_ns, file_name AS name, path AS detail, 'image' AS kind FROM images
      UNION ALL
      SELECT trace, machine, process_id, base, size, from_ns, to_ns, name, namespace, 'method' FROM methods
    ), reaching AS {{inline}}(
      SELECT s.*, MAX(CASE WHEN base > 9223372036854775807 - GREATEST(size, 0) THEN 9223372036854775807 ELSE base + GREATEST(size, 0) END) OVER (
               PARTITION BY trace, machine, process_id, kind ORDER BY base, size ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
      FROM spans s
    ), islands AS {{inline}}(
      -- Spans that share addresses, one after another in time, have one number; it grows with the address.
      SELECT r.*, SUM(CASE WHEN base < reach THEN 0 ELSE 1 END) OVER (
               PARTITION BY trace, machine, process_id, kind ORDER BY base, size ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
      FROM reaching r
    ), sampled AS (
      -- Each address is looked up once: in its process and in the kernel.
      SELECT DISTINCT trace, machine, COALESCE(process_id, -1) AS process_id, address
      FROM {{Kernel-PerfInfo [event_name = 'PerfInfo/SampleProf']: machine, process_id, InstructionPointer BIGINT AS address}} a
    ), points AS (
      SELECT trace, machine, process_id, kind, base AS spot, island, CAST(NULL AS BIGINT) AS asker FROM islands
      UNION ALL
      SELECT trace, machine, CASE c.place WHEN 'kernel' THEN 0 ELSE process_id END, CASE c.place WHEN 'method' THEN 'method' ELSE 'image' END,
             address, CAST(NULL AS BIGINT), process_id
      FROM sampled s CROSS JOIN (SELECT 'own' AS place UNION ALL SELECT 'kernel' AS place UNION ALL SELECT 'method' AS place) c
      WHERE c.place <> 'own' OR process_id <> 0
    ), located AS (
      SELECT trace, machine, process_id, kind, spot, asker, MAX(island) OVER (
               PARTITION BY trace, machine, process_id, kind ORDER BY spot, asker NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
      FROM points
    )
    SELECT l.trace, l.machine, l.asker, l.spot AS address, CASE WHEN l.kind = 'method' THEN 'method' WHEN l.process_id = 0 THEN 'kernel' ELSE 'own' END AS place,
           address_span(i.from_ns, i.to_ns, i.base, i.name, i.detail) AS span
    FROM located l JOIN islands i
      ON i.trace = l.trace AND i.machine = l.machine AND i.process_id = l.process_id AND i.kind = l.kind AND i.island = l.island
     AND is_within(l.spot, i.base, i.size)
    WHERE l.asker IS NOT NULL
  ) candidates
  GROUP BY trace, machine, asker, address
) p ON p.trace = s.trace AND p.machine = s.machine AND p.asker = s.asker AND p.address = s.address
