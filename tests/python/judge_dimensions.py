"""What the events of a trace say of its processes and modules, in plain Python: the judge of `processes` and `images`.

It groups the rows of events by what makes them one process (the id and the address of its object, or the id and the time of creation), and
takes each field from the source that knows it best. It shares nothing with the program that folds them.
"""

import glob
import os

import pyarrow.parquet

KERNEL = "Kernel-Process"
MANIFEST = "Microsoft-Windows-Kernel-Process"
IMAGES = "Kernel-Image"
RUNS = {"Process/Start", "Process/DCStart", "Process/DCEnd", "Process/End"}
DEFUNCT = "Process/Defunct"
# FILETIME of 1970-01-01.
UNIX_FILETIME = 116444736000000000
WOW64 = 2
# The two providers record one start or end within this time.
RETOLD_NS = 10**9


def rows(folder, dataset):
    """The rows of a dataset, in order, as dictionaries."""
    found = []
    for path in glob.glob(os.path.join(glob.escape(folder), "events", dataset, "**", "*.parquet"), recursive=True):
        found += pyarrow.parquet.ParquetFile(path).read().to_pylist()
    return sorted(found, key=lambda row: row["seq"])


def sidecar(folder, table):
    path = os.path.join(folder, "sidecar", f"{table}.parquet")
    return pyarrow.parquet.read_table(path).to_pylist() if os.path.isfile(path) else []


def pointer_sizes(folder):
    return {row["shape"]: row["pointer_size"] for row in sidecar(folder, "catalog")}


def exit_ns(row):
    """When a defunct process ended; None where the event does not say it, or says what cannot be."""
    filetime = row.get("ExitTime_filetime")
    ns = (filetime - UNIX_FILETIME) * 100 if filetime else None
    return ns if ns is not None and 0 < ns <= row["timestamp_ns"] else None


def first_ns(folder):
    """The time of the first event of a trace."""
    return min(row["first_time_ns"] for row in sidecar(folder, "catalog"))


def first(values):
    return next((value for value in values if value is not None), None)


class Process:
    """A process, as all rows tell that are of it."""

    def __init__(self, process_id):
        self.id, self.kernel, self.defunct, self.manifest = process_id, [], [], []

    def fields(self, sizes, first_ns):
        ends = [row for row in self.kernel if row["event_name"] == "Process/End"]
        stops = [row for row in self.manifest if row["event_id"] == 2]
        told = [ns for ns in map(exit_ns, self.defunct) if ns is not None]
        runs = bool(self.kernel or self.manifest) or any(ns >= first_ns for ns in told)
        ended = min([row["timestamp_ns"] for row in ends + stops], default=first(told))
        statuses = [(row["seq"], row.get("ExitStatus", row.get("ExitCode"))) for row in ends + stops + self.defunct]
        paths = [row["ImageName"] for row in self.manifest if row["event_id"] in (1, 15) and "\\" in (row["ImageName"] or "")]
        return {
            "is_defunct": not runs,
            "ended_ns": ended,
            "exit_status": first(status for _, status in sorted(statuses, key=lambda pair: pair[0])),
            "is_64_bit": first(self.bits(row, sizes) for row in self.kernel + self.defunct),
            "has_path": bool(paths) or any("\\" in (row["ImageFileName"] or "") for row in self.kernel + self.defunct),
        }

    @staticmethod
    def bits(row, sizes):
        if sizes[row["shape"]] == 4:
            return False
        return None if row.get("Flags") is None else row["Flags"] & WOW64 == 0


def processes(folder):
    """All processes that the events of a trace tell of, each with its fields, those that ran and those that did not."""
    found = {}
    for row in rows(folder, KERNEL):
        # Of an event that nothing decodes nobody knows the process.
        if row["ProcessId"] is not None and (row["event_name"] in RUNS or row["event_name"] == DEFUNCT):
            key = (row["ProcessId"], row.get("UniqueProcessKey", row.get("PageDirectoryBase")))
            process = found.setdefault(key, Process(row["ProcessId"]))
            (process.defunct if row["event_name"] == DEFUNCT else process.kernel).append(row)
    for row in rows(folder, MANIFEST):
        if row["event_id"] in (1, 2, 15):
            process = same(found, row) or found.setdefault((row["ProcessID"], row["CreateTime"]), Process(row["ProcessID"]))
            process.manifest.append(row)
    sizes, begin = pointer_sizes(folder), first_ns(folder)
    return [(process.id, process.fields(sizes, begin)) for process in found.values()]


def same(found, row):
    """The process of a row of the manifest provider: that of its creation time, or that of which the kernel tells the same now."""
    if (row["ProcessID"], row["CreateTime"]) in found:
        return found[(row["ProcessID"], row["CreateTime"])]
    name = {1: "Process/Start", 2: "Process/End"}.get(row["event_id"])
    for process in found.values():
        for other in process.kernel if process.id == row["ProcessID"] else []:
            if other["event_name"] == name and abs(other["timestamp_ns"] - row["timestamp_ns"]) < RETOLD_NS:
                return process
    return None


def image_sizes(folder):
    """The sizes in memory that the kernel tells, with their times, by process and base address."""
    sizes = {}
    for dataset, process, base in ((IMAGES, "ProcessId", "ImageBase"), (MANIFEST, "ProcessID", "ImageBase")):
        for row in rows(folder, dataset):
            is_load = row["event_name"] in ("Image/Load", "Image/DCStart", "Image/DCEnd") or row["event_id"] == 5
            if is_load and row.get(base) is not None:
                size = row.get("ImageSize", row.get("ModuleSize"))
                sizes.setdefault((row[process], row[base]), []).append((row["timestamp_ns"], size))
    return sizes
