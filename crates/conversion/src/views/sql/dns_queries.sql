-- Names that were asked for, and what came back.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, thread_id BIGINT,
--| event_name STRING, query_name STRING, query_type BIGINT, status BIGINT, results STRING
SELECT e.trace, e.timestamp, e.timestamp_ns, e.seq, e.process_id, e.process_name, e.thread_id, e.event_name,
       e.QueryName AS query_name, e.QueryType AS query_type, e.QueryStatus AS status, e.QueryResults AS results
FROM {{Microsoft-Windows-DNS-Client [QueryName IS NOT NULL]: timestamp, timestamp_ns, seq, process_id, process_name, thread_id, event_name, QueryName STRING, QueryType BIGINT, QueryStatus BIGINT, QueryResults STRING}} e
