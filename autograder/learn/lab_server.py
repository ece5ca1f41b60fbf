"""Run JupyterLab in the learner's folder, in a child process that ends with this process.

JupyterLab listens on 127.0.0.1, checks Host and Origin, and needs the learner's key as its token.
Its settings are in the state folder, so other settings of Jupyter neither apply nor change.
"""

import asyncio
import contextlib
import json
import os
import runpy
import socket
import sys
import tomllib
from pathlib import Path

from ..files import write_files
from ..model.errors import KitError
from ..serve.grading_process import ChildProcess
from ..serve.request_limits import listening
from .learner_record import LearnerFolder

HOST = "127.0.0.1"
_START_SECONDS = 60.0
_SETTINGS = tomllib.loads(Path(__file__).with_name("lab_settings.toml").read_text("utf-8"))


class LabServer:
    """JupyterLab for the learner's folder. `port`: the port to use if it is free."""

    def __init__(self, learner: LearnerFolder, port: int) -> None:
        self._learner, self._port = learner, port
        self._process = ChildProcess("JupyterLab", niceness=0)
        self._running: asyncio.Future[None] | None = None

    def start(self) -> None:
        """Start the server unless it is running, without waiting until it answers."""
        if self._running is None or self._running.done():
            try:
                trial = listening(HOST, self._port)
            except KitError:
                trial = listening(HOST, 0)
            with trial:
                self._port = trial.getsockname()[1]
            learner = self._learner
            call = self._process.call(_serve, learner.path, learner.state, self._port, learner.key)
            self._running = asyncio.ensure_future(call)

    async def address(self, path: str) -> str:
        """Return the URL that opens a file, once the server answers; start it if it has ended.

        Raise KitError if it cannot be started.
        """
        self.start()
        for _ in range(int(_START_SECONDS / 0.1)):
            with contextlib.suppress(OSError), socket.create_connection((HOST, self._port), 1):
                return f"http://{HOST}:{self._port}/lab/tree/{path}?token={self._learner.key}"
            if self._running is None or self._running.done():
                break
            await asyncio.sleep(0.1)
        raise KitError(
            f"JupyterLab could not be started: {self._learner.state / 'jupyter' / 'log'} contains "
            "the reason. You can also open the folder in an editor"
        )

    async def stop(self) -> None:
        """End the server. Its kernels end, too, because they watch it."""
        self._process.end()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)


def _serve(root: Path, state: Path, port: int, token: str) -> None:
    """Run JupyterLab. This runs in the child process."""
    folder = state / "jupyter"
    write_files(folder / "config", {n: json.dumps(s).encode() for n, s in _SETTINGS.items()})
    with (folder / "log").open("wb") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    folders = {f"JUPYTER_{k.upper()}_DIR": str(folder / k) for k in ("config", "data", "runtime")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ |= folders | {"JUPYTER_TOKEN": token, "PATH": path}
    os.chdir(root)
    sys.argv = ["jupyter-lab", f"--ip={HOST}", f"--port={port}", "--ServerApp.port_retries=0"]
    runpy.run_module("jupyterlab", run_name="__main__")
