-- Rows of files and their columns, `name TYPE; name TYPE`: no file is opened to know its columns, nor any of a trace that is not asked
-- for. A column that a file lacks is NULL; `file name` is one that is called FileName, in any case.
CREATE OR REPLACE MACRO parquet_schema(columns) AS
map([split_part(c, ' ', 1) FOR c IN string_split(columns, '; ')],
    [{'name': CASE WHEN c ILIKE 'filename %' THEN 'file name' ELSE split_part(c, ' ', 1) END, 'type': substr(c, strpos(c, ' ') + 1),
      'default_value': NULL} FOR c IN string_split(columns, '; ')]);
CREATE OR REPLACE MACRO part_of_path(file, part) AS
split_part(split_part(replace(file, '\', '/'), '/trace=', -1), '/', part);
CREATE OR REPLACE MACRO parquet_events(files, columns) AS TABLE
SELECT part_of_path(filename, 3) AS provider, * EXCLUDE (filename), part_of_path(filename, 1) AS trace
FROM read_parquet(COALESCE(getvariable('any_file'), [traces_folder() || f FOR f IN files]), filename = true, schema = parquet_schema(columns));
CREATE OR REPLACE MACRO parquet_rows(files, columns) AS TABLE SELECT * EXCLUDE (provider) FROM parquet_events(files, columns);

-- While views are made, each looks at one file instead of all names.
SET VARIABLE any_file = (SELECT [file] FROM glob(traces_folder() || '/trace=*/sidecar/manifest.json') LIMIT 1);
