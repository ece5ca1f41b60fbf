"""Run JupyterLab in the learner's folder, as a child process that never outlives this process.

The child reads its standard input and ends when it is closed, even if this process is killed.
JupyterLab listens on 127.0.0.1, checks Host and Origin, and needs a random token, which the links
of the site contain. Settings, open tabs and running servers are stored in the state folder, so the
learner's other Jupyter settings neither apply nor change.
"""

import contextlib
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

from ..files import write_files
from ..model.errors import KitError
from .learner_record import LearnerFolder

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
# without nbgrader's menus, and without a question about news
_SETTINGS = {
    "labconfig/page_config.json": {"disabledExtensions": {"@jupyter/nbgrader": True}},
    "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false"
    },
}
_NBGRADER = ("formgrader", "validate_assignment", "assignment_list", "course_list")


class LabServer:
    """JupyterLab for the learner's folder. `port`: the first port to try."""

    def __init__(self, learner: LearnerFolder, port: int) -> None:
        self._learner, self._port = learner, port
        self._token = learner.secret("jupyter-token")
        self._settings = learner.state / "jupyter"
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the server unless it is running, without waiting until it answers."""
        if self._process is not None and self._process.poll() is None:
            return
        runtime, config = self._settings / "runtime", self._settings / "config"
        runtime.mkdir(parents=True, exist_ok=True)
        for old in runtime.glob("jpserver-*"):
            old.unlink()
        settings = {name: json.dumps(content).encode() for name, content in _SETTINGS.items()}
        write_files(config, settings)
        off = {f"nbgrader.server_extensions.{name}": False for name in _NBGRADER}
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self._port,
            "ServerApp.open_browser": False,
            "ServerApp.root_dir": self._learner.path,
            "ServerApp.jpserver_extensions": off,
            "ServerApp.allow_root": True,
            "LabApp.news_url": None,
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        }
        environment = {
            "JUPYTER_TOKEN": self._token,
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(self._settings / "data"),
            "JUPYTER_RUNTIME_DIR": str(runtime),
            "JUPYTER_PLATFORM_DIRS": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        }
        with (self._settings / "jupyter.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, *(f"--{n}={v}" for n, v in options.items())],
                cwd=self._learner.path,
                env=os.environ | environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is handled by this process
            )

    def address(self, path: str) -> str:
        """Return the URL that opens a file in JupyterLab, once the server answers.

        Start the server if it has ended. Raise KitError if it cannot be started.
        """
        with self._lock:
            self.start()
            end = time.monotonic() + _START_SECONDS
            while time.monotonic() < end and self._process and self._process.poll() is None:
                for file in (self._settings / "runtime").glob("jpserver-*.json"):
                    with contextlib.suppress(OSError, ValueError, KeyError):
                        base = json.loads(file.read_text(encoding="utf-8"))["url"]
                        return f"{base}lab/tree/{quote(path)}?token={self._token}"
                time.sleep(0.1)
        raise KitError(
            f"JupyterLab could not be started: {self._settings / 'jupyter.log'} contains the "
            "reason. You can also open the folder in an editor"
        )

    def stop(self) -> None:
        """End the server and its kernels."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# In the child process


def main() -> None:
    """Run JupyterLab until standard input is closed."""

    def watch() -> None:
        sys.stdin.buffer.read()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    runpy.run_module("jupyterlab", run_name="__main__")


if __name__ == "__main__":
    main()
