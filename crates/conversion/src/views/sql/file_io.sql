-- Operations on files as programs asked for them. `file` is the path of `files`, with the letter of its drive; where an operation names
-- another path (a rename), or `files` has none, as the event has it. What a listing of a folder looks for is no path. A deletion ends
-- what its key meant, so that the path is that of the time before it. Events that say that an operation has ended, or what filters did with it, are no
-- operations.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, operation STRING, process_id BIGINT, process_name STRING,
--| thread_id BIGINT, file STRING, file_key BIGINT, byte_offset BIGINT, bytes BIGINT
SELECT o.trace, o.timestamp, o.timestamp_ns, o.seq, o.operation, o.process_id, o.process_name, o.thread_id,
       CASE WHEN o.is_told THEN COALESCE(f.path, o.file_name) ELSE COALESCE(o.file_name, f.path) END AS file, o.file_key,
       o.byte_offset, o.bytes
FROM (
  SELECT trace, machine, timestamp, timestamp_ns, seq, REPLACE(event_name, 'FileIo/', '') AS operation, process_id, process_name, thread_id,
         COALESCE(FileKey, FileObject) AS file_key, event_name IN ('FileIo/Create', 'FileIo/FileCreate', 'FileIo/FileDelete') AS is_told,
         CASE event_name WHEN 'FileIo/FileDelete' THEN timestamp_ns - 1 ELSE timestamp_ns END AS key_ns,
         CASE WHEN event_name NOT IN ('FileIo/DirEnum', 'FileIo/DirNotify') THEN COALESCE(OpenPath, FileName) END AS file_name,
         byte_offset, IoSize AS bytes
  FROM {{Kernel-FileIo [event_name NOT IN ('FileIo/FileRundown', 'FileIo/Name', 'FileIo/OperationEnd', 'FileIo/MapFileDCStart', 'FileIo/MapFileDCEnd', 'FileIo/PreOpInit', 'FileIo/PostOpInit', 'FileIo/PreOpCompletion', 'FileIo/PostOpCompletion', 'FileIo/PreOpFailure', 'FileIo/PostOpFailure')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_name, FileKey BIGINT, FileObject BIGINT, FileName STRING, OpenPath STRING, Offset BIGINT AS byte_offset, IoSize BIGINT}} k
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq, event_name, process_id, process_name, thread_id, COALESCE(FileKey, FileObject),
         event_name IN ('Create', 'CreateNewFile', 'NameCreate', 'NameDelete'),
         CASE event_name WHEN 'NameDelete' THEN timestamp_ns - 1 ELSE timestamp_ns END,
         CASE WHEN event_name NOT IN ('DirEnum', 'DirNotify') THEN COALESCE(FilePath, FileName) END, ByteOffset, IOSize
  FROM {{Microsoft-Windows-Kernel-File [event_name NOT IN ('OperationEnd')]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_name, FileKey BIGINT, FileObject BIGINT, FilePath STRING, FileName STRING, ByteOffset BIGINT, IOSize BIGINT}} m
) o
LEFT JOIN files f
  ON f.trace = o.trace AND f.machine = o.machine AND f.file_key = o.file_key AND o.key_ns >= f.from_ns AND o.key_ns < f.to_ns
