-- Processes, each row with the time in which its id meant it.
--| trace STRING, process_id BIGINT, unique_process_key BIGINT, parent_process_id BIGINT, image_name STRING, image_path STRING,
--| command_line STRING, user_sid STRING, session_id BIGINT, package_name STRING, started_ns BIGINT, ended_ns BIGINT,
--| from_ns BIGINT, to_ns BIGINT, exit_status BIGINT, is_64_bit BOOLEAN, is_defunct BOOLEAN, source_of STRING, machine BIGINT
SELECT s.* FROM {{sidecar/processes [*]: process_id BIGINT, unique_process_key BIGINT, parent_process_id BIGINT, image_name STRING, image_path STRING, command_line STRING, user_sid STRING, session_id BIGINT, package_name STRING, started_ns BIGINT, ended_ns BIGINT, from_ns BIGINT, to_ns BIGINT, exit_status BIGINT, is_64_bit BOOLEAN, is_defunct BOOLEAN, source_of STRING, machine}} s
