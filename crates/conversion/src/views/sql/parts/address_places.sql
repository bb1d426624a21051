spans AS {{inline}}(
  SELECT trace, machine, process_id, base, size, from_ns, to_ns, file_name AS name, path AS detail, 'image' AS kind FROM images
  UNION ALL
  SELECT trace, machine, process_id, base, size, from_ns, to_ns, name, namespace, 'method' FROM methods
), reaching AS {{inline}}(
  SELECT s.*, MAX(CASE WHEN base > 9223372036854775807 - GREATEST(size, 0) THEN 9223372036854775807 ELSE base + GREATEST(size, 0) END) OVER (
           PARTITION BY trace, machine, process_id, kind ORDER BY base, size ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
  FROM spans s
), islands AS {{inline}}(
  -- Spans that share addresses, one after another in time, have one number; it grows with the address.
  SELECT r.*, SUM(CASE WHEN base < reach THEN 0 ELSE 1 END) OVER (
           PARTITION BY trace, machine, process_id, kind ORDER BY base, size ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
  FROM reaching r
), points AS (
  SELECT trace, machine, process_id, kind, base AS spot, island, CAST(NULL AS BIGINT) AS asker FROM islands
  UNION ALL
  -- Each address is looked up once: in its process and in the kernel.
  SELECT trace, machine, CASE c.place WHEN 'kernel' THEN 0 ELSE process_id END, CASE c.place WHEN 'method' THEN 'method' ELSE 'image' END,
         address, CAST(NULL AS BIGINT), process_id
  FROM asked s CROSS JOIN (SELECT 'own' AS place UNION ALL SELECT 'kernel' AS place UNION ALL SELECT 'method' AS place) c
  WHERE c.place <> 'own' OR process_id <> 0
), located AS (
  SELECT trace, machine, process_id, kind, spot, asker, MAX(island) OVER (
           PARTITION BY trace, machine, process_id, kind ORDER BY spot, asker NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS island
  FROM points
), candidates AS (
  SELECT l.trace, l.machine, l.asker, l.spot AS address, CASE WHEN l.kind = 'method' THEN 'method' WHEN l.process_id = 0 THEN 'kernel' ELSE 'own' END AS place,
         address_span(i.from_ns, i.to_ns, i.base, i.name, i.detail) AS span
  FROM located l JOIN islands i
    ON i.trace = l.trace AND i.machine = l.machine AND i.process_id = l.process_id AND i.kind = l.kind AND i.island = l.island
   AND is_within(l.spot, i.base, i.size)
  WHERE l.asker IS NOT NULL
), places AS (
  SELECT trace, machine, asker, address, array_sort(array_agg(span) FILTER (WHERE place = 'own')) AS own,
         array_sort(array_agg(span) FILTER (WHERE place = 'kernel')) AS kernel, array_sort(array_agg(span) FILTER (WHERE place = 'method')) AS methods
  FROM candidates c
  GROUP BY trace, machine, asker, address
)
