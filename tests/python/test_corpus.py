"""Every trace of the corpus, held against what an independent reader counted in it."""

import concurrent.futures
import os
import subprocess
import unittest

import support

# Conversions and checks at a time.
WORKERS = 2

# Traces whose events must decode, with the share of rows that must. The rest is held to its counts, times and bytes.
MIN_OK = {
    "dotnetperf-gccollectonly.etl": 1.0,
    "filtrace-diskio.etl": 1.0,
    "gpuvis-wintracecmd.etl": 1.0,
    "pyetw-user.etl": 1.0,
    "pyetwkit-sample.etl": 1.0,
    "sawbuck-process_data_32_v1.etl": 1.0,
    "perfview-net.4.5.2.x64.etl": 1.0,
    "perfview-net.4.5.x86-old.etl": 1.0,
    "perfview-diaghub.kernel.1.etl": 0.999,
    "perfview-diaghub.user_paged.1.etl": 0.999,
    "perfview-diaghub.user_injected.1.etl": 1.0,
    "perfview-gcevents.etl": 1.0,
    "perfview-primitive-types.etl": 1.0,
    "perfview-SelfDescribingSingleEvent.etl": 0.95,
    "etlparser-ShutdownPerfDiagLogger.etl": 1.0,
    "etlparser-AMSITrace.etl": 1.0,
    "etlparser-lxcore_kernel.etl": 1.0,
    "ebpfwin-ebpforwindows.etl": 0.999,
    "msbuild-PerfViewData.etl": 0.999,
    "tx-KernelNetwork.etl": 0.999,
    "tx-Process.etl": 0.999,
    "tx-HTTP_Server.etl": 0.999,
    "krabsetw-powershell.etl": 0.98,
    "s4-WindowsUpdate.20251008.etl": 0.99,
}

# Traces with values that another reader decoded, and the share of them that must be found.
MIN_SAME = {
    "perfview-primitive-types.etl": 0.98,
    "perfview-gcevents.etl": 0.97,
    "perfview-net.4.5.2.x64.etl": 0.933,
}


# Of a session without a name the checker expects an empty text; it is NULL, as all that a trace does not record.
NO_NAME = "sessions.logger_name is None, expected ''"


def stem(name):
    return name.removesuffix(".etl")


def checker(folder, script, *arguments):
    command = support.checker(folder, script, *arguments)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=support.TIMEOUT_S)
    *findings, _summary = done.stdout.splitlines() or [""]
    good = done.returncode == 0 or (done.returncode == 1 and findings == [NO_NAME])
    return "" if good else f"{script}: exit {done.returncode}\n{done.stdout}"


def same_details(trace, dataset):
    """What `inspect` says of a trace and of what it became, if it is not the same."""
    pages = [support.run("inspect", subject).stdout for subject in (trace, dataset)]
    recorded, published = [page.partition("Most frequent events\n")[2] for page in pages]
    return "" if published and recorded.startswith(published) else f"inspect: {recorded}\nnot {published}\n"


def check(folder, name, out):
    """Converts one trace and returns what is wrong with the result, empty when nothing is."""
    support.convert([os.path.join(folder, name)], out, "--raw", "always", "--threads", "1")
    dataset = support.dataset(out, name)
    facts = os.path.join(folder, "expected.json")
    min_ok = str(MIN_OK.get(name, 0))
    findings = checker(folder, "check_dataset.py", dataset, facts, name, "--min-ok", min_ok, "--payloads")
    findings += same_details(os.path.join(folder, name), dataset)
    if name in MIN_SAME:
        baseline = os.path.join(folder, f"{stem(name)}.baseline.txt")
        findings += checker(folder, "compare_traceevent.py", dataset, baseline, "--min", str(MIN_SAME[name]))
    return findings


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = support.corpus_or_skip()
        out = support.temporary_folder("corpus")
        cls.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        cls.addClassCleanup(cls.pool.shutdown, cancel_futures=True)
        cls.checks = {
            trace["name"]: cls.pool.submit(check, folder, trace["name"], out)
            for trace in support.expected_traces(folder)
        }

    def test_the_named_traces_are_there(self):
        self.assertLessEqual(MIN_OK.keys() | MIN_SAME.keys(), self.checks.keys())


def add_tests():
    """One test per trace, so that each is counted and named."""
    try:
        folder = support.corpus()
    except AssertionError:
        return  # The class' set-up says so.
    for trace in support.expected_traces(folder) if folder else []:

        def test(self, name=trace["name"]):
            findings = self.checks[name].result()
            self.assertEqual(findings, "", f"\n{findings}")

        readable = "".join(c if c.isalnum() else "_" for c in stem(trace["name"]))
        setattr(Corpus, f"test_trace_{readable}", test)


add_tests()
