CREATE OR REPLACE MACRO part_of_path(file, part) AS
split_part(split_part(replace(file, '\', '/'), '/trace=', -1), '/', part);
CREATE OR REPLACE MACRO parquet_events(files, columns) AS TABLE
SELECT part_of_path(filename, 3) AS provider, * EXCLUDE (filename), part_of_path(filename, 1) AS trace
FROM read_parquet(COALESCE(getvariable('any_file'), [traces_folder() || f FOR f IN files]), filename = true, schema = parquet_schema(columns));
CREATE OR REPLACE MACRO parquet_rows(files, columns) AS TABLE SELECT * EXCLUDE (provider) FROM parquet_events(files, columns);

-- While views are made, each looks at one file instead of all names.
SET VARIABLE any_file = (SELECT [file] FROM glob(traces_folder() || '/trace=*/sidecar/manifest.json') LIMIT 1);
