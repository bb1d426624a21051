-- What can be asked of a trace: whether it has the events for it, and if not, what to record.
--| trace STRING, question STRING, answerable BOOLEAN, events BIGINT, event_names TEXTS, needed STRING
SELECT s.* FROM {{sidecar/answers [*]: question STRING, answerable BOOLEAN, events BIGINT, event_names TEXTS, needed STRING}} s
