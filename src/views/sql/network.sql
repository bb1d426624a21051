-- TCP and UDP by process: addresses and bytes. A copy of received bytes is an event of its own and counts no bytes twice:
-- sum over `sent` and `received` only.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, protocol STRING, operation STRING, direction STRING,
--| process_id BIGINT, process_name STRING, source_address STRING, source_port BIGINT, destination_address STRING,
--| destination_port BIGINT, bytes BIGINT, connection BIGINT
SELECT n.trace, n.timestamp, n.timestamp_ns, n.seq, n.protocol, n.operation,
       CASE WHEN n.operation LIKE '%Send%' OR n.operation LIKE '%OPCODE_SEND%' THEN 'sent'
            WHEN n.operation LIKE '%Recv%' OR n.operation LIKE '%OPCODE_RECV%' THEN 'received'
            ELSE 'other' END AS direction,
       n.PID AS process_id, p.image_name AS process_name, n.saddr AS source_address, n.sport AS source_port,
       n.daddr AS destination_address, n.dport AS destination_port, n.size AS bytes, n.connid AS connection
FROM (
  SELECT trace, machine, timestamp, timestamp_ns, seq, 'tcp' AS protocol, REPLACE(event_name, 'TcpIp/', '') AS operation, PID,
         saddr, sport, daddr, dport, size, connid
  FROM {{Kernel-TcpIp [*]: timestamp, timestamp_ns, seq, machine, process_id, event_name, PID BIGINT, saddr STRING, sport BIGINT, daddr STRING, dport BIGINT, size BIGINT, connid BIGINT}} t
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq, 'udp', REPLACE(event_name, 'UdpIp/', ''), PID, saddr, sport, daddr, dport, size, connid
  FROM {{Kernel-UdpIp [*]: timestamp, timestamp_ns, seq, machine, process_id, event_name, PID BIGINT, saddr STRING, sport BIGINT, daddr STRING, dport BIGINT, size BIGINT, connid BIGINT}} u
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq, CASE WHEN event_name LIKE 'KERNEL_NETWORK_TASK_UDPIP/%' THEN 'udp' ELSE 'tcp' END,
         event_name, PID, saddr, sport, daddr, dport, size, connid
  FROM {{Microsoft-Windows-Kernel-Network [*]: timestamp, timestamp_ns, seq, machine, process_id, event_name, PID BIGINT, saddr STRING, sport BIGINT, daddr STRING, dport BIGINT, size BIGINT, connid BIGINT}} k
) n
LEFT JOIN processes p
  ON p.trace = n.trace AND p.machine = n.machine AND p.process_id = n.PID AND n.timestamp_ns >= p.from_ns AND n.timestamp_ns < p.to_ns
