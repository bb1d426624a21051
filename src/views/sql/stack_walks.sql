-- Stacks that the kernel sent as events of their own: by the time and the thread of the event that they belong to, the part in the
-- kernel before that of the program.
--| trace STRING, at_ns BIGINT, thread_id BIGINT, process_id BIGINT, stack LIST, machine BIGINT
WITH rundown AS (
  SELECT * FROM (
    SELECT trace, machine, Key AS stack_key, StackFrame AS frames, ROW_NUMBER() OVER (PARTITION BY trace, machine, Key ORDER BY seq) AS place
    FROM {{Kernel-StackWalk: seq, machine, process_id, thread_id, stack, Key BIGINT, StackFrame LIST}} r WHERE Key IS NOT NULL AND StackFrame IS NOT NULL
  ) ranked WHERE place = 1
), parts AS (
  SELECT trace, machine, EventTimeStamp_ns AS at_ns, StackThread AS thread_id, StackProcess AS process_id, walked AS frames
  FROM {{Kernel-StackWalk [event_name = 'StackWalk/Stack']: seq, machine, process_id, thread_id, stack, EventTimeStamp_ns BIGINT, StackThread BIGINT, StackProcess BIGINT, Stack__field LIST AS walked}} w
  UNION ALL
  SELECT k.trace, k.machine, k.EventTimeStamp_ns, k.StackThread, k.StackProcess, r.frames
  FROM {{Kernel-StackWalk [event_name IN ('StackWalk/StackKeyKernel', 'StackWalk/StackKeyUser')]: seq, machine, process_id, thread_id, stack, EventTimeStamp_ns BIGINT, StackThread BIGINT, StackProcess BIGINT, StackKey BIGINT}} k
  JOIN rundown r ON r.trace = k.trace AND r.machine = k.machine AND r.stack_key = k.StackKey
), joined AS (
  SELECT trace, machine, at_ns, thread_id, MAX(process_id) AS process_id,
         MAX(CASE WHEN first_address(frames) < 0 THEN frames END) AS kernel_part,
         MAX(CASE WHEN first_address(frames) >= 0 THEN frames END) AS user_part
  FROM parts GROUP BY trace, machine, at_ns, thread_id
)
SELECT trace, at_ns, thread_id, process_id,
       CASE WHEN kernel_part IS NULL THEN user_part WHEN user_part IS NULL THEN kernel_part ELSE kernel_part || user_part END AS stack, machine
FROM joined
