-- Deferred procedure calls and interrupt service routines: which routine of which driver ran on a processor from when to when. One that
-- another interrupted has that one's time, too; `cpu_time` counts such time once.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, kind STRING, event_name STRING, cpu BIGINT,
--| routine BIGINT, module STRING, module_path STRING, vector BIGINT, seq BIGINT, input BIGINT, machine BIGINT
WITH ran AS {{inline}}(
  SELECT trace, machine, input, timestamp, InitialTime_ns AS from_ns, timestamp_ns AS to_ns, cpu, seq, event_name, Routine AS routine,
         Vector AS vector, CASE WHEN event_name LIKE '%DPC' THEN 'dpc' ELSE 'isr' END AS kind
  FROM {{Kernel-PerfInfo [event_name IN ('PerfInfo/DPC', 'PerfInfo/ThreadedDPC', 'PerfInfo/TimerDPC', 'PerfInfo/ISR', 'PerfInfo/ISR-MSI')]: timestamp, timestamp_ns, seq, input, machine, cpu, event_name, InitialTime_ns BIGINT, Routine BIGINT, Vector BIGINT}} e
)
SELECT e.trace, e.timestamp, e.from_ns, e.to_ns, e.to_ns - e.from_ns AS duration_ns, e.kind, e.event_name, e.cpu, e.routine,
       span_at(m.drivers, e.to_ns).name AS module, span_at(m.drivers, e.to_ns).detail AS module_path, e.vector, e.seq, e.input, e.machine
FROM ran e
LEFT JOIN (
  SELECT r.trace, r.machine, r.routine, array_sort(array_agg(address_span(i.from_ns, i.to_ns, i.base, i.file_name, i.path))) AS drivers
  FROM (SELECT DISTINCT trace, machine, routine FROM ran) r
  JOIN images i ON i.trace = r.trace AND i.machine = r.machine AND i.process_id = 0 AND is_within(r.routine, i.base, i.size)
  GROUP BY r.trace, r.machine, r.routine
) m ON m.trace = e.trace AND m.machine = e.machine AND m.routine = e.routine
