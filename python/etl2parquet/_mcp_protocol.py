"""The Model Context Protocol on standard input and output: JSON-RPC 2.0, one message a line.

Both ways to speak it are known: that of 2026-07-28, in which each request says its revision, and the older ones, which begin with
``initialize``. https://modelcontextprotocol.io/specification has them.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

#: Revisions in which each request says its revision.
STATELESS = ("2026-07-28",)
#: Revisions that begin with ``initialize``, the newest last.
WITH_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

#: A line that is longer is no question: it is answered by an error, and never kept whole.
LONGEST_LINE = 1 << 20

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_REVISION = -32022

_REVISION = "io.modelcontextprotocol/protocolVersion"


class ProtocolError(Exception):
    """Why a request has no result."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Offer(Protocol):
    """What a server offers."""

    name: str
    version: str
    instructions: str

    def tools(self) -> list[dict[str, Any]]:
        """Its tools, as the protocol describes them."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool; raises :class:`ProtocolError` for one that is not there."""

    def resources(self) -> list[dict[str, Any]]:
        """Its resources, as the protocol describes them."""

    def read(self, uri: str) -> list[dict[str, Any]]:
        """The contents of a resource; raises :class:`ProtocolError` for one that is not there."""

    def interrupt(self) -> None:
        """Ends the call that is under way, from another thread."""


@dataclass
class Server:
    """Answers the requests of one client, in their order."""

    offer: Offer
    output: IO[str]
    _waiting: queue.Queue[dict[str, Any] | None] = field(default_factory=queue.Queue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pending: set[Any] = field(default_factory=set)
    _cancelled: set[Any] = field(default_factory=set)
    _current: Any = None

    def run(self, lines: IO[str]) -> None:
        """Answers until there are no more lines. Requests wait for one another, so that a line that cancels one is read meanwhile."""
        worker = threading.Thread(target=self._work, name="requests", daemon=True)
        worker.start()
        try:
            while worker.is_alive() and (line := lines.readline(LONGEST_LINE)):
                self._take(line, lines)
        finally:
            self._waiting.put(None)
            worker.join()

    def _take(self, line: str, lines: IO[str]) -> None:
        if len(line) == LONGEST_LINE and not line.endswith("\n"):
            while (rest := lines.readline(LONGEST_LINE)) and not rest.endswith("\n"):
                pass
            self._send(_failure(None, ProtocolError(INVALID_REQUEST, f"a line has at most {LONGEST_LINE} characters")))
            return
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send(_failure(None, ProtocolError(PARSE_ERROR, "a line is no JSON")))
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._send(_failure(None, ProtocolError(INVALID_REQUEST, "a message is an object of JSON-RPC 2.0")))
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message)
        elif isinstance(message.get("method"), str) and _is_id(message.get("id")):
            with self._lock:
                self._pending.add(message["id"])
            self._waiting.put(message)
        elif "method" in message and "id" in message:
            self._send(_failure(None, ProtocolError(INVALID_REQUEST, "a request has a method and an id, which is a number or a text")))
        # Other notifications, and responses, ask for nothing.

    def _cancel(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        request = params.get("requestId") if isinstance(params, dict) else None
        if not _is_id(request):
            return
        with self._lock:
            is_pending = request in self._pending
            if is_pending:
                self._cancelled.add(request)
            is_current = is_pending and self._current == request
        if is_current:
            self.offer.interrupt()

    def _work(self) -> None:
        while (request := self._waiting.get()) is not None:
            number = request["id"]
            with self._lock:
                self._current = number
                is_cancelled = number in self._cancelled
            answer = None if is_cancelled else self._answer(request)
            with self._lock:
                self._current = None
                is_cancelled = number in self._cancelled
                self._cancelled.discard(number)
                self._pending.discard(number)
            # Who has cancelled a request waits for no answer.
            if answer is not None and not is_cancelled:
                self._send(answer)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            params = request.get("params", {})
            if not isinstance(params, dict):
                raise ProtocolError(INVALID_PARAMS, "expected an object of parameters")
            result = self._result(request["method"], params)
            return {"jsonrpc": "2.0", "id": request["id"], "result": result}
        except ProtocolError as error:
            return _failure(request["id"], error)
        except Exception as error:  # noqa: BLE001: whatever it is, the client is to hear of it, and the next request has its turn
            return _failure(request["id"], ProtocolError(INTERNAL_ERROR, f"{type(error).__name__}: {error}"))

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        meta = params.get("_meta")
        revision = meta.get(_REVISION) if isinstance(meta, dict) else None
        if revision is not None and revision not in STATELESS + WITH_HANDSHAKE:
            data = {"supported": [*STATELESS, *reversed(WITH_HANDSHAKE)], "requested": revision}
            raise ProtocolError(UNSUPPORTED_REVISION, "this revision of the protocol is not known here", data)
        methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialize,
            "server/discover": lambda _: {"supportedVersions": [*STATELESS, *reversed(WITH_HANDSHAKE)], **self._introduction()},
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": self.offer.tools()},
            "tools/call": self._call,
            "resources/list": lambda _: {"resources": self.offer.resources()},
            "resources/templates/list": lambda _: {"resourceTemplates": []},
            "resources/read": lambda params: {"contents": self.offer.read(_text(params, "uri"))},
        }
        if method not in methods:
            raise ProtocolError(METHOD_NOT_FOUND, f"there is no method {method}")
        result = methods[method](params)
        if revision in STATELESS:
            result = {"resultType": "complete", **result}
            if method != "tools/call":
                # What is said of the traces holds for as long as the server runs, for whoever started it.
                result = {"ttlMs": 0, "cacheScope": "private", **result}
        return result

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        return {"protocolVersion": asked if asked in WITH_HANDSHAKE else WITH_HANDSHAKE[-1], "serverInfo": self._info(), **self._introduction()}

    def _introduction(self) -> dict[str, Any]:
        about = {"_meta": {"io.modelcontextprotocol/serverInfo": self._info()}}
        return {"capabilities": {"tools": {}, "resources": {}}, "instructions": self.offer.instructions, **about}

    def _info(self) -> dict[str, str]:
        return {"name": self.offer.name, "version": self.offer.version}

    def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        arguments = params.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, "expected an object of arguments")
        return self.offer.call(_text(params, "name"), arguments)

    def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            self.output.write(text + "\n")
            self.output.flush()


def _is_id(number: Any) -> bool:
    return isinstance(number, (str, int)) and not isinstance(number, bool)


def _text(params: Mapping[str, Any], name: str) -> str:
    text = params.get(name)
    if not isinstance(text, str):
        raise ProtocolError(INVALID_PARAMS, f"expected a text {name}")
    return text


def _failure(request: Any, error: ProtocolError) -> dict[str, Any]:
    data = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": request, "error": {"code": error.code, "message": error.message, **data}}
