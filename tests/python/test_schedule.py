"""The examples of scheduled conversion: what they would run is run, and what reads them reads them."""

import ast
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import unittest

import support

EXAMPLES = os.path.join(support.REPOSITORY, "examples", "schedule")


def unit(name):
    """The options of a unit file: each with all of its values, by section."""
    sections, section = {}, None
    for line in read(name).splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            option, value = line.split("=", 1)
            section.setdefault(option, []).append(value)
    return sections


def read(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return file.read()


def airflow_commands():
    """The commands of the DAG, which are assigned at its top; nothing of Airflow is needed to know them."""
    tree = ast.parse(read("airflow_dag.py"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    names = {}
    exec(compile(ast.Module(body=assigned, type_ignores=[]), "airflow_dag.py", "exec"), names)
    return names["CONVERT"], names["VERIFY"]


class Schedule(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("schedule")
        self.traces, self.out = (os.path.join(self.folder, name) for name in ("traces", "out"))
        os.mkdir(self.traces)
        os.mkdir(self.out)
        shutil.copy(support.EXAMPLE, self.traces)

    def here(self, text):
        """A command line with the folders and the program of this test."""
        places = {"/srv/traces": self.traces, "/srv/parquet": self.out, "/usr/local/bin/etl2parquet": support.BINARY}
        for there, here in places.items():
            self.assertNotIn(" ", here)
            text = text.replace(there, here)
        return text

    def execute(self, command, code=0):
        words = [support.BINARY if word == "etl2parquet" else word for word in shlex.split(self.here(command))]
        self.assertEqual(words[0], support.BINARY)
        ended = subprocess.run(
            words, env=support.environment(), capture_output=True, text=True, timeout=support.TIMEOUT_S, check=False
        )
        self.assertEqual(ended.returncode, code, f"{words}: {ended.stderr}")

    def statuses(self):
        with open(os.path.join(self.out, "last-run.json"), encoding="utf-8") as file:
            return {trace["trace"]: trace["status"] for trace in json.load(file)["traces"]}

    def hold(self, convert, verify):
        """Two nights, a third one with an input that is no trace, and a look at the output after each."""
        for expected in ("published", "skipped"):
            self.execute(convert)
            self.assertEqual(self.statuses(), {"example": expected})
            self.execute(verify)
        with open(os.path.join(self.traces, "broken.etl"), "wb") as file:
            file.write(b"no trace at all")
        self.execute(convert, code=4)
        self.assertEqual(self.statuses(), {"broken": "quarantined", "example": "skipped"})
        self.execute(verify)

    def test_the_service_converts_and_verifies(self):
        service = unit("etl2parquet.service")["Service"]
        self.hold(*service["ExecStart"])
        self.assertEqual(service["SuccessExitStatus"], ["4"])
        self.assertEqual(service["ReadWritePaths"], ["/srv/parquet"])

    def test_cron_converts_and_verifies(self):
        lines = [line.split(None, 5) for line in read("crontab").splitlines() if not line.startswith("#")]
        for *times, _command in lines:
            self.assertEqual([time == "*" or time.isdecimal() for time in times], [True] * 5)
        self.hold(*(command for *_times, command in lines))

    def test_airflow_converts_and_verifies(self):
        self.hold(*airflow_commands())

    def test_systemd_accepts_the_units(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        for name in ("etl2parquet.service", "etl2parquet.timer"):
            # The service as it is would name a program that is installed.
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(self.here(read(name)))
        command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=yes"]
        units = [os.path.join(self.folder, name) for name in ("etl2parquet.service", "etl2parquet.timer")]
        ended = subprocess.run([*command, *units], capture_output=True, text=True, timeout=60, check=False)
        # What it says of other units of this machine is not about these.
        said = [line for line in ended.stderr.splitlines() if "etl2parquet" in line]
        self.assertEqual(said, [], ended.stderr)
        calendar = unit("etl2parquet.timer")["Timer"]["OnCalendar"]
        ended = subprocess.run(["systemd-analyze", "calendar", *calendar], capture_output=True, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_airflow_loads_the_dag(self):
        if importlib.util.find_spec("airflow") is None:
            self.skipTest("Airflow is not installed")
        spec = importlib.util.spec_from_file_location("airflow_dag", os.path.join(EXAMPLES, "airflow_dag.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.assertEqual(sorted(module.dag.task_dict), ["convert", "verify"])
        self.assertEqual(module.dag.task_dict["verify"].upstream_task_ids, {"convert"})


if __name__ == "__main__":
    unittest.main()
