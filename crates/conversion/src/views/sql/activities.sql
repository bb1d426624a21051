-- Starts with their stops: of one provider, activity and task, the last start that is still open belongs to a stop. The parent is the last
-- start, before this one, of the activity that the start says it is related to.
--| trace STRING, provider STRING, activity_id STRING, related_activity_id STRING, task BIGINT, event_name STRING, process_id BIGINT,
--| process_name STRING, thread_id BIGINT, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, start_seq BIGINT,
--| stop_seq BIGINT, stop_thread_id BIGINT, depth BIGINT, parent_start_seq BIGINT
WITH marks AS (
  -- A start that is related to another activity stands here twice, the second time under that one.
  SELECT e.*, CASE opcode WHEN 1 THEN 1 ELSE -1 END AS step, c.is_child,
         CASE c.is_child WHEN 1 THEN related_activity_id ELSE activity_id END AS parent_key
  FROM all_events e CROSS JOIN (SELECT 0 AS is_child UNION ALL SELECT 1 AS is_child) c
  WHERE opcode IN (1, 2) AND activity_id IS NOT NULL AND (c.is_child = 0 OR opcode = 1 AND related_activity_id <> activity_id)
), parents AS (
  SELECT m.*, MAX(CASE WHEN is_child = 0 AND opcode = 1 THEN seq END) OVER (
           PARTITION BY trace, parent_key ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS parent_seq
  FROM marks m
), children AS (
  SELECT p.*, MAX(CASE WHEN is_child = 1 THEN parent_seq END) OVER (PARTITION BY trace, seq) AS parent_start_seq FROM parents p
), summed AS (
  SELECT m.*, SUM(step) OVER (
           PARTITION BY trace, provider, activity_id, task ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS open
  FROM children m WHERE is_child = 0
), lowest AS (
  -- A stop without a start takes the sum below all sums before it, from where those behind are counted.
  SELECT s.*, LEAST(0, COALESCE(MIN(open) OVER (
           PARTITION BY trace, provider, activity_id, task ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS floor
  FROM summed s
), levels AS (
  SELECT l.*, CASE opcode WHEN 1 THEN open - floor ELSE open + 1 - floor END AS depth FROM lowest l
), paired AS (
  SELECT v.*, LAG(seq) OVER w AS start_seq, LAG(opcode) OVER w AS start_opcode, LAG(related_activity_id) OVER w AS start_related,
         LAG(event_name) OVER w AS start_name, LAG(process_id) OVER w AS start_process_id, LAG(process_name) OVER w AS start_process_name,
         LAG(thread_id) OVER w AS start_thread_id, LAG(timestamp) OVER w AS start_timestamp, LAG(timestamp_ns) OVER w AS start_ns,
         LAG(parent_start_seq) OVER w AS start_parent
  FROM levels v
  WINDOW w AS (PARTITION BY trace, provider, activity_id, task, depth ORDER BY seq)
)
SELECT e.trace, e.provider, e.activity_id, e.start_related AS related_activity_id, e.task, e.start_name AS event_name,
       e.start_process_id AS process_id, e.start_process_name AS process_name, e.start_thread_id AS thread_id,
       e.start_timestamp AS timestamp, e.start_ns AS from_ns, e.timestamp_ns AS to_ns, e.timestamp_ns - e.start_ns AS duration_ns,
       e.start_seq, e.seq AS stop_seq, e.thread_id AS stop_thread_id, CAST(e.depth AS BIGINT) AS depth, e.start_parent AS parent_start_seq
FROM paired e
WHERE e.opcode = 2 AND e.depth > 0 AND e.start_opcode = 1
