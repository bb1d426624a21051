-- One row each time that a component (pktmon) or an interface (NDIS) saw or dropped a packet. Addresses and ports are read from the
-- bytes of Ethernet and IP packets, where those are recorded. The process is the one that ran, which need not be the packet's owner.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, thread_id BIGINT,
--| source STRING, component_id BIGINT, component STRING, direction STRING, drop_reason BIGINT, drop_location BIGINT,
--| link_type STRING, bytes BIGINT, logged_bytes BIGINT, protocol_number BIGINT, protocol STRING, source_address STRING,
--| source_port BIGINT, destination_address STRING, destination_port BIGINT, packet_group BIGINT, packet_number BIGINT, drop_reason_name STRING, machine BIGINT
WITH reports AS (
  SELECT trace, machine, timestamp, timestamp_ns, seq, process_id, process_name, thread_id, 'pktmon' AS source, ComponentId AS component_id,
         CASE WHEN DirTag IN (1, 3, 5) THEN 'received' WHEN DirTag IN (2, 4, 6) THEN 'sent' END AS direction,
         NULLIF(DropReason, 0) AS drop_reason, NULLIF(DropLocation, 0) AS drop_location,
         CASE PacketType WHEN 1 THEN 'ethernet' WHEN 2 THEN 'wifi' WHEN 3 THEN 'ip' END AS link_type,
         OriginalPayloadSize AS bytes, LoggedPayloadSize AS logged_bytes, PktGroupId AS packet_group,
         COALESCE(PktNumber, PktCount) AS packet_number, Protocol AS protocol,
         CASE WHEN event_id IN (160, 170, 240) THEN hex(frame) END AS octets, CAST(NULL AS STRING) AS interface
  FROM {{Microsoft-Windows-PktMon [event_id IN (120, 130, 140, 150, 160, 170, 200, 210, 220, 230, 240)]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_id, keywords, ComponentId BIGINT, DirTag BIGINT, DropReason BIGINT, DropLocation BIGINT, PacketType BIGINT, OriginalPayloadSize BIGINT, LoggedPayloadSize BIGINT, PktGroupId BIGINT, PktNumber BIGINT, PktCount BIGINT, Protocol BIGINT, Payload__field BINARY AS frame}} p
  UNION ALL
  SELECT trace, machine, timestamp, timestamp_ns, seq, process_id, process_name, thread_id, 'ndis', MiniportIfIndex,
         CASE WHEN (keywords & 8589934592) <> 0 THEN 'received' WHEN (keywords & 4294967296) <> 0 THEN 'sent' END,
         CAST(NULL AS BIGINT), CAST(NULL AS BIGINT),
         CASE WHEN (keywords & 1) <> 0 THEN 'ethernet' WHEN (keywords & 65536) <> 0 THEN 'wifi'
              WHEN (keywords & 33280) <> 0 THEN 'ip' END,
         FragmentSize, FragmentSize, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT),
         CASE WHEN (keywords & 1073741824) <> 0 THEN hex(Fragment) END, SourceNicName
  FROM {{Microsoft-Windows-NDIS-PacketCapture [event_id IN (1001, 1003)]: timestamp, timestamp_ns, seq, machine, process_id, process_name, thread_id, event_id, keywords, MiniportIfIndex BIGINT, FragmentSize BIGINT, Fragment BINARY, SourceNicName STRING}} n
), links AS (
  SELECT r.*, CASE WHEN link_type = 'ip' THEN 1 WHEN link_type = 'ethernet' AND SUBSTR(octets, 25, 4) = '8100' THEN 37
                   WHEN link_type = 'ethernet' THEN 29 END AS start
  FROM reports r
), layers AS (
  SELECT l.*, CASE WHEN SUBSTR(octets, start, 1) = '4' AND (link_type = 'ip' OR SUBSTR(octets, start - 4, 4) = '0800') THEN 4
                   WHEN SUBSTR(octets, start, 1) = '6' AND (link_type = 'ip' OR SUBSTR(octets, start - 4, 4) = '86DD') THEN 6
              END AS ip_version
  FROM links l
), headers AS (
  SELECT y.*, SUBSTR(octets, start + CASE ip_version WHEN 4 THEN 18 ELSE 12 END, 2) AS transport,
         SUBSTR(octets, start + CASE ip_version WHEN 4 THEN 24 ELSE 16 END, CASE ip_version WHEN 4 THEN 8 ELSE 32 END) AS source_octets,
         SUBSTR(octets, start + CASE ip_version WHEN 4 THEN 32 ELSE 48 END, CASE ip_version WHEN 4 THEN 8 ELSE 32 END) AS target_octets,
         CASE ip_version WHEN 4 THEN start + 8 * hex_number(SUBSTR(octets, start + 1, 1)) WHEN 6 THEN start + 80 END AS ports,
         ip_version = 6 OR (hex_number(SUBSTR(octets, start + 12, 4)) & 8191) = 0 AS is_first_fragment
  FROM layers y
)
SELECT h.trace, h.timestamp, h.timestamp_ns, h.seq, h.process_id, h.process_name, h.thread_id, h.source, h.component_id,
       COALESCE(c.name, h.interface) AS component, h.direction, h.drop_reason, h.drop_location, h.link_type, h.bytes, h.logged_bytes,
       COALESCE(h.protocol, CASE WHEN h.ip_version IS NOT NULL THEN hex_number(h.transport) END) AS protocol_number,
       CASE COALESCE(h.protocol, CASE WHEN h.ip_version IS NOT NULL THEN hex_number(h.transport) END)
            WHEN 1 THEN 'icmp' WHEN 6 THEN 'tcp' WHEN 17 THEN 'udp' WHEN 58 THEN 'icmpv6' END AS protocol,
       CASE h.ip_version WHEN 4 THEN ipv4_text(h.source_octets) WHEN 6 THEN ipv6_text(h.source_octets) END AS source_address,
       CASE WHEN h.is_first_fragment AND h.transport IN ('06', '11') THEN hex_number(SUBSTR(h.octets, h.ports, 4)) END AS source_port,
       CASE h.ip_version WHEN 4 THEN ipv4_text(h.target_octets) WHEN 6 THEN ipv6_text(h.target_octets) END AS destination_address,
       CASE WHEN h.is_first_fragment AND h.transport IN ('06', '11') THEN hex_number(SUBSTR(h.octets, h.ports + 4, 4)) END
         AS destination_port,
       h.packet_group, h.packet_number, drop_reason_name(h.drop_reason) AS drop_reason_name, h.machine
FROM headers h
LEFT JOIN (
  SELECT trace, machine, Id AS component_id, MAX(Name) AS name
  FROM {{Microsoft-Windows-PktMon: timestamp, timestamp_ns, seq, machine, process_id, thread_id, event_id, keywords, Id BIGINT, Name STRING}} d WHERE event_id IN (20, 270) GROUP BY trace, machine, Id
) c ON c.trace = h.trace AND c.machine = h.machine AND c.component_id = h.component_id AND h.source = 'pktmon'
