"""The server of the Model Context Protocol: what it answers, and that nobody changes or reads anything else through it.

A client of this file's own speaks to it in every run, and the public one (PyPI `mcp`) where it is installed.
"""

import contextlib
import importlib.util
import json
import os
import queue
import subprocess
import threading
import time
import unittest

import duckdb

import support
from engines import duckdb_with, script

TOOLS = ["describe", "schema", "query", "explain"]
STATELESS = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
# A question that no machine answers in this century.
LONG = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE (a.range * b.range) % 7 = 1"


class Client:
    """A client that writes lines and reads them."""

    def __init__(self, out, *options):
        command = [support.python(), "-m", "etl2parquet.mcp", str(out), *options]
        environment = {**support.environment(), "PYTHONPATH": support.package()}
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", bufsize=1
        )
        self.number = 0
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Reads for as long as there is something, so that a test waits for no line longer than it is patient."""
        for line in self.process.stdout:
            self.lines.put(line)

    def write(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def next(self):
        return json.loads(self.lines.get(timeout=support.TIMEOUT_S))

    def send(self, method, params):
        self.number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        return self.number

    def ask(self, method, **params):
        """The response to a request."""
        number = self.send(method, params)
        response = self.next()
        assert response["id"] == number, response
        return response

    def result(self, method, **params):
        response = self.ask(method, **params)
        assert "result" in response, response
        return response["result"]

    def tool(self, tool, **arguments):
        """Whether a tool failed, and the text that it gives."""
        result = self.result("tools/call", name=tool, arguments=arguments)
        [content] = result["content"]
        assert content["type"] == "text", content
        return result["isError"], content["text"]

    def query(self, sql, **arguments):
        is_error, text = self.tool("query", sql=sql, **arguments)
        assert not is_error, text
        return json.loads(text)

    def close(self):
        """Ends it as clients do; returns its exit code and what it wrote besides."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(timeout=60)
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, errors


class WithServer(unittest.TestCase):
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.out = support.convert([support.EXAMPLE], support.temporary_folder("mcp"), "--quiet")
        cls.client = Client(cls.out, *cls.OPTIONS)
        cls.addClassCleanup(cls.client.close)


