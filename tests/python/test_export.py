"""What `etl2parquet export` writes, read by decoders of this file, against the views as DuckDB computes them."""

import collections
import gzip
import itertools
import json
import os
import subprocess
import sys
import unittest

import duckdb
import intervals
import support

# Traces with activities of EventSource and of TraceLogging.
ACTIVE = ["perfview-diaghub.user_paged.1.etl", "pyetwkit-sample.etl"]
# A trace with samples, waits, stacks and disk operations; one with methods of .NET, processes with names, pauses.
KERNEL = "filtrace-diskio.etl"
MANAGED = "perfview-net.4.5.x86-old.etl"
UNKNOWN = {
    "in no module": "(in no module)",
    "no process": "(of no known process)",
    "changed": "(in a module that changed)",
}


def setUpModule():
    global CORPUS, OUT
    CORPUS, OUT = support.corpus_or_skip(), support.temporary_folder("export")
    run("convert", original(KERNEL), original(MANAGED), *map(original, ACTIVE), "-o", OUT, "-q")


def original(name):
    return os.path.join(CORPUS, name)


def run(*arguments, expected=0):
    done = subprocess.run([support.BINARY, *arguments], capture_output=True, env=support.environment())
    assert done.returncode == expected, (arguments, done.returncode, done.stderr.decode())
    return done


def trace(name):
    return os.path.join(OUT, "trace=" + name.removesuffix(".etl"))


def exported(name, *options):
    return run("export", trace(name), "--format", *options, "-q").stdout


def views(name, *needed):
    connection = duckdb.connect()
    connection.sql(run("views", trace(name), *needed).stdout.decode())
    return connection


def process_text(identifier, name):
    return f"{name} ({identifier})" if name else f"process {identifier}"


def frame_text(module, function, offset, because):
    """What a frame is called: by the columns of the view `frames`."""
    if module is None:
        return function or UNKNOWN[because]
    return f"{module}!{function}" if function else f"{module}+{offset:#x}"


def paths(name, of):
    """What each process has by its path, of samples and waits that have a stack: the view of paths, with offsets in its texts."""
    connection = views(name, "frames", "cpu_paths", "wait_paths")
    view, amount = {"samples": ("cpu_paths", "samples"), "waits": ("wait_paths", "off_cpu_ns")}[of]
    texts = collections.defaultdict(list)
    rows = connection.sql("""SELECT process_id, stack_id, module, function,
        -- A return address is looked up one byte before.
        module_offset - CASE WHEN frame = 0 OR (address >= 0 AND LAG(address) OVER w < 0) THEN 0 ELSE 1 END, unknown_because
        FROM frames WINDOW w AS (PARTITION BY process_id, stack_id ORDER BY frame) ORDER BY process_id, stack_id, frame DESC""")
    for process, stack, *frame in rows.fetchall():
        texts[process, stack].append(frame_text(*frame))
    found = collections.Counter()
    for process, image, stack, sum_of in connection.sql(f"SELECT process_id, process_name, stack_id, {amount} FROM {view}").fetchall():
        found[process_text(process, image), *texts[process, stack]] += sum_of
    return found


def own(found):
    """Sums by the innermost function."""
    sums = collections.Counter()
    for path, amount in found.items():
        sums[path[-1]] += amount
    return sums


