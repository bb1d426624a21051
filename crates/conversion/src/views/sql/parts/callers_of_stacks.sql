SELECT w.trace, w.process_id, w.process_name, c.caller_module, c.caller_function, c.module, c.function, CAST(SUM(w.amount) AS BIGINT) AS amount, w.machine
FROM weighed w
JOIN (
  SELECT DISTINCT f.trace, f.machine, f.process_id, f.stack_id, f.module, f.function, r.module AS caller_module, r.function AS caller_function
  FROM frames f
  JOIN frames r
    ON r.trace = f.trace AND r.machine = f.machine AND r.process_id IS NOT DISTINCT FROM f.process_id AND r.stack_id = f.stack_id
   AND r.frame = f.frame + 1
) c ON c.trace = w.trace AND c.machine = w.machine AND c.process_id IS NOT DISTINCT FROM w.process_id AND c.stack_id = w.stack_id
GROUP BY w.trace, w.machine, w.process_id, w.process_name, c.caller_module, c.caller_function, c.module, c.function
