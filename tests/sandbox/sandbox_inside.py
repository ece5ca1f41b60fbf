"""Making a sandbox whose children run the code that a test hands them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.model.errors import SandboxMissing
from autograder.sandbox import Child, Template
from autograder.sandbox.choice import BACKENDS, trial

STAND_IN = Path(__file__).with_name("standin_runtime.py")
HOST_SECRET = "host-secret-8d1f"
# Registers the device that is only claimed, as the worker's runtime does before the first fork.
CONFIG = b"""
from worker.torch_support import fake_device as claimed
claimed.device()
"""

Spawn = Callable[..., Child]


def ask(child: Child, source: str) -> Any:
    """Run a function's body inside the child; return its result, or None if the child ended."""
    child.sock.settimeout(20)
    child.sock.sendall(json.dumps(source).encode() + b"\n")
    with child.sock.makefile("rb") as answers:
        line = answers.readline()
    return json.loads(line) if line else None


def start(backend: str) -> Template:
    """Start a fork server of the backend that runs `standin_runtime`."""
    return BACKENDS[backend](runtime=STAND_IN).start(CONFIG)


def start_cold(backend: str, config: bytes = b"") -> Template:
    """One without torch: it is there in a tenth of the time."""
    return BACKENDS[backend](runtime=STAND_IN, warm=()).start(config)


def require(backend: str) -> None:
    """Skip where the backend cannot work on this host."""
    try:
        trial(backend)
    except SandboxMissing as problem:
        pytest.skip(f"{backend}: {problem}")