class Protocol(WithServer):
    def test_revisions_with_a_handshake(self):
        for asked, expected in [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25"), (None, "2025-11-25")]:
            result = self.client.result("initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "t", "version": "1"})
            self.assertEqual(result["protocolVersion"], expected)
            self.assertEqual((result["serverInfo"]["name"], result["capabilities"]), ("etl2parquet", {"tools": {}, "resources": {}}))
        self.assertEqual(self.client.result("ping"), {})

    def test_the_revision_in_each_request(self):
        found = self.client.result("server/discover", **STATELESS)
        self.assertEqual(found["supportedVersions"][0], "2026-07-28")
        self.assertEqual((found["resultType"], found["cacheScope"], found["ttlMs"]), ("complete", "private", 0))
        called = self.client.result("tools/call", name="query", arguments={"sql": "SELECT 1"}, **STATELESS)
        self.assertEqual((called["resultType"], "ttlMs" in called), ("complete", False))
        error = self.client.ask("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2031-01-01"})["error"]
        self.assertEqual((error["code"], error["data"]["requested"], error["data"]["supported"][0]), (-32022, "2031-01-01", "2026-07-28"))

    def test_tools_and_resources(self):
        tools = self.client.result("tools/list")["tools"]
        self.assertEqual([tool["name"] for tool in tools], TOOLS)
        self.assertTrue(all(tool["annotations"]["readOnlyHint"] and tool["inputSchema"]["type"] == "object" for tool in tools))
        [resource] = self.client.result("resources/list")["resources"]
        [content] = self.client.result("resources/read", uri=resource["uri"])["contents"]
        self.assertEqual((content["uri"], content["mimeType"]), (resource["uri"], "application/json"))
        self.assertEqual((False, content["text"]), self.client.tool("describe"))
        self.assertEqual(self.client.result("resources/templates/list"), {"resourceTemplates": []})

    def test_what_is_no_request_is_refused_and_the_next_one_answered(self):
        for line, code in [("{", -32700), ("[]", -32600), ('{"id": 1}', -32600), ("[" * 100_000, -32700), ('{"x": "' + "y" * 3_000_000 + '"}', -32600)]:
            self.client.write(line)
            response = self.client.next()
            self.assertEqual((response["id"], response["error"]["code"]), (None, code), line[:20])
        self.client.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        self.client.write('{"jsonrpc": "2.0", "id": 7, "result": {}}')
        self.client.write("")
        for method, params, code in [
            ("tools/run", {}, -32601), ("tools/call", {"name": "drop"}, -32602), ("tools/call", {}, -32602),
            ("tools/call", {"name": "query", "arguments": [1]}, -32602), ("tools/call", {"name": 5}, -32602),
            ("resources/read", {"uri": "file:///etc/passwd"}, -32602),
        ]:  # fmt: skip
            self.assertEqual(self.client.ask(method, **params)["error"]["code"], code, method)
        for arguments, reason in [({}, "needs the argument sql"), ({"sql": 5}, "expected a text as sql"), ({"sql": "SELECT 1", "rows": 0}, "from 1 on"), ({"sql": "SELECT 1", "x": 1}, "no argument x")]:
            is_error, text = self.client.tool("query", **arguments)
            self.assertTrue(is_error and reason in text, text)
        self.assertEqual(self.client.result("ping"), {})

    def test_answers_are_complete_at_the_end_of_input(self):
        client = Client(self.out)
        numbers = [client.send("tools/call", {"name": "query", "arguments": {"sql": f"SELECT {number}"}}) for number in range(3)]
        self.assertEqual(client.close(), (0, ""))
        found = [json.loads(client.lines.get(timeout=60)) for _ in numbers]
        self.assertEqual([json.loads(one["result"]["content"][0]["text"])["rows"] for one in found], [[[0]], [[1]], [[2]]])

    def test_what_is_no_trace_is_refused(self):
        code, errors = Client(support.temporary_folder("nothing")).close()
        self.assertEqual(code, 2)
        self.assertIn("expected a folder trace=<name>", errors)


class Tools(WithServer):
    def test_the_document_is_that_of_the_command(self):
        is_error, text = self.client.tool("describe")
        self.assertEqual((is_error, text + "\n"), (False, support.run("describe", self.out, "--json").stdout))
        self.assertLessEqual(len(text.encode()), 20_000)

    def test_answers_are_those_of_duckdb(self):
        questions = [
            "SELECT provider, count(*) AS events FROM all_events GROUP BY ALL ORDER BY ALL",
            "SELECT question, answerable, events, event_names FROM answers ORDER BY ALL;",
            'SELECT timestamp_ns, event_name FROM "Kernel-DiskIo/DiskIo/Read" ORDER BY seq -- the end;',
            "SELECT 1 AS a, ';' AS a; -- ; -",
        ]
        with duckdb_with(self.out) as connection:
            for question in questions:
                answer = self.client.query(question)
                expected = connection.execute(question).fetchall()
                self.assertEqual(answer["rows"], [list(row) for row in expected], question)
                self.assertIsNone(answer["cut"])
        self.assertGreater(len(self.client.query(questions[0])["rows"]), 5)

    def test_what_events_say_in_words_is_there(self):
        self.assertEqual(self.client.query("SELECT count(*) FROM event_messages")["rows"], [[0]])
        is_error, text = self.client.tool("schema", name="event_messages")
        self.assertFalse(is_error, text)
        with contextlib.closing(duckdb.connect()) as connection:
            connection.execute(script(self.out, "--event-messages"))
            expected = [(name, kind) for name, kind, *_ in connection.execute("DESCRIBE event_messages").fetchall()]
        self.assertEqual([(one["name"], one["type"]) for one in json.loads(text)["columns"]], expected)

    def test_values_are_json(self):
        columns = {
            "TIMESTAMPTZ '2026-03-02 09:00:00.05+00'": "2026-03-02 09:00:00.05+00", "CAST('nan' AS DOUBLE)": "NaN", "9223372036854775807": 2**63 - 1,
            "[1, NULL]": [1, None], "{'a': {'b': 'é'}}": {"a": {"b": "é"}}, "NULL": None, "TRUE": True, "'\\xAA'::BLOB": "\\xAA", "'\"'": '"',
        }  # fmt: skip
        answer = self.client.query("SELECT " + ", ".join(columns))
        self.assertEqual(answer["rows"], [list(columns.values())])
        self.assertEqual(answer["columns"][3]["type"], "INTEGER[]")

    def test_columns_have_types_units_and_meanings(self):
        def schema(name):
            is_error, text = self.client.tool("schema", name=name)
            self.assertFalse(is_error, text)
            return json.loads(text)

        def column(name, of):
            return next(one for one in schema(of)["columns"] if one["name"] == name)

        self.assertEqual(column("TransferSize", "kernel-diskio"), {"name": "TransferSize", "type": "BIGINT", "unit": "bytes", "meaning": column("TransferSize", "Kernel-DiskIo")["meaning"]})
        self.assertEqual(column("from_ns", "processes")["meaning"], "from when on the id meant it")
        self.assertEqual(column("seq", "all_events")["meaning"], "number of the event in the trace")
        with duckdb_with(self.out) as connection:
            names = [name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
            for name in names:
                expected = [(name, kind) for name, kind, *_ in connection.execute(f'DESCRIBE "{name}"').fetchall()]
                self.assertEqual([(one["name"], one["type"]) for one in schema(name)["columns"]], expected, name)
            [(reads,)] = connection.execute('SELECT count(*) FROM "Kernel-DiskIo/DiskIo/Read"').fetchall()
        self.assertEqual(schema("Kernel-DiskIo/DiskIo/Read")["rows"], reads)

    def test_failures_name_what_may_be_meant(self):
        for tool, arguments, expected in [
            ("query", {"sql": "FROM proceses"}, "names that may be meant: processes"),
            ("explain", {"sql": "SELECT imagename FROM processes"}, "image_name (of processes)"),
            ("query", {"sql": 'FROM "Kernel-DiskIO/DiskIo/Reed"'}, "Kernel-DiskIo/DiskIo/Read"),
            ("schema", {"name": "Kernel-Diskio2"}, "there is Kernel-DiskIo"),
            ("query", {"sql": "SELEC 1"}, "syntax error"),
            ("explain", {"sql": "SELECT 1; SELECT 2"}, "expected one SELECT, found SELECT, SELECT"),
            ("query", {"sql": " -- nothing"}, "expected one SELECT, found nothing"),
        ]:
            is_error, text = self.client.tool(tool, **arguments)
            self.assertTrue(is_error, arguments)
            self.assertIn(expected, text)

    def test_a_plan_asks_nothing(self):
        start = time.monotonic()
        is_error, text = self.client.tool("explain", sql=LONG)
        self.assertFalse(is_error, text)
        self.assertIn("range", text.lower())
        self.assertLess(time.monotonic() - start, 20)

    def test_who_cancels_waits_for_no_answer(self):
        number = self.client.send("tools/call", {"name": "query", "arguments": {"sql": LONG}})
        time.sleep(0.5)
        waiting = self.client.send("tools/call", {"name": "query", "arguments": {"sql": "SELECT 1"}})
        for cancelled in (number, waiting, 12345, None):
            self.client.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}))
        start = time.monotonic()
        self.assertEqual(self.client.query("SELECT 2")["rows"], [[2]])
        self.assertLess(time.monotonic() - start, 20)


