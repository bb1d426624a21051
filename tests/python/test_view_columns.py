"""docs/view-columns.md has every column of every view, as DuckDB describes them, with a unit and a meaning."""

import contextlib
import os
import unittest

import support
from engines import duckdb_with, quoted

MEANINGS = os.path.join(support.REPOSITORY, "crates", "conversion", "src", "views", "sql", "columns.txt")
PAGE = os.path.join(support.REPOSITORY, "docs", "view-columns.md")
HEAD = """# Columns of views

What each column of the [views](views.md) holds. The columns of `all_events` and of datasets are in
[columns.md](columns.md), the sidecar's in [sidecar.md](sidecar.md). Types are DuckDB's; a column that a trace lacks is NULL. Addresses are signed numbers.
"""


def meanings():
    """Unit and meaning of each name, or view and name."""
    with open(MEANINGS, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" | ", 2) for line in file if not line.startswith("#")]
    found = {name: (unit.strip(" |"), meaning) for name, unit, meaning in ([*line[:1], *split(line[1:])] for line in lines)}
    assert len(found) == len(lines), "a column is told twice"
    return found


def split(rest):
    """An empty unit leaves two bars side by side."""
    return rest if len(rest) == 2 else rest[0].split("| ", 1)


def described():
    """Columns and types of the views of the example, by view."""
    out = support.convert([support.EXAMPLE], support.temporary_folder("view-columns"), "--quiet")
    with contextlib.closing(duckdb_with(out)) as connection:
        names = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND view_name NOT LIKE '%/%' ORDER BY 1"
        views = [name for (name,) in connection.execute(names).fetchall()]
        datasets = set(os.listdir(os.path.join(out, "trace=example", "events")))
        answers = [view for view in views if view not in datasets | {"all_events", "missing"}]
        return {view: connection.execute(f"DESCRIBE {quoted(view)}").fetchall() for view in answers}


def page(views, told, used):
    """The page, of views and meanings; adds the names that are used."""
    parts = [HEAD]
    for view, columns in views.items():
        rows = []
        for name, kind, *_ in columns:
            key = f"{view}.{name}" if f"{view}.{name}" in told else name
            used.add(key)
            unit, meaning = told[key]
            rows.append(f"| `{name}` | {kind} | {unit} | {meaning} |\n")
        parts.append(f"\n## {view}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n{''.join(rows)}")
    return "".join(parts)


class Columns(unittest.TestCase):
    def test_the_page_has_every_column(self):
        views, told, used = described(), meanings(), set()
        self.assertGreater(len(views), 30)
        text = page(views, told, used)
        if os.environ.get("ETL2PARQUET_COLUMNS") == "write":
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(text)
        with open(PAGE, encoding="utf-8") as file:
            self.assertEqual(file.read(), text, "ETL2PARQUET_COLUMNS=write writes the page anew")
        self.assertEqual(set(told) - used, set(), "meanings without a column")

    def test_nanoseconds_and_bytes_have_their_unit(self):
        for key, (unit, meaning) in meanings().items():
            with self.subTest(key):
                name = key.split(".")[-1]
                self.assertEqual(unit == "ns", name.endswith("_ns"))
                self.assertLessEqual(name.endswith("bytes"), unit == "bytes")
                self.assertTrue(meaning)


if __name__ == "__main__":
    unittest.main()
