"""A server of the Model Context Protocol over converted traces, for language models that ask them in SQL.

``python -m etl2parquet.mcp OUT`` speaks it on standard input and output, as clients start it; docs/describe.md shows how they are told to.
It needs DuckDB (``pip install etl2parquet[mcp]``), opens no network, and lets nobody write, or read other files.

>>> import etl2parquet.mcp
>>> etl2parquet.mcp.serve.__doc__.split(",")[0]
'Answers a client on two streams'
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import sys
from typing import IO

from . import _native
from ._mcp_protocol import Server
from ._mcp_tools import Traces
from ._read_only import Limits


def serve(traces: str, lines: IO[str], output: IO[str], limits: Limits = Limits()) -> None:
    """Answers a client on two streams, about a converted trace or a folder of such, until the client has no more to say."""
    try:
        version = importlib.metadata.version("etl2parquet")
    except importlib.metadata.PackageNotFoundError:
        version = "unknown"
    Server(Traces(traces, limits, version), output).run(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m etl2parquet.mcp", description="Serve converted traces to a client of the Model Context Protocol, read-only")
    parser.add_argument("out", metavar="OUT", help="a folder with traces, or a trace (trace=NAME)")
    limits = Limits()
    parser.add_argument("--rows", type=_positive, default=limits.rows, help="rows of an answer at most [default: %(default)s]")
    parser.add_argument("--bytes", type=_positive, default=limits.bytes, help="bytes of an answer at most [default: %(default)s]")
    parser.add_argument("--seconds", type=_positive, default=int(limits.seconds), help="seconds that a question may take [default: %(default)s]")
    chosen = parser.parse_args(arguments)
    if importlib.util.find_spec("duckdb") is None:
        parser.error("DuckDB is missing: pip install etl2parquet[mcp]")
    if not _native.is_published(chosen.out):
        parser.error(f"{chosen.out}: expected a folder trace=<name>, or one with such folders in it; etl2parquet convert makes them")
    # Standard output has messages alone, whatever prints.
    output = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    lines = open(0, encoding="utf-8", errors="replace", closefd=False)
    serve(chosen.out, lines, output, Limits(chosen.rows, chosen.bytes, float(chosen.seconds)))
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected a number from 1 on")
    return number


if __name__ == "__main__":
    sys.exit(main())
