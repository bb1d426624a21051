-- Events of services: services that existed (`listed`), changes of their state, controls, starts, changes of their configuration.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, what STRING, service_name STRING, display_name STRING,
--| state STRING, process_id BIGINT, process_name STRING, service_tag BIGINT, start_type BIGINT, control_code BIGINT,
--| client_process_id BIGINT, client_process_name STRING
SELECT s.trace, s.timestamp, s.timestamp_ns, s.seq, s.what, s.service_name, s.display_name,
       CASE s.state WHEN 1 THEN 'stopped' WHEN 2 THEN 'start pending' WHEN 3 THEN 'stop pending' WHEN 4 THEN 'running'
            WHEN 5 THEN 'continue pending' WHEN 6 THEN 'pause pending' WHEN 7 THEN 'paused' END AS state,
       s.process_id, COALESCE(p.image_name, s.image) AS process_name, s.service_tag, s.start_type, s.control_code,
       s.client_process_id, c.image_name AS client_process_name
FROM (
  SELECT trace, machine, timestamp, timestamp_ns, seq, 'listed' AS what, ServiceName AS service_name, DisplayName AS display_name,
         ServiceState AS state, NULLIF(for_process, 0) AS process_id, NULLIF(ProcessName, '') AS image, SubProcessTag AS service_tag,
         CAST(NULL AS BIGINT) AS start_type, CAST(NULL AS BIGINT) AS control_code, CAST(NULL AS BIGINT) AS client_process_id
  FROM {{Kernel-SystemConfig [event_name = 'SystemConfig/Services']: timestamp, timestamp_ns, seq, machine, process_id, event_id, ServiceName STRING, DisplayName STRING, ProcessName STRING, ServiceState BIGINT, ProcessId BIGINT AS for_process, SubProcessTag BIGINT}} k
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq,
         CASE event_id WHEN 105 THEN 'state' WHEN 200 THEN 'control' WHEN 204 THEN 'start' WHEN 205 THEN 'start' ELSE 'configuration' END,
         ServiceName, DisplayName, CurrentState, NULLIF(PID, 0), ImageName, CAST(NULL AS BIGINT), COALESCE(StartType, NewStartType),
         ControlCode, ClientProcessId
  FROM {{Microsoft-Windows-Services [event_id IN (105, 200, 201, 202, 203, 204, 205)]: timestamp, timestamp_ns, seq, machine, process_id, event_id, ServiceName STRING, DisplayName STRING, CurrentState BIGINT, PID BIGINT, ImageName STRING, StartType BIGINT, NewStartType BIGINT, ControlCode BIGINT, ClientProcessId BIGINT}} m
) s
LEFT JOIN processes p
  ON p.trace = s.trace AND p.machine = s.machine AND p.process_id = s.process_id AND s.timestamp_ns >= p.from_ns AND s.timestamp_ns < p.to_ns
LEFT JOIN processes c
  ON c.trace = s.trace AND c.machine = s.machine AND c.process_id = s.client_process_id AND s.timestamp_ns >= c.from_ns AND s.timestamp_ns < c.to_ns
