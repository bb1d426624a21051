-- TCP and UDP by process: addresses and bytes. A copy of received bytes is an event of its own and counts no bytes twice:
-- sum over `sent` and `received` only. Windows writes the recorded machine's own end of a TCP connection into `saddr` and `sport`, for what
-- was received, too. Of a received datagram `saddr` is now the own end, now the sender, so that the two ends cannot be distinguished.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, protocol STRING, operation STRING, direction STRING,
--| process_id BIGINT, process_name STRING, local_address STRING, local_port BIGINT, remote_address STRING, remote_port BIGINT,
--| source_address STRING, source_port BIGINT, destination_address STRING, destination_port BIGINT, bytes BIGINT, connection BIGINT
SELECT n.trace, n.timestamp, n.timestamp_ns, n.seq, n.protocol, n.operation, n.direction, n.PID AS process_id, p.image_name AS process_name,
       CASE WHEN n.own_end = 'saddr' THEN n.saddr END AS local_address,
       CASE n.own_end WHEN 'saddr' THEN n.sport WHEN 'group' THEN n.dport END AS local_port,
       CASE n.own_end WHEN 'saddr' THEN n.daddr WHEN 'group' THEN n.saddr END AS remote_address,
       CASE n.own_end WHEN 'saddr' THEN n.dport WHEN 'group' THEN n.sport END AS remote_port,
       CASE WHEN n.own_end = 'group' OR n.direction = 'sent' THEN n.saddr WHEN n.own_end = 'saddr' AND n.direction = 'received' THEN n.daddr END
         AS source_address,
       CASE WHEN n.own_end = 'group' OR n.direction = 'sent' THEN n.sport WHEN n.own_end = 'saddr' AND n.direction = 'received' THEN n.dport END
         AS source_port,
       CASE WHEN n.own_end = 'group' OR n.direction = 'sent' THEN n.daddr WHEN n.own_end = 'saddr' AND n.direction = 'received' THEN n.saddr END
         AS destination_address,
       CASE WHEN n.own_end = 'group' OR n.direction = 'sent' THEN n.dport WHEN n.own_end = 'saddr' AND n.direction = 'received' THEN n.sport END
         AS destination_port,
       n.size AS bytes, n.connid AS connection
FROM (
  SELECT o.*, CASE WHEN protocol = 'tcp' OR direction = 'sent' THEN 'saddr'
                   WHEN direction = 'received' AND (daddr LIKE 'ff%:%' OR daddr = '255.255.255.255'
                     OR SUBSTR(daddr, 1, 4) IN ('224.', '225.', '226.', '227.', '228.', '229.', '230.', '231.', '232.', '233.', '234.',
                                                '235.', '236.', '237.', '238.', '239.')) THEN 'group' END AS own_end
  FROM (
    SELECT u.*, CASE WHEN operation LIKE '%Send%' OR operation LIKE '%OPCODE_SEND%' THEN 'sent'
                     WHEN operation LIKE '%Recv%' OR operation LIKE '%OPCODE_RECV%' THEN 'received'
                     ELSE 'other' END AS direction
    FROM (
      SELECT trace, machine, timestamp, timestamp_ns, seq, 'tcp' AS protocol, REPLACE(event_name, 'TcpIp/', '') AS operation, PID,
             saddr, sport, daddr, dport, size, connid
      FROM {{Kernel-TcpIp [*]: timestamp, timestamp_ns, seq, machine, process_id, event_name, PID BIGINT, saddr STRING, sport BIGINT, daddr STRING, dport BIGINT, size BIGINT, connid BIGINT}} t
      UNION ALL
      SELECT trace, machine, timestamp, timestamp_ns, seq, 'udp', REPLACE(event_name, 'UdpIp/', ''), PID, saddr, sport, daddr, dport, size, connid
      FROM {{Kernel-UdpIp [*]: timestamp, timestamp_ns, seq, machine, process_id, event_name, PID BIGINT, saddr STRING, sport BIGINT, daddr STRING, dport BIGINT, size BIGINT, connid BIGINT}} d
      UNION ALL
      SELECT trace, machine, timestamp, timestamp_ns, seq, CASE WHEN event_name LIKE 'KERNEL_NETWORK_TASK_UDPIP/%' THEN 'udp' ELSE 'tcp' END,
             event_name, PID, saddr, sport, daddr, dport, size, connid
      FROM {{Microsoft-Windows-Kernel-Network [*]: timestamp, timestamp_ns, seq, machine, process_id, event_name, PID BIGINT, saddr STRING, sport BIGINT, daddr STRING, dport BIGINT, size BIGINT, connid BIGINT}} k
    ) u
  ) o
) n
LEFT JOIN processes p
  ON p.trace = n.trace AND p.machine = n.machine AND p.process_id = n.PID AND n.timestamp_ns >= p.from_ns AND n.timestamp_ns < p.to_ns
