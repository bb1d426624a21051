#!/usr/bin/env python3
"""The Python package over a store: traces, outputs, plans and published traces by their addresses, and Spark.

    stores_python.py TRACE ADDRESS FOLDER [--spark]

Started by scripts/check/stores, with the package importable and the variables of a store set. TRACE is a local trace, ADDRESS a place
in the store with the same trace as in/t.etl and many/a.etl, many/b.etl; FOLDER is for local files.
"""

import argparse
import os
import pathlib

import etl2parquet
import pyarrow


def rows(trace, dataset="Kernel-DiskIo"):
    return pyarrow.table(trace.events(dataset))


def whole(local, address, folder):
    """A conversion from and to the store, what is opened there, and all that is asked of it."""
    expected = etl2parquet.open(local)
    told = []
    summary = etl2parquet.convert(f"{address}/in/t.etl", f"{address}/python", progress=told.append)
    assert (summary.exit_code, summary["t"].status) == (0, "published"), summary
    assert summary.document["stores"]["bytes_read"] >= os.path.getsize(local) and told
    recorded, published = etl2parquet.open(f"{address}/in/t.etl"), etl2parquet.open(f"{address}/python/trace=t")
    assert published.folder == f"{address}/python/trace=t", published.folder
    for trace in (recorded, published):
        assert trace.name == "t"
        assert {name: dataset.events for name, dataset in trace.datasets.items()} == {name: dataset.events for name, dataset in expected.datasets.items()}
        assert rows(trace).equals(rows(expected)), trace
    verified = etl2parquet.verify(f"{address}/python")
    assert (verified.traces, verified.findings) == (1, ()), verified
    script = etl2parquet.views(f"{address}/python")
    assert f"{address}/python" in script and "/trace=t/data-" in script
    assert etl2parquet.inspect(f"{address}/in/t.etl").events == etl2parquet.inspect(local).events
    # Converted here, for a question, a page and a viewer.
    question = "SELECT count(*) FROM all_events"
    assert etl2parquet.sql(f"{address}/in/t.etl", question).fetchall() == etl2parquet.sql(local, question).fetchall()
    assert etl2parquet.report(f"{address}/python/trace=t").startswith("<!DOCTYPE html>")
    assert etl2parquet.export(f"{address}/python/trace=t", "folded", folder / "waits.folded", of="waits") == []
    assert etl2parquet.describe(f"{address}/python").traces.count == 1
    try:
        etl2parquet.convert(f"{address}/in/t.etl", f"{address}/python")
        raise AssertionError("a trace that is there is no error")
    except etl2parquet.OutputError as error:
        assert "this trace is there already" in str(error), error


def steps(address):
    """A plan, which other processes find by its address alone."""
    [planned] = etl2parquet.plan(f"{address}/in/t.etl", f"{address}/steps", partition_bytes="64KiB")
    assert planned.folder.startswith(f"{address}/steps/"), planned
    written = [etl2parquet.convert_partition(planned.folder, number) for number in range(planned.partitions)]
    assert planned.partitions > 1 and sum(written) == etl2parquet.inspect(f"{address}/in/t.etl").events, (planned, written)
    done = etl2parquet.commit(planned.folder)
    assert (done.folder, done.status) == (f"{address}/steps/trace=t", "published"), done
    assert rows(etl2parquet.open(done.folder)).num_rows == rows(etl2parquet.open(f"{address}/python/trace=t")).num_rows


def by_spark(local, address):
    """Tasks of Spark convert a folder of the store into another, whole and by partitions, and read its traces."""
    from pyspark.sql import SparkSession

    import etl2parquet.spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = session.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    found = etl2parquet.inspect(local).events
    for out, large in (("spark", etl2parquet.spark.LARGE), ("parts", 1)):
        etl2parquet.spark.LARGE = large
        summary = etl2parquet.spark.convert(session, f"{address}/many/", f"{address}/{out}", partition_bytes="64KiB")
        assert {trace.trace: trace.status for trace in summary.traces} == {"a": "published", "b": "published"}, summary
        assert all(trace.result["events"]["written"] == found for trace in summary.traces)
        assert etl2parquet.verify(f"{address}/{out}").traces == 2
        again = etl2parquet.spark.convert(session, f"{address}/many/", f"{address}/{out}", partition_bytes="64KiB", if_exists="skip")
        assert {trace.status for trace in again.traces} == {"skipped"}, again
        try:
            etl2parquet.spark.convert(session, f"{address}/many/", f"{address}/{out}", partition_bytes="64KiB")
            raise AssertionError("traces that are there are no error")
        except etl2parquet.OutputError as error:
            assert "this trace is there already" in str(error), error
    etl2parquet.spark.register(session)
    expected = rows(etl2parquet.open(local)).num_rows
    for partition_bytes in ({}, {"partition_bytes": "64KiB"}):
        read = session.read.format("etl").options(dataset="Kernel-DiskIo", **partition_bytes).load(f"{address}/many/")
        counts = {row.trace: row["count"] for row in read.groupBy("trace").count().collect()}
        assert counts == {"a": expected, "b": expected}, counts
    session.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("address")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--spark", action="store_true")
    arguments = parser.parse_args()
    whole(arguments.trace, arguments.address, arguments.folder)
    steps(arguments.address)
    if arguments.spark:
        by_spark(arguments.trace, arguments.address)


if __name__ == "__main__":
    main()
