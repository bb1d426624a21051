"""Counts what the program reads, by the system's own account, so that work is told without a clock."""

import os
import subprocess

import support


def counted(*arguments):
    """Runs the program; returns its exit code, the bytes that it read, and the calls that it took for them. Linux alone."""
    command = [support.BINARY, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # The account is there until somebody asks how the process ended.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
        account = dict(line.strip().split(": ") for line in file)
    return process.wait(), int(account["rchar"]), int(account["syscr"])
