"""Clusters on loopback: a scheduler and workers as separate processes, all ended afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.model.availability import installed
from autograder.sandbox import SandboxMissing, choose

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SECRET = b"golden reports need inputs that never change"
KIT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
# One death of a worker is enough for distributed to give a submission up: grading must not.
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "NO_COLOR": "1",
    "COLUMNS": "200",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
}


@pytest.fixture(autouse=True, scope="session")
def _needs() -> None:
    if not installed("cluster"):
        pytest.skip("the extra `cluster` is not installed: pip install -e '.[cluster]'")
    try:
        choose("bubblewrap")
    except SandboxMissing as error:
        pytest.skip(str(error))


class Nodes:
    """A scheduler and its workers."""

    def __init__(self, folder: Path, tls: list[str], temporary: Path) -> None:
        folder.mkdir()
        self.folder, self._tls, self.temporary = folder, tls, temporary
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        protocol = ["--protocol", "tls"] if tls else []
        self.start("scheduler", *protocol, "--port", "0", "--scheduler-file", str(file))
        try:
            self._until(lambda: file.is_file() and file.read_text().endswith("}"))
        except BaseException:
            self.end()
            raise
        self.address = json.loads(file.read_text())["address"]

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """A worker that has joined."""
        log = self.folder / f"worker{len(self.processes)}.log"
        options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)]
        process = self.start("worker", self.address, *options, log=log, **environment)
        self._until(lambda: "Registered to" in log.read_text())
        return process

    def start(
        self, *arguments: str, log: Path | None = None, **environment: str
    ) -> subprocess.Popen[bytes]:
        command = [BIN / "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard", *self._tls]
        with (log or self.folder / "scheduler.log").open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=os.environ | SETTINGS | {"TMPDIR": str(self.temporary)} | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def _until(self, there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not there():
            assert time.monotonic() < deadline, self.logs()
            assert all(p.poll() in (None, -signal.SIGKILL) for p in self.processes), self.logs()
            time.sleep(0.05)

    def logs(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def end(self) -> None:
        """End all started processes one after the other, the scheduler last.

        A worker whose scheduler ends first may hang while it closes.
        """
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def courses_held(self) -> list[Path]:
        """Return the workers' current folders with files of a course."""
        return sorted(self.temporary.glob("*autograder-work-*"))


@pytest.fixture(scope="session")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The temporary folder of every worker, as on one machine."""
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, temporary: Path) -> Iterator[Nodes]:
    """Two workers, no TLS."""
    nodes = Nodes(tmp_path_factory.mktemp("plain") / "nodes", [], temporary)
    try:
        nodes.worker()
        yield nodes
    finally:
        nodes.end()


class Certificates:
    """An authority of the test's own, and one pair of certificate and key for all."""

    def __init__(self, folder: Path, authority: str) -> None:
        import trustme

        issuer = trustme.CA(organization_name=authority)
        pair = issuer.issue_cert("127.0.0.1", "localhost")
        self.ca, self.cert, self.key = (folder / f"{authority}-{n}.pem" for n in ("ca", "c", "k"))
        issuer.cert_pem.write_to_path(self.ca)
        pair.cert_chain_pems[0].write_to_path(self.cert)
        pair.private_key_pem.write_to_path(self.key)

    def to_dask(self) -> list[str]:
        options = ("--tls-ca-file", "--tls-cert", "--tls-key")
        return [
            str(x) for p in zip(options, (self.ca, self.cert, self.key), strict=True) for x in p
        ]

    def to_grade(self) -> list[str]:
        options = ("--tls-ca", "--tls-cert", "--tls-key")
        return [
            str(x) for p in zip(options, (self.ca, self.cert, self.key), strict=True) for x in p
        ]


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tls"), "course")


@pytest.fixture(scope="session")
def tls_cluster(
    tmp_path_factory: pytest.TempPathFactory, certificates: Certificates, temporary: Path
) -> Iterator[Nodes]:
    """A scheduler that takes none but holders of a certificate; no worker yet."""
    folder = tmp_path_factory.mktemp("tls-nodes") / "nodes"
    nodes = Nodes(folder, certificates.to_dask(), temporary)
    try:
        yield nodes
    finally:
        nodes.end()


class Class:
    """The golden course, its submissions, and `grade` as a user runs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "course"
        ignored = shutil.ignore_patterns("__pycache__", ".autograder")
        shutil.copytree(GOLDEN / "course", self.folder, ignore=ignored)
        registry = self.folder / "course.yaml"  # not a test of time
        registry.write_text(re.sub(r"_seconds: \d+", "_seconds: 100", registry.read_text()))
        (self.folder / ".autograder").mkdir(mode=0o700)
        (self.folder / ".autograder" / "secret").write_bytes(SECRET)
        self.report = folder / "report.json"
        self.handed_in = folder / "handed-in"
        self.paths: list[Path] = []

    def hand_in(self, kind: str, name: str, remark: str = "") -> None:
        path = self.handed_in / name
        shutil.copytree(GOLDEN / "submissions" / kind, path)
        if remark:
            with (path / "tiny.py").open("a", encoding="utf-8") as file:
                file.write(f"\n# {remark}\n")
        self.paths.append(path)

    def start(self, *options: str) -> subprocess.Popen[str]:
        command = [str(BIN / "autograder"), "grade", "1", *map(str, self.paths)]
        command += ["--device", "fake-gpu", "--json", str(self.report), *options]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=os.environ | SETTINGS,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def grade(self, *options: str) -> tuple[int, str]:
        """Return the exit code and the output on one line."""
        process = self.start(*options)
        said = " ".join("".join(process.communicate(timeout=300)).split())
        return process.returncode, said

    def reports(self) -> dict[str, str]:
        """By name, each report as text, timings aside."""
        found = json.loads(self.report.read_text(encoding="utf-8"))["submissions"]
        for submission in found:
            del submission["seconds"]
        return {s["name"]: json.dumps(s, indent=1, ensure_ascii=False) + "\n" for s in found}

    def stored(self) -> int:
        return len(list((self.folder / ".autograder").glob("results/*/*/*.json")))


@pytest.fixture
def handing_in(tmp_path: Path) -> Class:
    return Class(tmp_path)