class Folded(unittest.TestCase):
    def folded(self, name, of):
        found = collections.Counter()
        for line in exported(name, "folded", "--of", of).decode().splitlines():
            path, amount = line.rsplit(" ", 1)
            found[tuple(path.split(";"))] += int(amount)
        return found

    def test_paths_are_those_of_the_views(self):
        for name, of in [(KERNEL, "samples"), (KERNEL, "waits"), (MANAGED, "samples")]:
            with self.subTest(name=name, of=of):
                found, expected = self.folded(name, of), paths(name, of)
                without = {path: amount for path, amount in found.items() if path not in expected}
                self.assertEqual({path: found[path] for path in expected}, dict(expected))
                # What has no stack has the address alone, or nothing.
                self.assertEqual({len(path) for path in without} - {2}, set())

    def test_the_sum_is_that_of_all(self):
        connection = views(MANAGED, "cpu_samples")
        [(samples,)] = connection.sql("SELECT COUNT(*) FROM cpu_samples").fetchall()
        self.assertEqual(sum(self.folded(MANAGED, "samples").values()), samples)
        [(waits,)] = views(KERNEL, "waits").sql("SELECT SUM(off_cpu_ns) FROM waits").fetchall()
        self.assertEqual(sum(self.folded(KERNEL, "waits").values()), waits)

    def test_filters_are_those_of_convert(self):
        connection = views(MANAGED, "cpu_samples")
        rows = "SELECT process_id, COUNT(*) FROM cpu_samples WHERE process_id <> 0 GROUP BY ALL ORDER BY 2 DESC, 1 LIMIT 1"
        [(process, samples)] = connection.sql(rows).fetchall()
        text = exported(MANAGED, "folded", "--pid", str(process)).decode()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()), samples)
        [(at,)] = connection.sql("SELECT CAST(MIN(timestamp_ns) + 1000000000 AS BIGINT) FROM cpu_samples").fetchall()
        time = connection.sql(f"SELECT strftime(make_timestamp({at} // 1000), '%Y-%m-%dT%H:%M:%S.%fZ')").fetchall()[0][0]
        [(before,)] = connection.sql(f"SELECT COUNT(*) FROM cpu_samples WHERE timestamp_ns < {at // 1000 * 1000}").fetchall()
        text = exported(MANAGED, "folded", "--to", time).decode()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()), before)


class Speedscope(unittest.TestCase):
    def test_stacks_and_weights_are_those_of_folded_stacks(self):
        for name, of, each in [(KERNEL, "samples", 1_000_000), (KERNEL, "waits", 1), (MANAGED, "samples", 1_000_000)]:
            with self.subTest(name=name, of=of):
                document = json.loads(exported(name, "speedscope", "--of", of))
                frames = [frame["name"] for frame in document["shared"]["frames"]]
                found = collections.Counter()
                for profile in document["profiles"]:
                    self.assertEqual((profile["type"], profile["unit"]), ("sampled", "nanoseconds"))
                    self.assertEqual(len(profile["samples"]), len(profile["weights"]))
                    self.assertEqual(profile["endValue"] - profile["startValue"], sum(profile["weights"]))
                    process = profile["name"].rsplit(", thread ", 1)[0]
                    for stack, weight in zip(profile["samples"], profile["weights"]):
                        found[process, *(frames[frame] for frame in stack)] += weight
                expected = Folded.folded(self, name, of)
                self.assertEqual({path: weight for path, weight in found.items() if weight},
                                 {path: amount * each for path, amount in expected.items()})

    def test_threads_are_those_of_the_view(self):
        document = json.loads(exported(MANAGED, "speedscope"))
        found = {profile["name"].rsplit(" ", 1)[1]: len(profile["samples"]) for profile in document["profiles"]}
        rows = views(MANAGED, "cpu_samples").sql("SELECT CAST(thread_id AS VARCHAR), COUNT(*) FROM cpu_samples GROUP BY 1").fetchall()
        # The idle threads of all processors have the same id.
        self.assertEqual(found, dict(rows))