class Limits(WithServer):
    OPTIONS = ("--rows", "50", "--bytes", "2000", "--seconds", "2")

    def test_rows(self):
        answer = self.client.query("SELECT range FROM range(1000) ORDER BY range DESC")
        self.assertEqual((len(answer["rows"]), answer["rows"][0], answer["cut"]), (50, [999], "cut behind 50 rows: there are more"))
        self.assertEqual((len(self.client.query("FROM range(1000)", rows=7)["rows"]), len(self.client.query("FROM range(1000)", rows=99)["rows"])), (7, 50))
        self.assertIsNone(self.client.query("FROM range(50)")["cut"])

    def test_bytes(self):
        answer = self.client.query("SELECT repeat('é', 100) FROM range(20)")
        self.assertEqual((len(answer["rows"]), answer["cut"]), (9, "cut behind 9 rows: with the next one the answer has more than 2000 bytes"))
        self.assertEqual(self.client.query("SELECT repeat('x', 1000000)")["rows"], [])

    def test_bytes_of_a_plan(self):
        is_error, text = self.client.tool("explain", sql="FROM waits")
        self.assertFalse(is_error, text)
        plan, _, mark = text.rpartition("\n")
        self.assertEqual(mark, "cut: the plan has more than 2000 bytes")
        self.assertTrue(1996 < len(plan.encode()) <= 2000, len(plan.encode()))

    def test_time(self):
        start = time.monotonic()
        is_error, text = self.client.tool("query", sql=LONG)
        self.assertTrue(is_error and "took longer than 2 s" in text, text)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(self.client.query("SELECT 1")["rows"], [[1]])


