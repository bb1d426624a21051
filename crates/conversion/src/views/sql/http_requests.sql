-- Requests that HTTP.sys served: from the parsed request to the first response.
--| trace STRING, timestamp TIMESTAMP, from_ns BIGINT, to_ns BIGINT, duration_ns BIGINT, url STRING, status BIGINT,
--| activity_id STRING, seq BIGINT
SELECT q.trace, q.timestamp, q.timestamp_ns AS from_ns, a.timestamp_ns AS to_ns,
       a.timestamp_ns - q.timestamp_ns AS duration_ns, q.Url AS url, a.StatusCode AS status, q.activity_id, q.seq
FROM {{Microsoft-Windows-HttpService [event_name = 'HTTP Request Trace Task/Parse']: timestamp, timestamp_ns, seq, activity_id, Url STRING}} q
LEFT JOIN (
  SELECT * FROM (
    SELECT trace, seq, timestamp_ns, activity_id, StatusCode,
           ROW_NUMBER() OVER (PARTITION BY trace, activity_id ORDER BY seq) AS place
    FROM {{Microsoft-Windows-HttpService: timestamp, timestamp_ns, seq, activity_id, StatusCode BIGINT}} r WHERE StatusCode IS NOT NULL
  ) ranked WHERE place = 1
) a ON a.trace = q.trace AND a.activity_id = q.activity_id AND a.seq > q.seq