def fields(data):
    """The fields of a message of protocol buffers: number and value, an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, key
            length = varint()
            at += length
            yield key >> 3, data[at - length:at]


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    return values


class Pprof(unittest.TestCase):
    """Numbers of fields as profile.proto of google/pprof has them."""

    def profile(self, name, of):
        lists = collections.defaultdict(list)
        for number, value in fields(gzip.decompress(exported(name, "pprof", "--of", of))):
            lists[number].append(value)
        return lists

    def test_samples_are_those_of_folded_stacks(self):
        cases = [
            (KERNEL, "samples", [("samples", "count"), ("cpu", "nanoseconds")], [1, 1_000_000]),
            (KERNEL, "waits", [("waits", "count"), ("off_cpu", "nanoseconds")], [None, 1]),
            (MANAGED, "samples", [("samples", "count"), ("cpu", "nanoseconds")], [1, 1_000_000]),
        ]
        for name, of, types, each in cases:
            with self.subTest(name=name, of=of):
                profile = self.profile(name, of)
                texts = [text.decode() for text in profile[6]]
                self.assertEqual(texts[0], "")
                shown = [dict(fields(kind)) for kind in profile[1]]
                self.assertEqual([(texts[kind[1]], texts[kind[2]]) for kind in shown], types)
                functions = {function[1]: texts[function[2]] for function in map(dict, map(fields, profile[5]))}
                mappings = {mapping[1]: texts[mapping[5]] for mapping in map(dict, map(fields, profile[3]))}
                locations = {}
                for location in map(list, map(fields, profile[4])):
                    one = dict(location)
                    lines = [functions[dict(fields(line))[1]] for number, line in location if number == 4]
                    locations[one[1]] = lines or [f"{mappings[one[2]]}+{one.get(3, 0):#x}"]
                found = [collections.Counter() for _ in each]
                for sample in map(dict, map(lambda sample: self.sample(sample, texts), profile[2])):
                    path = sample["process"], *(text for location in reversed(sample[1]) for text in reversed(locations[location]))
                    for sums, value in zip(found, sample[2]):
                        sums[path] += value
                expected = Folded.folded(self, name, of)
                for sums, one in zip(found, each):
                    if one:
                        self.assertEqual({path: value for path, value in sums.items() if value},
                                         {path: amount * one for path, amount in expected.items()})

    def sample(self, data, texts):
        found = {}
        for number, value in fields(data):
            if number == 3:
                label = dict(fields(value))
                found[texts[label[1]]] = texts[label[2]] if 2 in label else label.get(3, 0)
            else:
                found[number] = varints(value)
        return found

    def test_modules_have_the_identity_of_their_symbols(self):
        profile = self.profile(MANAGED, "samples")
        texts = [text.decode() for text in profile[6]]
        found = {(texts[mapping[5]], texts[mapping[6]]) for mapping in map(dict, map(fields, profile[3])) if mapping.get(6)}
        rows = duckdb.sql(f"""SELECT DISTINCT file_name, upper(replace(pdb_guid, '-', '')) || upper(to_hex(pdb_age))
            FROM '{trace(MANAGED)}/sidecar/images.parquet' WHERE pdb_guid IS NOT NULL""").fetchall()
        self.assertTrue(found)
        self.assertEqual(found - set(rows), set())


class Firefox(unittest.TestCase):
    def test_samples_are_those_of_the_process_with_most(self):
        document = json.loads(exported(MANAGED, "firefox"))
        connection = views(MANAGED, "cpu_samples", "disk_io", "gc_pauses", "image_loads")
        rows = "SELECT process_id FROM cpu_samples WHERE process_id <> 0 GROUP BY 1 ORDER BY COUNT(*) DESC, 1 LIMIT 1"
        [(process,)] = connection.sql(rows).fetchall()
        threads = [thread for thread in document["threads"] if str(thread["pid"]) == str(process)]
        found = {int(thread["tid"]): thread["samples"]["length"] for thread in threads if thread["samples"]["length"]}
        expected = connection.sql(f"SELECT thread_id, COUNT(*) FROM cpu_samples WHERE process_id = {process} GROUP BY 1").fetchall()
        self.assertEqual(found, dict(expected))
        delta = sum(sum(thread["samples"]["threadCPUDelta"]) for thread in threads if thread["samples"]["length"])
        self.assertEqual(delta, 1000 * sum(found.values()))
        # Who started it, and whom it has started, is beside it.
        others = {int(thread["pid"]) for thread in document["threads"]} - {process}
        neighbours = duckdb.sql(f"""SELECT process_id FROM '{trace(MANAGED)}/sidecar/processes.parquet' WHERE parent_process_id = {process}
            UNION SELECT parent_process_id FROM '{trace(MANAGED)}/sidecar/processes.parquet' WHERE process_id = {process}""").fetchall()
        self.assertEqual(others - {neighbour for (neighbour,) in neighbours}, set())

    def test_markers_are_those_of_the_views(self):
        for name, view, marker in [(KERNEL, "waits", "Wait"), (KERNEL, "disk_io", "Disk I/O"), (MANAGED, "gc_pauses", "GC pause"),
                                   (MANAGED, "disk_io", "Disk I/O"), (MANAGED, "image_loads", "Image load")]:
            with self.subTest(name=name, view=view):
                document = json.loads(exported(name, "firefox", "--pid", "1-4294967295"))
                found = collections.Counter()
                for thread in document["threads"]:
                    texts = thread["stringArray"] if "stringArray" in thread else document["shared"]["stringArray"]
                    names = [texts[text] for text in thread["markers"]["name"]]
                    found[int(str(thread["pid"]).split(".")[0])] += names.count(marker)
                rows = views(name, view).sql(f"SELECT process_id, COUNT(*) FROM {view} WHERE process_id > 0 GROUP BY 1").fetchall()
                self.assertEqual({process: count for process, count in found.items() if count}, dict(rows))

    def test_libraries_have_the_ids_that_symbol_servers_know(self):
        document = json.loads(exported(MANAGED, "firefox"))
        found = {(library["name"], library["breakpadId"].upper()) for library in document["libs"] if not library["breakpadId"].startswith("0" * 32)}
        rows = duckdb.sql(f"""SELECT DISTINCT file_name, upper(replace(pdb_guid, '-', '')) || upper(to_hex(pdb_age))
            FROM '{trace(MANAGED)}/sidecar/images.parquet' WHERE pdb_guid IS NOT NULL""").fetchall()
        self.assertTrue(found)
        self.assertEqual(found - set(rows), set())


    def activities(self, document):
        """Markers of activities as `intervals.activities` has them, with times from the begin of the profile."""
        [schema] = [schema for schema in document["meta"]["markerSchema"] if schema["name"] == "Activity"]
        self.assertEqual([field["key"] for field in schema["fields"]], ["event", "provider", "activity", "related"])
        found = []
        for thread in document["threads"]:
            texts = thread["stringArray"] if "stringArray" in thread else document["shared"]["stringArray"]
            markers = thread["markers"]
            for at, data in enumerate(markers["data"]):
                if data and data["type"] == "Activity":
                    begin, end = (round((markers[side][at] or 0) * 1_000_000) for side in ("startTime", "endTime"))
                    self.assertEqual((markers["phase"][at], texts[markers["name"][at]]), (1, "Activity"))
                    event, provider, activity = (texts[data[key]] for key in ("event", "provider", "activity"))
                    found.append((provider, event, activity, int(str(thread["pid"]).split(".")[0]), int(str(thread["tid"]).split(".")[0]), begin, end))
        return sorted(found)

    def test_activities_are_those_of_the_rows(self):
        for name in ACTIVE:
            with self.subTest(name=name):
                start = intervals.start_ns(trace(name))
                expected = [(*one, begin - start, end - start) for *one, begin, end in intervals.activities(trace(name))]
                self.assertTrue(expected)
                self.assertEqual(self.activities(json.loads(exported(name, "firefox", "--pid", "1-4294967295"))), sorted(expected))
        out = support.temporary_folder("firefox-made")
        folder = intervals.made(out)
        document = json.loads(run("export", folder, "--format", "firefox", "-q", "--pid", "10,11").stdout)
        self.assertEqual(self.activities(document), sorted((*one, begin * intervals.MS, end * intervals.MS) for *one, begin, end in intervals.MADE))

    def counters(self, document, kind=("CPU", "processCPU")):
        """The counters of a kind: by process, times from the begin of the profile, and what is counted in each, of processor time microseconds."""
        found = {}
        for counter in document["counters"]:
            self.assertIn((counter["category"], counter["name"]), [("CPU", "processCPU"), ("Memory", "gcHeap")])
            if (counter["category"], counter["name"]) != kind:
                continue
            self.assertEqual(document["threads"][counter["mainThreadIndex"]]["pid"], counter["pid"])
            samples = counter["samples"]
            times = [round(time * 1_000_000) for time in itertools.accumulate(samples["timeDeltas"])]
            found[int(counter["pid"])] = list(zip(times, samples["count"], strict=True))
        return found

    def test_time_on_processors_is_that_of_the_switches(self):
        start, spans = intervals.start_ns(trace(KERNEL)), intervals.processor_time(trace(KERNEL))
        found = self.counters(json.loads(exported(KERNEL, "firefox", "--pid", "1-4294967295")))
        self.assertEqual(set(found), set(spans))
        for process, samples in found.items():
            so_far = 0
            for time, count in samples:
                self.assertEqual(time % 10_000_000, 0)
                so_far += round(count * 1000)
                # What it was on processors before this time.
                self.assertEqual(so_far, sum(max(0, min(end, start + time) - begin) for begin, end in spans[process]))
            self.assertEqual(so_far, sum(end - begin for begin, end in spans[process]))

    def test_time_on_processors_is_that_of_the_samples_where_there_are_no_switches(self):
        found = self.counters(json.loads(exported(MANAGED, "firefox", "--pid", "1-4294967295")))
        query = "SELECT process_id, COUNT(*) * 1000 FROM cpu_samples WHERE process_id <> 0 GROUP BY 1"
        expected = dict(views(MANAGED, "cpu_samples").sql(query).fetchall())
        self.assertEqual({process: round(sum(count for _, count in samples)) for process, samples in found.items()}, expected)


    def test_memory_is_that_of_the_heaps_behind_each_collection(self):
        heaps = f"read_parquet('{trace(MANAGED)}/events/Microsoft-Windows-DotNETRuntime/*.parquet')"
        sizes = " + ".join(f"GenerationSize{number}" for number in range(4))
        rows = duckdb.sql(f"""SELECT process_id, timestamp_ns, ClrInstanceID, {sizes} FROM {heaps}
            WHERE event_name = 'GarbageCollection/GCHeapStats' ORDER BY seq""").fetchall()
        self.assertGreater(len(rows), 10)
        start, runtimes, expected = intervals.start_ns(trace(MANAGED)), {}, {}
        for process, time, runtime, size in rows:
            runtimes[process, runtime] = size
            whole = sum(size for (other, _), size in runtimes.items() if other == process)
            expected.setdefault(process, []).append((time - start, whole))
        document = json.loads(exported(MANAGED, "firefox", "--pid", "1-4294967295"))
        found = self.counters(document, ("Memory", "gcHeap"))
        self.assertEqual(set(found), set(expected))
        for process, samples in found.items():
            so_far = itertools.accumulate(round(count) for _, count in samples)
            self.assertEqual([(time, size) for (time, _), size in zip(samples, so_far)], expected[process])


class Command(unittest.TestCase):
    def test_the_same_trace_is_the_same_bytes_converted_or_not(self):
        for form in ("folded", "speedscope", "pprof", "firefox"):
            with self.subTest(form=form):
                first = exported(KERNEL, form)
                self.assertEqual(exported(KERNEL, form), first)
                self.assertEqual(run("export", original(KERNEL), "--format", form, "-q").stdout, first)

    def test_a_file_is_whole_or_not_there(self):
        folder = support.temporary_folder("export-file")
        file = os.path.join(folder, "out.folded")
        done = run("export", trace(KERNEL), "--format", "folded", "-o", file)
        self.assertIn(f"wrote {file}".encode(), done.stderr)
        with open(file, "rb") as written:
            self.assertEqual(written.read(), exported(KERNEL, "folded"))
        # Nothing passes: the file stays as it is, and none is made.
        done = run("export", trace(KERNEL), "--format", "folded", "--pid", "99999999", "-o", file, expected=5)
        self.assertIn(b"no event passes the filters for folded", done.stderr)
        run("export", trace(KERNEL), "--format", "folded", "--pid", "99999999", "-o", file + ".2", expected=5)
        self.assertEqual(os.listdir(folder), ["out.folded"])

    def test_one_trace_is_expected(self):
        done = run("export", OUT, "--format", "folded", expected=2)
        self.assertIn(b"expected one trace, found 4", done.stderr)
        self.assertIn(b"filtrace-diskio, perfview-diaghub.user_paged.1, perfview-net.4.5.x86-old", done.stderr)

    def test_who_has_read_enough_is_no_failure(self):
        command = [support.BINARY, "export", trace(MANAGED), "--format", "folded"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual((process.stderr.read(), process.wait()), (b"", 0))

    @unittest.skipIf(sys.platform == "win32", "a terminal of this kind")
    def test_a_terminal_gets_no_binary_format(self):
        import pty

        terminal, other = pty.openpty()
        done = subprocess.run([support.BINARY, "export", trace(KERNEL), "--format", "pprof"], stdout=other, stderr=subprocess.PIPE)
        os.close(other)
        os.close(terminal)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"a terminal cannot show pprof", done.stderr)


if __name__ == "__main__":
    unittest.main()
