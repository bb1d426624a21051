CREATE OR REPLACE MACRO parquet_events(files, columns) AS TABLE
SELECT split_part(substr(replace(filename, '\', '/'), length(traces_folder()) + 2), '/', 2) AS provider, * EXCLUDE (filename, trace), trace
FROM read_parquet(COALESCE(getvariable('any_file'), [traces_folder() || f FOR f IN files]), filename = true,
                  hive_partitioning = false, schema = parquet_schema('trace VARCHAR; ' || columns));
CREATE OR REPLACE MACRO parquet_rows(files, columns) AS TABLE SELECT * EXCLUDE (provider) FROM parquet_events(files, columns);

-- While views are made, each looks at one file instead of all names.
SET VARIABLE any_file = [traces_folder() || '/lake.json'];
