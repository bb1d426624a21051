SELECT w.trace, w.process_id, w.process_name, w.stack_id, path_text(p.parts) AS path, w.amount, w.machine
FROM weighed w
JOIN (
  SELECT trace, machine, process_id, stack_id,
         array_sort(array_agg(path_part(frame, COALESCE(module || '!', '') || COALESCE(function, CASE WHEN module IS NULL THEN unknown_because ELSE '?' END)))) AS parts
  FROM frames f
  GROUP BY trace, machine, process_id, stack_id
) p ON p.trace = w.trace AND p.machine = w.machine AND p.process_id IS NOT DISTINCT FROM w.process_id AND p.stack_id = w.stack_id
