-- What the recording lost, or may have lost, and when; NULL counts are unknown.
--| trace STRING, source STRING, kind STRING, cpu BIGINT, from_time_ns BIGINT, to_time_ns BIGINT, count BIGINT, unit STRING,
--| is_lower_bound BOOLEAN, is_certain BOOLEAN, evidence STRING, note STRING
SELECT l.trace, l.source, l.kind, l.cpu, l.from_time_ns, l.to_time_ns, l.count, l.unit, l.is_lower_bound, l.is_certain,
       l.evidence, l.note
FROM {{sidecar/lost_events [*]: source STRING, kind STRING, cpu BIGINT, from_time_ns BIGINT, to_time_ns BIGINT, count BIGINT, unit STRING, is_lower_bound BOOLEAN, is_certain BOOLEAN, evidence STRING, note STRING}} l
WHERE l.count IS NULL OR l.count <> 0
