"""Reads one trace with one of the Python libraries and prints counts as JSON; called by scripts/measure/compare.

    compare_reader.py dissect.etl|etl-parser TRACE SECONDS

Counts what the library's own loop over a file yields until its end, its first error, or the limit. An event counts
as decoded when the library turned its payload into named fields. Seconds are CPU time; importing the library is not part
of it.
"""

import json
import sys
import time


class TimeLimitReached(Exception):
    pass


class Counter:
    def __init__(self, seconds):
        self.found = self.decoded = self.bytes = 0
        self.started = time.process_time()
        self.deadline = self.started + seconds

    def count(self, is_decoded):
        self.found += 1
        self.decoded += is_decoded
        if time.process_time() > self.deadline:
            raise TimeLimitReached

    def each(self, chunks, size_of):
        for chunk in chunks:
            yield chunk
            self.bytes += size_of(chunk)


def read_with_dissect(path, seconds):
    from dissect.etl.etl import ETL

    counter = Counter(seconds)

    def read():
        with open(path, "rb") as file:
            trace = ETL(file)
            for buffer in counter.each(trace.buffers(), lambda buffer: buffer.size):
                for record in buffer:
                    counter.count(is_decoded(record))

    def is_decoded(record):
        # The structure, not `event_values()`: with the cstruct of today that fails for every structure.
        try:
            return record.event._struct is not None
        except Exception:  # noqa: BLE001: whatever a payload provokes
            return False

    return counter, read


def read_with_etl_parser(path, seconds):
    from etl.etl import IEtlFileObserver, build_from_stream

    counter = Counter(seconds)

    class Observer(IEtlFileObserver):
        def on_event_record(self, event):
            counter.count(any_works(event.parse_tracelogging, event.parse_etw))

        def on_trace_record(self, event):
            counter.count(False)

        def on_perfinfo_trace(self, event):
            counter.count(any_works(event.get_mof))

        def on_system_trace(self, event):
            counter.count(any_works(event.get_mof))

        def on_win_trace(self, event):
            counter.count(any_works(event.parse_etw))

    def any_works(*parsers):
        for parse in parsers:
            try:
                parse()
                return True
            except TimeLimitReached:
                raise
            except Exception:  # noqa: BLE001: whatever a payload provokes
                continue
        return False

    def read():
        with open(path, "rb") as file:
            trace = build_from_stream(file.read())
        trace.chunks = counter.each(trace.chunks, lambda chunk: chunk.header.wnode.buffer_size)
        trace.parse(Observer())

    return counter, read


READERS = {"dissect.etl": read_with_dissect, "etl-parser": read_with_etl_parser}


def main():
    library, path, seconds = sys.argv[1:]
    counter, read = READERS[library](path, float(seconds))
    end = "whole"
    try:
        read()
    except TimeLimitReached:
        end = "time limit"
    except Exception as error:  # noqa: BLE001: what the library cannot read is a result
        end = f"{type(error).__name__}: {error}".splitlines()[0][:120]
    seconds = time.process_time() - counter.started
    result = {"found": counter.found, "decoded": counter.decoded, "bytes": counter.bytes, "seconds": seconds, "end": end}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