class ReadOnly(unittest.TestCase):
    """Each try fails, and changes nothing."""

    def tries(self, out, target):
        """Questions by what they try; `target` is a folder outside of the traces."""
        inside = os.path.join(out, "written")
        return {
            "write": [f"COPY (SELECT 1) TO '{place}.csv'" for place in (target, inside)]
            + [f"EXPORT DATABASE '{place}'" for place in (target, inside)]
            + [f"EXPLAIN ANALYZE COPY (SELECT 1) TO '{inside}.csv'", f"SELECT 1; COPY (SELECT 1) TO '{inside}.csv'", f"FROM query('COPY (SELECT 1) TO ''{inside}.csv''')"]
            + [f"SELECT 1) TO '{inside}.csv' --", f"SELECT * FROM (SELECT 1) TO '{inside}.csv'"],
            "read": [f"FROM {call}('/etc/passwd')" for call in ("read_text", "read_csv", "read_blob", "read_json", "glob")]
            + ["FROM '/etc/passwd'", f"FROM read_text('{out}/../{os.path.basename(target)}.txt')", f"FROM read_csv('{target}.txt')", "SELECT getenv('HOME')"],
            "attach": [f"ATTACH '{place}.db'" for place in (target, inside)] + ["ATTACH ':memory:' AS m", "DETACH memory", "USE memory"],
            "load": ["INSTALL httpfs", "LOAD httpfs", f"LOAD '{inside}.duckdb_extension'", "FROM 'https://example.com/a.parquet'", "FROM read_parquet('s3://a/b')"],
            "configure": ["SET threads = 1", "SET enable_external_access = true", "RESET lock_configuration", "SET VARIABLE root = '/etc'", "PRAGMA enable_profiling"]
            + ["PRAGMA database_list", "CALL pragma_version()", "CREATE SECRET (TYPE s3)", "BEGIN", "COMMIT", "PREPARE q AS SELECT 1", "EXECUTE q"],
            "change": ["DROP VIEW answers", "CREATE TABLE t (a INT)", "CREATE OR REPLACE VIEW answers AS SELECT 1", "CREATE MACRO traces_folder() AS '/etc'"]
            + ["WITH x AS (CREATE TABLE t (a INT)) FROM x", "WITH x AS (INSERT INTO t VALUES (1) RETURNING *) FROM x", "CHECKPOINT", "VACUUM"],
            "variables of Python": ["FROM rows", "FROM lines", "FROM arguments", "FROM self"],
        }  # fmt: skip

    def hold(self, out, of):
        """Tries all of it on a server about `of`, a trace or the folder `out`."""
        # Beside the traces, in a folder whose name begins with that of theirs.
        target = os.path.join(f"{of}-outside", "secret")
        os.mkdir(os.path.dirname(target))
        with open(f"{target}.txt", "w", encoding="utf-8") as file:
            file.write("secret\n")
        client = Client(of)
        self.addCleanup(client.close)
        rows = client.query("SELECT count(*) FROM all_events")["rows"]
        self.assertEqual(client.query(f"SELECT count(*) FROM read_parquet('{of}/**/clock.parquet')")["rows"], [[1]])
        before = support.files_below(out), support.files_below(os.path.dirname(target))
        # A plan of it reads nothing.
        self.assertTrue(client.tool("query", sql="FROM duckdb_secrets()")[0])
        for kind, questions in self.tries(out, target).items():
            for question in questions:
                for tool in ("query", "explain"):
                    is_error, text = client.tool(tool, sql=question)
                    self.assertTrue(is_error, f"{kind}: {tool} {question}: {text}")
                    self.assertNotIn("root:", text)
        self.assertEqual((support.files_below(out), support.files_below(os.path.dirname(target))), before)
        self.assertEqual(client.query("SELECT count(*) FROM all_events")["rows"], rows)
        settings = "SELECT current_setting('enable_external_access'), current_setting('lock_configuration'), current_setting('temp_directory')"
        self.assertEqual(client.query(settings)["rows"], [[False, True, ""]])
        self.assertEqual(client.query("FROM duckdb_tables()")["rows"], [])
        self.assertEqual(client.query("SELECT DISTINCT trace FROM processes")["rows"], [["example"]])

    @unittest.skipIf(os.name == "nt", "the tries name files of Unix")
    def test_of_a_folder_of_traces_nothing_but_these_is_read(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("mcp-read-only"), "--quiet")
        self.hold(out, out)

    @unittest.skipIf(os.name == "nt", "the tries name files of Unix")
    def test_of_a_trace_no_other_is_read(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("mcp-one"), "--quiet")
        other = os.path.join(out, "trace=other")
        os.mkdir(other)
        with open(os.path.join(other, "text"), "w", encoding="utf-8") as file:
            file.write("secret\n")
        one = os.path.join(out, "trace=example")
        self.hold(out, one)
        client = Client(one)
        self.addCleanup(client.close)
        is_error, text = client.tool("query", sql=f"FROM read_text('{other}/text')")
        self.assertTrue(is_error and "secret" not in text.replace(out, ""), text)

    def test_what_changes_something_within_a_select_is_refused_by_duckdb(self):
        support.package()
        from etl2parquet import _read_only

        out = support.convert([support.EXAMPLE], support.temporary_folder("mcp-transaction"), "--quiet")
        read = _read_only.ReadOnly(out)
        read._connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        # Where DuckDB knows such a SELECT.
        with self.assertRaises(duckdb.Error) as raised:
            read.ask("WITH x AS (INSERT INTO t VALUES (2) RETURNING *) FROM x")
        self.assertRegex(str(raised.exception), "read-only mode|syntax error|SELECT")
        self.assertEqual(read.ask("FROM t").rows, ((1,),))


