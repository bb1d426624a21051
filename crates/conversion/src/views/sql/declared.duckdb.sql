-- Rows of files and their columns, `name TYPE; name TYPE`: no file is opened to know its columns, nor any of a trace that is not asked
-- for. A column that a file lacks is NULL; `file name` is one that is called FileName, in any case.
CREATE OR REPLACE MACRO parquet_schema(columns) AS
map([split_part(c, ' ', 1) FOR c IN string_split(columns, '; ')],
    [{'name': CASE WHEN c ILIKE 'filename %' THEN 'file name' ELSE split_part(c, ' ', 1) END, 'type': substr(c, strpos(c, ' ') + 1),
      'default_value': NULL} FOR c IN string_split(columns, '; ')]);
