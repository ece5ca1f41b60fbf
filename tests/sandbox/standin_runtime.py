"""Replace the worker's server: run the Python source in a request and send its result.

One request on the socket, newline-terminated JSON: the source of a function body. The answer is
its result as JSON, or {"error": "TypeName: message"}.
"""

from __future__ import annotations

import json
import socket
import textwrap
from typing import Any


def prepare(config: bytes) -> None:
    """Run the configuration in the fork server, so that a test can prepare its imports."""
    exec(compile(config, "config", "exec"), globals())


def start_gpu() -> None:
    """Start no GPU; tests still inspect the preparations for its driver."""


def serve(sock: socket.socket) -> None:
    """Answer requests until the other end closes."""
    with sock.makefile("rwb") as stream:
        for line in stream:
            stream.write(json.dumps(_answer(json.loads(line))).encode() + b"\n")
            stream.flush()


def _answer(source: str) -> Any:
    space: dict[str, Any] = {}
    body = "def run():\n" + textwrap.indent(textwrap.dedent(source), "    ")
    try:
        exec(body, space)
        return space["run"]()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