@unittest.skipUnless(importlib.util.find_spec("mcp"), "no public client: pip install mcp")
class PublicClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = support.convert([support.EXAMPLE], support.temporary_folder("mcp-public"), "--quiet")

    def server(self):
        from mcp.client.stdio import StdioServerParameters

        environment = {**support.environment(), "PYTHONPATH": support.package()}
        return StdioServerParameters(command=support.python(), args=["-m", "etl2parquet.mcp", self.out], env=environment)

    async def hold(self, session):
        """What the client finds."""
        tools = await session.list_tools()
        self.assertEqual([tool.name for tool in tools.tools], TOOLS)
        [resource] = (await session.list_resources()).resources
        [content] = (await session.read_resource(str(resource.uri))).contents
        self.assertEqual(json.loads(content.text)["events"]["written"], 1219)
        answer = await session.call_tool("query", {"sql": "SELECT count(*) FROM all_events"})
        self.assertEqual((answer.is_error, json.loads(answer.content[0].text)["rows"]), (False, [[1219]]))
        refused = await session.call_tool("query", {"sql": "DROP VIEW answers"})
        self.assertTrue(refused.is_error)

    def test_with_a_handshake(self):
        import anyio
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client

        async def go():
            async with stdio_client(self.server()) as streams, ClientSession(*streams) as session:
                self.assertEqual((await session.initialize()).protocol_version, "2025-11-25")
                await self.hold(session)

        anyio.run(go)

    def test_with_the_revision_in_each_request(self):
        import anyio
        from mcp import Client as Public
        from mcp.client.stdio import stdio_client

        async def go():
            async with Public(stdio_client(self.server())) as client:
                self.assertEqual(client.session.protocol_version, "2026-07-28")
                await self.hold(client)

        anyio.run(go)


if __name__ == "__main__":
    unittest.main()
