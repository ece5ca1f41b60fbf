"""Run the service as a process, with clients that use it."""

from __future__ import annotations

import contextlib
import csv
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

AUTOGRADER = Path(sys.executable).parent / "autograder"
JSON = {"accept": "application/json"}
_STARTING = 60.0


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def until(holds: Callable[[], Any], seconds: float = 60.0, every: float = 0.05) -> Any:
    """Wait until a function returns a true value, and return it."""
    ends = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < ends, "it took too long"
        time.sleep(every)
    return found


class Running:
    """`autograder serve` of a course, to be used, killed and started again."""

    def __init__(
        self, course: Path, *options: str, program: Path = AUTOGRADER, **environment: str
    ) -> None:
        own = () if "--nice" in options else ("--nice", "0")  # other tests run at the same time
        self.course, self.options, self.program = course, (*own, *options), program
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        plain = {"NO_COLOR": "1", "OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}
        self.environment = os.environ | plain | environment
        self.log = course.parent / "serve.log"
        self.process: subprocess.Popen[bytes] | None = None

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.course,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--port", str(self.port), *self.options],
                cwd=self.course,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until(self.answers, _STARTING)

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text("utf-8")
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/health", timeout=5).status_code == 200
        return False

    def kill(self) -> None:
        """Send SIGKILL to the service; its child processes end by themselves."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Stop the service as Ctrl-C does; return its exit code."""
        if self.process is None or self.process.poll() is not None:
            return -1
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def tokens(self, *options: str) -> dict[str, str]:
        said = self.command("serve", "--tokens", "-", *options)
        return {row["name"]: row["token"] for row in csv.DictReader(said.splitlines())}

    def enter(self, token: str) -> httpx.Client:
        """Return a client of a program that is signed in."""
        answer = httpx.post(f"{self.url}/enter", data={"token": token}, headers=JSON)
        answer.raise_for_status()
        key = {"authorization": f"Bearer {answer.json()['key']}"}
        return httpx.Client(base_url=self.url, headers=JSON | key, timeout=30)


@contextmanager
def running(service: Running) -> Iterator[Running]:
    service.start()
    try:
        yield service
    finally:
        service.stop()
        if service.process is not None and service.process.poll() is None:
            service.process.kill()


def hand_in(client: httpx.Client, week: str, files: dict[str, bytes]) -> dict[str, Any]:
    """Submit files and return the receipt as JSON."""
    sent = [("files", (name, data)) for name, data in files.items()]
    answer = client.post(f"/weeks/{week}/tries", files=sent)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def asked(client: httpx.Client, receipt: str) -> dict[str, Any] | None:
    """Return a submission as JSON, or None if too many requests were sent."""
    answer = client.get(f"/tries/{receipt}")
    if answer.status_code == 429:
        return None
    said: dict[str, Any] = answer.json()
    return said


def result(client: httpx.Client, receipt: str, seconds: float = 90.0) -> dict[str, Any]:
    """Wait for the result and return it."""

    def graded() -> dict[str, Any] | None:
        said = asked(client, receipt)
        return said if said is not None and said["state"] in ("graded", "replaced") else None

    found: dict[str, Any] = until(graded, seconds, every=0.4)
    return found


def submit(
    folder: Path, home: Path, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `autograder submit` in a week's folder with a separate home directory."""
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "80"}
    return subprocess.run(
        [AUTOGRADER, "submit", "--no-check", *options],
        cwd=folder,
        env=os.environ | {"JUPYTER_PLATFORM_DIRS": "1"} | own | environment,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
