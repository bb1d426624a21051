#!/usr/bin/env python3
"""Ends a Python process without taking apart what native libraries hold.

Now and then Arrow's threads abort a process that has done all its work: "terminate called without an active exception", after
the last line of its output (apache/arrow#34314). What was registered for the end still runs: files are removed, Spark stops.

    python3 tests/python/ending.py SCRIPT [ARGUMENT…]
"""

import atexit
import os
import runpy
import sys


def run(main):
    """Calls what returns an exit status, or raises SystemExit with one, and ends the process with it."""
    status = 1

    def leave():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    # The last of them to run where it is the first to be registered.
    atexit.register(leave)
    try:
        status = main() or 0
    except SystemExit as ended:
        status = ended.code or 0
    if isinstance(status, str):
        print(status, file=sys.stderr)
        status = 1


def main():
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    run(main)
