SELECT w.trace, w.process_id, w.process_name, f.module, f.function, f.kind, CAST(SUM(CASE WHEN f.frame = 0 THEN w.amount ELSE 0 END) AS BIGINT) AS exclusive,
       CAST(SUM(CASE WHEN f.is_first THEN w.amount ELSE 0 END) AS BIGINT) AS inclusive, w.machine
FROM weighed w
JOIN frames f ON f.trace = w.trace AND f.machine = w.machine AND f.process_id IS NOT DISTINCT FROM w.process_id AND f.stack_id = w.stack_id
GROUP BY w.trace, w.machine, w.process_id, w.process_name, f.module, f.function, f.kind
