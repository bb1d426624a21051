-- Starts with their stops: of one provider, activity and task, the last start that is still open belongs to a stop. The parent is the last
-- start, before this one, of the activity that the start says it is related to.
--| trace STRING, provider STRING, activity_id STRING, related_activity_id STRING, task BIGINT, event_name STRING, process_id BIGINT,
--| process_name STRING, thread_id BIGINT, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, start_seq BIGINT,
--| stop_seq BIGINT, stop_thread_id BIGINT, depth BIGINT, parent_start_seq BIGINT
WITH marks AS (
  SELECT e.*, CASE opcode WHEN 1 THEN 1 ELSE -1 END AS step FROM all_events e WHERE opcode IN (1, 2) AND activity_id IS NOT NULL
), summed AS (
  SELECT m.*, SUM(step) OVER (
           PARTITION BY trace, provider, activity_id, task ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS open
  FROM marks m
), lowest AS (
  -- A stop without a start takes the sum below all sums before it, from where those behind are counted.
  SELECT s.*, LEAST(0, COALESCE(MIN(open) OVER (
           PARTITION BY trace, provider, activity_id, task ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS floor
  FROM summed s
), levels AS (
  SELECT l.*, CASE opcode WHEN 1 THEN open - floor ELSE open + 1 - floor END AS depth FROM lowest l
), paired AS (
  SELECT v.*, LAG(seq) OVER (PARTITION BY trace, provider, activity_id, task, depth ORDER BY seq) AS before_seq,
         LAG(opcode) OVER (PARTITION BY trace, provider, activity_id, task, depth ORDER BY seq) AS before_opcode
  FROM levels v
), relatives AS (
  SELECT trace, activity_id AS key, seq, seq AS start_seq, 0 AS is_child FROM marks WHERE opcode = 1
  UNION ALL
  SELECT trace, related_activity_id, seq, CAST(NULL AS BIGINT), 1 FROM marks WHERE opcode = 1 AND related_activity_id <> activity_id
), parents AS (
  SELECT trace, seq, is_child, MAX(start_seq) OVER (PARTITION BY trace, key ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS parent_seq
  FROM relatives
)
SELECT b.trace, b.provider, b.activity_id, b.related_activity_id, b.task, b.event_name, b.process_id, b.process_name, b.thread_id,
       b.timestamp, b.timestamp_ns AS from_ns, e.timestamp_ns AS to_ns, e.timestamp_ns - b.timestamp_ns AS duration_ns,
       b.seq AS start_seq, e.seq AS stop_seq, e.thread_id AS stop_thread_id, CAST(e.depth AS BIGINT) AS depth, p.parent_seq AS parent_start_seq
FROM paired e
JOIN marks b ON b.trace = e.trace AND b.seq = e.before_seq
LEFT JOIN parents p ON p.trace = b.trace AND p.seq = b.seq AND p.is_child = 1
WHERE e.opcode = 2 AND e.depth > 0 AND e.before_opcode = 1
