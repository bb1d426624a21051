-- Frames of stacks: each stack of a process once, each frame of it a row, from the leaf on (`depth` 0). A return address is looked up one byte
-- before, where the call is. A stack recurs: what an address means differently at the first and the last time is unknown.
--| trace STRING, process_id BIGINT, stack_id BIGINT, frame BIGINT, depth BIGINT, inline_depth BIGINT, address BIGINT, module STRING,
--| module_path STRING, module_offset BIGINT, function STRING, kind STRING, file STRING, line BIGINT, is_first BOOLEAN,
--| unknown_because STRING, machine BIGINT
WITH stacks AS {{inline}}(
  SELECT trace, machine, process_id, COALESCE(process_id, -1) AS asker, stack_id, MIN(timestamp_ns) AS first_ns, MAX(timestamp_ns) AS last_ns,
         MIN(stack) AS stack
  FROM {{include stacked_events}} e
  GROUP BY trace, machine, process_id, stack_id
), framed AS {{inline}}(
  -- The leaf, and the first frame of the program below those of the kernel, is where the thread was; the others are where calls return to.
  SELECT trace, machine, process_id, asker, stack_id, first_ns, last_ns, position AS depth, element AS address,
         CASE WHEN position = 0 OR (element >= 0 AND list_item(stack, position) < 0) THEN element
              ELSE GREATEST(element, -9223372036854775807) - 1 END AS spot
  FROM (SELECT s.*, {{elements s.stack}} FROM stacks s) e
), asked AS (
  SELECT DISTINCT trace, machine, asker AS process_id, spot AS address FROM framed
), {{include address_places}}, looked_up AS (
  SELECT trace, machine, process_id, stack_id, depth, address, spot, method, last_method,
         CASE WHEN own IS NULL THEN kernel ELSE own END AS image, CASE WHEN own IS NULL THEN 0 ELSE asker END AS image_process,
         CASE WHEN last_own IS NULL THEN last_kernel ELSE last_own END AS last_image, CASE WHEN last_own IS NULL THEN 0 ELSE asker END AS last_process
  FROM (
    SELECT f.*, span_at(p.own, f.first_ns) AS own, span_at(p.kernel, f.first_ns) AS kernel, span_at(p.methods, f.first_ns) AS method,
           span_at(p.own, f.last_ns) AS last_own, span_at(p.kernel, f.last_ns) AS last_kernel, span_at(p.methods, f.last_ns) AS last_method
    FROM framed f
    LEFT JOIN places p ON p.trace = f.trace AND p.machine = f.machine AND p.asker = f.asker AND p.address = f.spot
  ) s
), identities AS {{inline}}(
  -- What a module is known by; not where one that is at the same place from the same time on is known by something else.
  SELECT trace, machine, process_id, base, from_ns, path, CASE WHEN MIN(symbol_key) = MAX(symbol_key) THEN MIN(symbol_key) END AS symbol_key
  FROM (SELECT m.*, symbol_key(pdb_guid, pdb_age, file_name, time_stamp, size) AS symbol_key FROM images m) k
  GROUP BY trace, machine, process_id, base, from_ns, path
), placed AS (
  SELECT trace, machine, process_id, stack_id, depth, address, spot, image_process, symbol_key,
         CASE WHEN image_changes THEN NULL ELSE image END AS image, CASE WHEN method IS DISTINCT FROM last_method THEN NULL ELSE method END AS method,
         image_changes OR (image IS NULL AND method IS DISTINCT FROM last_method) AS changes
  FROM (
    SELECT l.*, i.symbol_key, l.image.highest IS DISTINCT FROM l.last_image.highest OR l.image.name IS DISTINCT FROM l.last_image.name
                OR i.symbol_key IS DISTINCT FROM j.symbol_key AS image_changes
    FROM looked_up l
    LEFT JOIN identities i
      ON i.trace = l.trace AND i.machine = l.machine AND i.process_id = l.image_process AND i.base = -1 - l.image.highest
     AND i.from_ns = -1 - l.image.newest AND i.path IS NOT DISTINCT FROM l.image.detail
    LEFT JOIN identities j
      ON j.trace = l.trace AND j.machine = l.machine AND j.process_id = l.last_process AND j.base = -1 - l.last_image.highest
     AND j.from_ns = -1 - l.last_image.newest AND j.path IS NOT DISTINCT FROM l.last_image.detail
  ) c
), named AS (
  SELECT p.trace, p.machine, p.process_id, p.stack_id, p.depth, p.address, p.changes, p.symbol_key, m.status,
         p.image.name AS module, p.image.detail AS module_path, p.address - (-1 - p.image.highest) AS module_offset,
         p.image IS NOT NULL AS is_in_module,
         CASE WHEN p.changes OR p.method IS NULL THEN NULL WHEN p.method.detail IS NULL THEN p.method.name
              ELSE p.method.detail || COALESCE('.' || p.method.name, '') END AS method,
         -- Addresses of a 32-bit kernel have no sign; its modules say whose they are.
         CASE WHEN p.address < 0 OR (p.image IS NOT NULL AND p.image_process = 0) THEN 'kernel' WHEN NOT p.changes AND p.method IS NOT NULL THEN 'managed'
              WHEN p.image IS NULL AND p.address BETWEEN 2147483648 AND 4294967295 THEN NULL ELSE 'user' END AS kind,
         COALESCE(y.inline_depth, 0) AS inline_depth, y.name AS symbol, COALESCE(y.file, l.file) AS file, COALESCE(y.line, l.line) AS line
  FROM placed p
  LEFT JOIN symbol_modules m ON p.image IS NOT NULL AND m.symbol_key = p.symbol_key
  LEFT JOIN symbol_functions y
    ON y.pdb_guid = m.pdb_guid AND y.pdb_age = m.pdb_age AND y.rva = p.spot - (-1 - p.image.highest) AND (p.changes OR p.method IS NULL)
  LEFT JOIN method_lines l
    ON l.trace = p.trace AND l.machine = p.machine AND l.process_id = p.process_id AND l.base = -1 - p.method.highest
   AND l.from_ns = -1 - p.method.newest AND l.address = p.spot AND NOT p.changes
)
SELECT trace, process_id, stack_id,
       ROW_NUMBER() OVER (PARTITION BY trace, machine, process_id, stack_id ORDER BY depth, inline_depth DESC) - 1 AS frame,
       depth, inline_depth, address, module, module_path, module_offset, COALESCE(method, symbol) AS function, kind, file, line,
       ROW_NUMBER() OVER (PARTITION BY trace, machine, process_id, stack_id, module, COALESCE(method, symbol) ORDER BY depth, inline_depth DESC) = 1 AS is_first,
       CASE WHEN COALESCE(method, symbol) IS NOT NULL THEN NULL
            WHEN changes THEN 'changed'
            WHEN NOT is_in_module AND process_id IS NULL AND address >= 0 THEN 'no process'
            WHEN NOT is_in_module THEN 'in no module'
            WHEN symbol_key IS NULL THEN 'no identity'
            WHEN status IS NULL THEN 'not asked'
            WHEN status = 'found' THEN 'no symbol'
            ELSE status END AS unknown_because, machine
FROM named n
