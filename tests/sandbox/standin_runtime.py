"""Stands in for the worker's runtime: runs the Python it is sent and answers what it gives.

One request on the socket, newline-terminated JSON: the source of a function body. The answer is
its result as JSON, or {"error": "TypeName: message"}.
"""

from __future__ import annotations

import json
import socket
import textwrap
from typing import Any


def prepare(config: bytes) -> None:
    """The template's part: run the config, so that a test can warm up what it needs."""
    exec(compile(config, "config", "exec"), globals())


def start_gpu() -> None:
    """There is none; all that is made ready for its driver is looked at all the same."""


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
