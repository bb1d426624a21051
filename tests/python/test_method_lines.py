"""Where in the IL of its method each frame lies, of real traces: computed again from the rows of events alone."""

import bisect
import contextlib
import os
import unittest
import uuid

import duckdb

import support
import test_frame_tables
import test_symbols
from engines import duckdb_with

OWN, OTHER = uuid.UUID("95f8f6b2-afbc-45e4-884c-b4a5bf5addd2"), uuid.UUID("3304ffa1-d932-4925-a38d-fcaf4cafb624")

TRACES = ["perfview-net.4.5.2.x64.etl", "perfview-net.4.5.x86-old.etl"]
PROVIDERS = ["Microsoft-Windows-DotNETRuntime", "Microsoft-Windows-DotNETRuntimeRundown"]
CODE_WITHOUT_IL = 0xFFFFFFFD


def rows(connection, folder, columns, condition):
    """Rows of events of the run-time, in the order of the recording."""
    files = [f"'{os.path.join(folder, 'events', provider, '*.parquet')}'" for provider in PROVIDERS]
    source = f"read_parquet([{', '.join(files)}], union_by_name = true)"
    return connection.execute(f"SELECT {columns} FROM {source} WHERE {condition} ORDER BY seq").fetchall()


def maps_of_bodies(connection, folder):
    """The offsets of bodies by process and address: each event with a map is of the one body of its method, of which there is one in these traces."""
    bodies = {}
    for process, method, start in rows(connection, folder, "process_id, MethodID, MethodStartAddress", "event_name LIKE '%Verbose'"):
        bodies.setdefault((process, method), set()).add(start)
    maps = {}
    columns = "process_id, MethodID, NativeOffsets, ILOffsets"
    for process, method, native, il in rows(connection, folder, columns, "event_name LIKE '%ILToNativeMap'"):
        (start,) = bodies[process, method]
        maps.setdefault((process, start), []).append(dict_of(native, il))
    return {body: found[0] if all(one == found[0] for one in found) else None for body, found in maps.items()}


def dict_of(native, il):
    """By offset in the body the last offset in IL that is one; None of code without."""
    found = {}
    for at, of in zip(native, il, strict=True):
        if of < CODE_WITHOUT_IL or at not in found:
            found[at] = of if of < CODE_WITHOUT_IL else None
    return found


def identities(connection, folder):
    """By process and address of a body the token of its method, and GUID and age of the symbol file of the assembly."""
    modules = {}
    columns = "process_id, ModuleID, ManagedPdbSignature, ManagedPdbAge"
    for process, module, guid, age in rows(connection, folder, columns, "ManagedPdbSignature IS NOT NULL"):
        modules.setdefault((process, module), set()).add((guid, age))
    found = {}
    columns = "process_id, MethodStartAddress, MethodToken, ModuleID"
    for process, start, token, module in rows(connection, folder, columns, "event_name LIKE '%Verbose'"):
        found.setdefault((process, start), set()).add((token, module))
    result = {}
    for (process, start), of in found.items():
        ((token, module),) = of
        (pdb,) = modules.get((process, module), {(None, None)})
        result[process, start] = (token, *(pdb if pdb[0] != "00000000-0000-0000-0000-000000000000" else (None, None)))
    return result


class Corpus(unittest.TestCase):
    def test_frames_lie_where_the_events_say(self):
        corpus, with_il = support.corpus_or_skip(), 0
        for trace in TRACES:
            out = support.convert([os.path.join(corpus, trace)], support.temporary_folder("method-lines"), "--stacks", "join", "--quiet")
            done = support.run("symbols", out, "--symbol-path", "", "--lines", "--progress", "never")
            self.assertEqual(done.returncode, 0, done.stderr)
            folder = os.path.join(out, f"trace={trace.removesuffix('.etl')}")
            table = os.path.join(out, "symbols", "lines", f"{trace.removesuffix('.etl')}.parquet")
            with contextlib.closing(duckdb.connect()) as connection:
                maps, known = maps_of_bodies(connection, folder), identities(connection, folder)
                columns = "process_id, base, address, method_token, pdb_guid, pdb_age, il_offset, unknown_because, frames"
                found = connection.execute(f"SELECT {columns} FROM '{table}'").fetchall()
            self.assertGreater(len(found), 0, trace)
            for process, base, address, token, guid, age, il, why, frames in found:
                self.assertGreater(frames, 0)
                if (process, base) in known:
                    self.assertEqual((token, guid, age), known[process, base])
                of = maps.get((process, base))
                self.assertEqual(why == "no map", of is None, (process, base))
                if of is not None:
                    before = [at for at in of if at <= address - base]
                    expected = of[max(before)] if before else None
                    self.assertEqual(il, expected, (process, base, address))
                    self.assertEqual(why, "no IL" if il is None else "no identity" if guid is None else "not found")
                    with_il += il is not None
        self.assertGreater(with_il, 100)

    def test_the_view_has_the_lines_of_a_symbol_file(self):
        """That of another assembly, with the identity of the program in the trace: its methods have the same tokens."""
        corpus = support.corpus_or_skip()
        out = support.convert([os.path.join(corpus, TRACES[0])], support.temporary_folder("method-lines"), "--stacks", "join", "--quiet")
        store = support.temporary_folder("method-lines-store")
        with open(os.path.join(store, "Test.pdb"), "wb") as file:
            file.write(test_symbols.data("ClrLoader.pdb").replace(OWN.bytes_le, OTHER.bytes_le))
        done = support.run("symbols", out, "--symbol-path", store, "--lines", "--progress", "never")
        self.assertIn("of 1 symbol file of", done.stdout + done.stderr)
        lines = (line.split("\t") for line in test_symbols.data("ClrLoader.lines").decode().splitlines())
        points = sorted((int(token, 16), int(at), file, line) for token, at, file, line in lines)
        with contextlib.closing(duckdb_with(out)) as connection:
            columns = "address, method_token, il_offset, file, line, unknown_because"
            found = connection.execute(f"SELECT {columns} FROM method_lines WHERE pdb_guid = '{OTHER}'").fetchall()
            expected = {}
            for address, token, il, file, line, why in found:
                at = bisect.bisect_right(points, (token, -1 if il is None else il, "~")) - 1
                point = points[at] if il is not None and at >= 0 and points[at][0] == token and points[at][2] != "-" else None
                self.assertEqual((file, line), (point[2], int(point[3])) if point else (None, None))
                self.assertEqual(why, None if point else "no IL" if il is None else "no line")
                expected[address] = (file, line)
            known = {address: place for address, place in expected.items() if place[0]}
            self.assertGreater(len(known), 5)
            # A return address is one byte behind the call; the leaf is where it is.
            columns = "CASE WHEN depth = 0 THEN address ELSE address - 1 END, file, line"
            frames = connection.execute(f"SELECT DISTINCT {columns} FROM frames WHERE kind = 'managed' AND line IS NOT NULL").fetchall()
            self.assertEqual({address: (file, line) for address, file, line in frames}, known)
        test_frame_tables.check(self, out, store)


if __name__ == "__main__":
    unittest.main()
