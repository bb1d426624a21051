-- What can be asked of a trace: whether it has the events for it, and if not, what to record.
SELECT s.* FROM {{sidecar/answers: question STRING, about STRING, view STRING, answerable BOOLEAN, events BIGINT, event_names TEXTS, needed STRING}} s
