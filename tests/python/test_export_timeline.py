"""Timelines, read by readers of CSV and JSON that this program does not know, and held to the rows of the dataset."""

import contextlib
import csv
import datetime
import gzip
import io
import json
import os
import unittest

import duckdb
import support
from made import add_dataset

# What Timesketch demands of every row (its importer refuses a file without one of them).
DEMANDED = ["message", "datetime", "timestamp_desc"]
MANAGED = "perfview-net.4.5.x86-old.etl"


def setUpModule():
    global FILES, EXAMPLE
    FILES = support.temporary_folder("timeline")
    EXAMPLE = convert("example", support.EXAMPLE)


def run(*arguments, expected=0):
    done = support.run(*arguments)
    assert done.returncode == expected, (arguments, done.returncode, done.stderr)
    return done


def convert(name, *arguments):
    out = os.path.join(FILES, name)
    run("convert", *arguments, "-o", out, "-q")
    return out


def lines(out, *options, form="timeline"):
    return run("export", out, "--format", form, "-q", *options).stdout


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def events(out, select, where="TRUE"):
    with contextlib.closing(duckdb.connect()) as connection:
        return connection.execute(f"""
            SELECT {select} FROM read_parquet('{out}/trace=*/events/**/*.parquet', union_by_name = true, filename = 'of_file')
            WHERE {where} ORDER BY seq""").fetchall()


def nanoseconds(text):
    """Of an ISO time with nine decimals."""
    whole, decimals = text.removesuffix("Z").split(".")
    seconds = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    assert len(decimals) == 9
    return int(seconds) * 1_000_000_000 + int(decimals)


def value(text):
    return None if text == "" else text


class Timeline(unittest.TestCase):
    def check(self, out):
        text = lines(out)
        rows = rows_of(text)
        self.assertEqual(list(rows[0])[:3], DEMANDED)
        self.assertEqual(len(rows), text.count("\n") - 1, "an event is a line")
        select = """seq, timestamp_ns, event_name, event_id, process_name, process_id, thread_id, cpu,
            regexp_extract(of_file, 'events/([^/]+)/', 1)"""
        expected = [tuple(None if cell is None else str(cell) for cell in row) for row in events(out, select)]
        found = [
            (
                row["seq"], str(nanoseconds(row["datetime"])), value(row["event_name"]), value(row["event_id"]), value(row["process_name"]),
                value(row["process_id"]), value(row["thread_id"]), value(row["cpu"]), row["dataset"].split("/")[0],
            )
            for row in rows
        ]
        self.assertEqual(found, expected)
        self.assertTrue(all(row["message"] and row["timestamp_desc"] == "Event Time" for row in rows))
        return rows

    def test_lines_are_the_rows_in_their_order(self):
        self.check(EXAMPLE)
        self.check(convert("by-event", support.EXAMPLE, "--layout", "event"))

    def test_lines_of_a_real_trace(self):
        self.check(convert("real", os.path.join(support.corpus_or_skip(), MANAGED)))

    def test_objects_say_the_same_as_lines(self):
        plain = rows_of(lines(EXAMPLE))
        objects = [json.loads(line) for line in lines(EXAMPLE, form="timeline-jsonl").splitlines()]
        self.assertEqual(len(objects), len(plain))
        for row, found in zip(plain, objects):
            # In CSV what controls a terminal is a blank.
            texts = {name: "".join(" " if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in str(cell)) for name, cell in found.items()}
            self.assertEqual(texts, {name: cell for name, cell in row.items() if name in found})
            self.assertTrue(all(cell == "" for name, cell in row.items() if name not in found))
        self.assertTrue(all(isinstance(found["seq"], int) for found in objects))

    def test_messages_are_the_fields_in_the_order_of_columns(self):
        out = convert("made", support.EXAMPLE)
        made = {
            "event_name": "Shop/Sold", "process_name": "=cmd.exe", "Item": 'a,"b"\r\n\x1b[1m', "Count": -7, "Bytes": b"\x00\xff", "Long": "x" * 9000,
        }
        add_dataset(os.path.join(out, "trace=example"), "Shop", [made, {"event_name": None, "event_id": 5}])
        rows = [row for row in rows_of(lines(out)) if row["dataset"] == "Shop"]
        message = 'Shop/Sold: Item=a,"b"   [1m Count=-7 Bytes=00ff Long='
        self.assertEqual(rows[0]["message"][: len(message)], message)
        self.assertTrue(rows[0]["message"].endswith("x…") and len(rows[0]["message"].encode()) <= 4099)
        self.assertEqual((rows[1]["message"], rows[1]["event_id"], rows[1]["datetime"]), ("event 5", "5", "1970-01-01T00:00:00.000000001Z"))
        objects = [json.loads(line) for line in lines(out, form="timeline-jsonl").splitlines()]
        self.assertIn('Item=a,"b"\r\n\x1b[1m Count', next(o for o in objects if o["dataset"] == "Shop")["message"])

    def test_filters_are_those_of_convert(self):
        seqs = [row["seq"] for row in rows_of(lines(EXAMPLE, "--provider", "Kernel-*"))]
        expected = events(EXAMPLE, "seq", "regexp_extract(of_file, 'events/([^/]+)/', 1) LIKE 'Kernel-%'")
        self.assertEqual(seqs, [str(seq) for (seq,) in expected])
        self.assertTrue(seqs)
        process = events(EXAMPLE, "process_id", "process_id > 0")[0][0]
        seqs = [row["seq"] for row in rows_of(lines(EXAMPLE, "--pid", process))]
        self.assertEqual(seqs, [str(seq) for (seq,) in events(EXAMPLE, "seq", f"process_id = {process}")])
        nothing = run("export", EXAMPLE, "--format", "timeline", "--pid", "4294967294", expected=5)
        self.assertEqual(nothing.stdout, "")

    def test_a_file_that_is_called_gz_is_compressed(self):
        path = os.path.join(FILES, "example.csv.gz")
        run("export", EXAMPLE, "--format", "timeline", "-o", path, "-q")
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            self.assertEqual(file.read(), lines(EXAMPLE))

    def test_the_same_trace_is_the_same_bytes_converted_or_not(self):
        self.assertEqual(lines(support.EXAMPLE), lines(EXAMPLE, "--threads", "1"))


if __name__ == "__main__":
    unittest.main()
