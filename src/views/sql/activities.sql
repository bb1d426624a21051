-- Pairs of a start and the next stop of one provider and activity.
--| trace STRING, provider STRING, activity_id STRING, related_activity_id STRING, event_name STRING, process_id BIGINT,
--| process_name STRING, thread_id BIGINT, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, start_seq BIGINT,
--| stop_seq BIGINT
WITH marks AS (
  SELECT trace, provider, seq, timestamp, timestamp_ns, process_id, process_name, thread_id, event_name, opcode, activity_id,
         related_activity_id,
         MAX(CASE WHEN opcode = 1 THEN seq END) OVER (
           PARTITION BY trace, provider, activity_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS start_seq,
         MAX(CASE WHEN opcode = 2 THEN seq END) OVER (
           PARTITION BY trace, provider, activity_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS stop_seq
  FROM all_events WHERE opcode IN (1, 2) AND activity_id IS NOT NULL
)
SELECT b.trace, b.provider, b.activity_id, b.related_activity_id, b.event_name, b.process_id, b.process_name, b.thread_id, b.timestamp,
       b.timestamp_ns AS from_ns, e.timestamp_ns AS to_ns, e.timestamp_ns - b.timestamp_ns AS duration_ns,
       b.seq AS start_seq, e.seq AS stop_seq
FROM marks e
JOIN marks b ON b.trace = e.trace AND b.seq = e.start_seq
WHERE e.opcode = 2 AND (e.stop_seq IS NULL OR e.start_seq > e.stop_seq)
