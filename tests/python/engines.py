"""What the checks with DuckDB and Spark share: SQL text, and a Spark session where there is Java."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import unittest

import duckdb

import support


def literal(text):
    """A SQL string."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name):
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


@functools.cache
def java_problem():
    """Why Spark cannot run here, or None."""
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    if shutil.which(java) is None:
        return "no Java: Spark 4 needs version 17 or 21"
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = text.split('"')[1] if '"' in text else "unknown"
    major = version.split(".")[0]
    return None if major.isdigit() and int(major) >= 17 else f"Java {version}: Spark 4 needs version 17 or 21"


def require_java():
    """Skips the test where Spark cannot run; fails where the environment requires it."""
    problem = java_problem()
    if problem:
        if os.environ.get("ETL2PARQUET_REQUIRE_SPARK") == "1":
            raise AssertionError(f"{problem}, and ETL2PARQUET_REQUIRE_SPARK is 1")
        raise unittest.SkipTest(problem)


@functools.cache
def spark():
    """One local session for all tests of a run, without network and user interface."""
    require_java()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": support.temporary_root(),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": os.path.join(support.temporary_root(), "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("etl2parquet")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    atexit.register(session.stop)
    return session


def script(folder, *flags):
    """All that `views` prints for a folder of traces."""
    done = support.run("views", folder, "--single-events", *flags)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def duckdb_with(folder):
    """A connection with the views of a folder."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(script(folder))
    return connection


def spark_statements(folder):
    return without_comments(script(folder, "--spark"))


def without_comments(text):
    """The statements of a script."""
    for statement in re.split(r";\n", text):
        lines = [line for line in statement.splitlines() if not line.startswith("--")]
        if "".join(lines).strip():
            yield "\n".join(lines)


def spark_with(folder):
    """A session with the views of a folder."""
    session = spark()
    for statement in spark_statements(folder):
        session.sql(statement)
    return session


def spark_about(out, *views):
    """A Spark session with some views, and those that they need: others take their time."""
    done, session = support.run("views", out, *views, "--spark"), spark()
    for statement in without_comments(done.stdout):
        session.sql(statement)
    return session
