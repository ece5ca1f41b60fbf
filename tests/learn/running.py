"""Run `autograder learn` as a process, and use its pages as a browser does."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import httpx
import psutil

from tests.serve.running import AUTOGRADER, free_port, until

_SECONDS = 180.0  # other tests run at the same time
_VERSION = re.compile(r'data-version="(\d+)"')


class Learning:
    """`autograder learn` of a course, to be used, stopped and started again."""

    def __init__(self, course: Path, folder: Path, *options: str) -> None:
        self.course, self.folder = course, folder
        self.options = options or ("--no-jupyter",)
        self.port = free_port()
        self.log = course.parent / "learn.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.client = httpx.Client(follow_redirects=True, timeout=_SECONDS)

    @property
    def command(self) -> list[str]:
        words = ["learn", "--folder", str(self.folder), "--port", str(self.port)]
        return [str(AUTOGRADER), *words, "--no-browser", *self.options]

    def start(self) -> None:
        """Start the command, and open the address that it prints."""
        plain = {"NO_COLOR": "1", "OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}
        self.log.write_bytes(b"")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.course, env=os.environ | plain, stdout=log, stderr=log
            )
        found = until(lambda: re.search(r"http://\S+", self.output()), _SECONDS)
        self.address, self.url = found[0], found[0].rstrip("/")
        until(self._answers, _SECONDS)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.output()
        with contextlib.suppress(httpx.TransportError):
            return self.client.get(self.address).status_code == 200
        return False

    def output(self) -> str:
        return self.log.read_text("utf-8")

    def page(self, path: str = "/") -> str:
        answer = self.client.get(self.url + path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, **form: str) -> httpx.Response:
        return self.client.post(
            self.url + path, data=form, headers={"origin": self.url.rpartition("/")[0]}
        )

    def shown(self, week: str, *texts: str) -> str:
        """Wait, as the page does, until the week's page shows all texts, and return the page."""

        def shows() -> str:
            page = self.page(f"/weeks/{week}")
            if all(text in page for text in texts):
                return page
            found = _VERSION.search(page)
            assert found is not None
            self.client.get(f"{self.url}/weeks/{week}/wait", params={"seen": found[1]})
            return ""

        return str(until(shows, _SECONDS))

    def descendants(self) -> list[psutil.Process]:
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self) -> int:
        """Stop the command as Ctrl-C does, and return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(_SECONDS)

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
