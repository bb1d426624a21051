"""What stands in docs/recipes.md runs, and prints what stands there.

`ETL2PARQUET_RECIPES=write` puts what they print into the page instead.
"""

import contextlib
import io
import os
import re
import shlex
import unittest

import duckdb

import engines
import support

PAGE = os.path.join(support.REPOSITORY, "docs", "recipes.md")

# A recipe, and behind it what it prints. The commands at the top print nothing that counts here.
BLOCK = re.compile(r"^```(sh|sql|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)

WRITE = os.environ.get("ETL2PARQUET_RECIPES") == "write"


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PAGE, encoding="utf-8") as file:
            cls.page = file.read()
        cls.folder = support.temporary_folder("recipes")
        os.symlink(os.path.join(support.REPOSITORY, "examples"), os.path.join(cls.folder, "examples"))
        cls.names = {}

    def sh(self, text):
        for line in text.strip().splitlines():
            program, *arguments = shlex.split(line)
            self.assertEqual(program, "etl2parquet")
            done = support.run(*arguments, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)

    def sql(self, text):
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            print(connection.sql(text))

    def python(self, text):
        if "spark." in text:
            self.names["spark"] = engines.spark()
            # A session stays in the folder that it was started in, which may have been another test's.
            text = text.replace('"out', f'"{self.folder}/out')
        exec(compile(text, PAGE, "exec"), self.names)

    def printed(self, block):
        """What a recipe prints, without blanks at the ends of lines, which no editor keeps."""
        above = "\n" * self.page.count("\n", 0, block.start(2))
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.chdir(self.folder):
            getattr(self, block[1])(above + block[2])
        return "".join(line.rstrip() + "\n" for line in output.getvalue().strip("\n").splitlines())

    def test_every_recipe_prints_what_the_page_says(self):
        blocks = list(BLOCK.finditer(self.page))
        self.assertEqual([block[1] for block in blocks].count("sh"), 1)
        self.assertEqual(sum(block[3] is None for block in blocks), 1, "every recipe but the first has its output below")
        outputs = []
        for block in blocks:
            with self.subTest(recipe=block[2]):
                outputs.append(self.printed(block))
                if not WRITE:
                    self.assertEqual(outputs[-1], block[3] or "")
        if WRITE:
            self.write(blocks, outputs)

    def write(self, blocks, outputs):
        self.assertEqual(len(outputs), len(blocks), "a recipe failed: the page stays as it is")
        behind, parts = 0, []
        for block, output in zip(blocks, outputs, strict=True):
            if block[3] is not None:
                parts += [self.page[behind : block.start(3)], output]
                behind = block.end(3)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("".join([*parts, self.page[behind:]]))

    def test_every_engine_has_recipes(self):
        engines_named = ["DuckDB", "Spark", "Polars", "pandas", "pyarrow", "Delta Lake", "Iceberg"]
        for part in re.split("^## ", self.page, flags=re.MULTILINE)[1:]:
            heading = part.splitlines()[0]
            if heading in engines_named:
                engines_named.remove(heading)
                self.assertRegex(part, BLOCK)
        self.assertEqual(engines_named, [])
