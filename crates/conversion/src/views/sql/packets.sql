-- Packets, one row each: as the first component or interface saw it, with all that it passed. Bytes count once. pktmon numbers packets, so
-- that what several components saw is known to be one; of NDIS every report is a packet.
--| trace STRING, timestamp TIMESTAMP, timestamp_ns BIGINT, seq BIGINT, process_id BIGINT, process_name STRING, thread_id BIGINT,
--| source STRING, direction STRING, is_dropped BOOLEAN, drop_reason BIGINT, drop_reason_name STRING, link_type STRING, bytes BIGINT,
--| logged_bytes BIGINT, protocol_number BIGINT, protocol STRING, source_address STRING, source_port BIGINT,
--| destination_address STRING, destination_port BIGINT, packet_group BIGINT, packet_number BIGINT, reports BIGINT,
--| component_ids LIST, components TEXTS, last_ns BIGINT
SELECT r.trace, r.timestamp, r.timestamp_ns, r.seq, r.process_id, r.process_name, r.thread_id, r.source, r.direction,
       p.drop_reason IS NOT NULL AS is_dropped, p.drop_reason, drop_reason_name(p.drop_reason) AS drop_reason_name, r.link_type, p.bytes,
       p.logged_bytes, p.protocol_number, p.protocol, COALESCE(r.source_address, p.source_address) AS source_address,
       COALESCE(r.source_port, p.source_port) AS source_port, COALESCE(r.destination_address, p.destination_address) AS destination_address,
       COALESCE(r.destination_port, p.destination_port) AS destination_port, r.packet_group, r.packet_number, p.reports, p.component_ids,
       p.components, p.last_ns
FROM (
  SELECT trace, MIN(seq) AS seq, COUNT(*) AS reports, MAX(timestamp_ns) AS last_ns, MAX(drop_reason) AS drop_reason, MAX(bytes) AS bytes,
         MAX(logged_bytes) AS logged_bytes, MAX(protocol_number) AS protocol_number, MAX(protocol) AS protocol,
         MAX(source_address) AS source_address, MAX(source_port) AS source_port, MAX(destination_address) AS destination_address,
         MAX(destination_port) AS destination_port,
         array_sort(array_agg(DISTINCT component_id) FILTER (WHERE component_id IS NOT NULL)) AS component_ids,
         array_sort(array_agg(DISTINCT component) FILTER (WHERE component IS NOT NULL)) AS components
  FROM (
    SELECT e.*, CASE WHEN source = 'pktmon' AND packet_group IS NOT NULL AND packet_number IS NOT NULL THEN 0 ELSE seq END AS alone
    FROM {{view packet_reports}} e
  ) n
  GROUP BY trace, machine, source, packet_group, packet_number, alone
) p
JOIN {{view packet_reports}} r ON r.trace = p.trace AND r.seq = p.seq
