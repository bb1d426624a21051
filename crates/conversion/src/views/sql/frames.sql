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
  SELECT s.trace, s.machine, s.process_id, s.asker, s.stack_id, s.first_ns, s.last_ns, e.position AS depth, e.element AS address,
         CASE WHEN e.position = 0 OR (e.element >= 0 AND list_item(s.stack, e.position) < 0) THEN e.element
              ELSE GREATEST(e.element, -9223372036854775807) - 1 END AS spot
  FROM stacks s{{elements s.stack}}
), asked AS (
  SELECT DISTINCT trace, machine, asker AS process_id, spot AS address FROM framed
), {{include address_places}}, looked_up AS (
  SELECT f.trace, f.machine, f.process_id, f.stack_id, f.depth, f.address, f.spot, span_at(p.own, f.first_ns) IS NULL AS is_of_kernel,
         CASE WHEN span_at(p.own, f.first_ns) IS NULL THEN span_at(p.kernel, f.first_ns) ELSE span_at(p.own, f.first_ns) END AS image,
         CASE WHEN span_at(p.own, f.last_ns) IS NULL THEN span_at(p.kernel, f.last_ns) ELSE span_at(p.own, f.last_ns) END AS last_image,
         span_at(p.methods, f.first_ns) AS method, span_at(p.methods, f.last_ns) AS last_method
  FROM framed f
  LEFT JOIN places p ON p.trace = f.trace AND p.machine = f.machine AND p.asker = f.asker AND p.address = f.spot
), placed AS (
  SELECT trace, machine, process_id, stack_id, depth, address, spot, is_of_kernel,
         CASE WHEN image_changes THEN NULL ELSE image END AS image, CASE WHEN method IS DISTINCT FROM last_method THEN NULL ELSE method END AS method,
         image_changes OR (image IS NULL AND method IS DISTINCT FROM last_method) AS changes
  FROM (
    SELECT l.*, image.highest IS DISTINCT FROM last_image.highest OR image.detail IS DISTINCT FROM last_image.detail
                OR image.symbol_key IS DISTINCT FROM last_image.symbol_key AS image_changes
    FROM looked_up l
  ) c
), named AS (
  SELECT p.trace, p.machine, p.process_id, p.stack_id, p.depth, p.address, p.changes, p.image.symbol_key AS symbol_key, m.status,
         p.image.name AS module, p.image.detail AS module_path, p.address - (-1 - p.image.highest) AS module_offset,
         p.image IS NOT NULL AS is_in_module,
         CASE WHEN p.changes OR p.method IS NULL THEN NULL WHEN p.method.detail IS NULL THEN p.method.name
              ELSE p.method.detail || COALESCE('.' || p.method.name, '') END AS method,
         -- Addresses of a 32-bit kernel have no sign; its modules say whose they are.
         CASE WHEN p.address < 0 OR (p.image IS NOT NULL AND p.is_of_kernel) THEN 'kernel' WHEN NOT p.changes AND p.method IS NOT NULL THEN 'managed'
              WHEN p.image IS NULL AND p.address BETWEEN 2147483648 AND 4294967295 THEN NULL ELSE 'user' END AS kind,
         COALESCE(y.inline_depth, 0) AS inline_depth, y.name AS symbol, y.file, y.line
  FROM placed p
  LEFT JOIN symbol_modules m ON m.symbol_key = p.image.symbol_key
  LEFT JOIN symbol_functions y
    ON y.pdb_guid = m.pdb_guid AND y.pdb_age = m.pdb_age AND y.rva = p.spot - (-1 - p.image.highest) AND (p.changes OR p.method IS NULL)
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
